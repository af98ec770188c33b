// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import Synchronization

/// The state of a loop that its lock guards: modes and their tables, timers, runs in progress, the sleep, the guest.
///
/// The lock is the type: ``LoopMemory/withState(_:)`` and ``ItemOwner/withLock(_:)`` take the lock, and nothing else has
/// the state. The timers and observers of the loop, which are objects, are guarded by the same lock. A source's own
/// lock may be taken inside, not the other way round.
struct GuardedState: ~Copyable {
    private let passedByAddress = PassedByAddress()
    private let corePointer: UnsafePointer<LoopCore>
    /// The loop's lock, whose address is the name of the loop for its items.
    let lock: LoopLock.Pointer
    /// The parts of the loop that need no lock.
    var core: LoopCore {
        // SAFETY: the loop frees both together.
        unsafeAddress { corePointer }
    }

    /// The modes by number, in the order in which they were made, the default mode first.
    var modes = Numbered<ModeState>()
    /// Names of modes, in the order in which they were marked; a mode need not exist yet to be marked.
    private(set) var commonModeNames: [RunLoop.Mode] = [.default]
    var commonItems = ItemSet<RunLoop.Item>()
    /// The buckets by number.
    ///
    /// An empty bucket of several modes is used again for other modes. When there can be no more buckets, any empty
    /// bucket is used again.
    var buckets = Numbered<TimerBucket>()
    /// The maximum number of buckets; tests set a lower one.
    var maxTimerBuckets = BucketNumber.maxCount
    /// Incremented for each timer that is added to a queue.
    var timerSequence: UInt32 = 0
    /// Timers whose callouts are under way, innermost last.
    // Unmanaged, like the next: the loop keeps a timer during its callout, and the last reference must not be released with
    // the lock held.
    var firingTimers: [Unmanaged<RunLoop.Timer>] = []
    /// Timers that were added to this loop during a callout of theirs on another loop's thread, while that callout
    /// is under way.
    var timersFiringElsewhere: [Unmanaged<RunLoop.Timer>] = []
    /// The due timers of all calls of ``RunLoop/fireTimers(_:)`` that are under way.
    var dueList = DueList<RunLoop.Timer>()
    /// The mode and the limit of the sleep; valid while the wake word says that the thread sleeps or is about to.
    var sleep = Sleep()
    /// The blocks that were posted without a wake-up and have not run, for recorders; usually none.
    var quietBlocks: [QuietBlock] = []
    /// The runs in progress, innermost last.
    var runs: [RunInProgress] = []
    var runsBegun: UInt64 = 0
    /// Whether the thread has ended.
    private(set) var isDead = false
    private var timesAtEnd: (run: Int64, sleep: Int64)?
    /// The wait of the host, if a host waits for the loop; usually `nil`.
    var hosted: HostedWait?
    /// The loop itself, for a source that is added, and for code that runs on the loop's thread on behalf of another thread.
    ///
    /// The reference is unmanaged; `nil` for a state without a loop, in tests. Do not retain the loop with the lock held
    /// unless the caller has a reference: the last reference must not be released then.
    var loop: Unmanaged<RunLoop>?
    /// Objects that other libraries attach to the loop, such as its counterpart in Foundation's names; usually
    /// none.
    var companions: [any LoopCompanion] = []

    init(_ core: UnsafePointer<LoopCore>, _ lock: LoopLock.Pointer) {
        corePointer = core
        self.lock = lock
        let mode = LoopMode(.default, number: 0, readiness: core.pointee.kernel.makeReadiness())
        mode.markCommon()
        modes.append(ModeState(mode))
    }

    /// The processor time that the thread has used since the loop was made, and the rest of the time, in nanoseconds;
    /// until the end of the thread.
    var threadTimes: (run: Int64, sleep: Int64) { timesAtEnd ?? core.threadTimes() }

    // MARK: Modes

    /// The number of the default mode.
    static var defaultMode: Int { 0 }

    /// The number of a mode.
    func existingMode(_ mode: RunLoop.Mode) -> Int? { mode == .default ? Self.defaultMode : namedMode(mode) }

    private func namedMode(_ name: RunLoop.Mode) -> Int? {
        // A loop has few modes: looking through them costs less than hashing one.
        modes.first { $0.mode.name == name }
    }

    mutating func makeMode(_ mode: RunLoop.Mode) -> Int { existingMode(mode) ?? addMode(mode) }

    private mutating func addMode(_ name: RunLoop.Mode) -> Int {
        let mode = LoopMode(name, number: modes.count, readiness: reserved(for: name) ?? core.kernel.makeReadiness())
        if commonModeNames.contains(name) { mode.markCommon() }
        return modes.append(ModeState(mode))
    }

    /// The readiness of modes of the main loop that were marked as common before they existed; usually none.
    ///
    /// Marking a mode does not make it: a run in it finishes until it has had an item, as a run of `CFRunLoop` does.
    private var reserved: [(name: RunLoop.Mode, readiness: any Readiness)] = []

    /// Makes what a mode needs to wait for the main queue, so that no run in it can be refused that.
    mutating func reserveReadiness(for name: RunLoop.Mode) throws(RunLoop.SystemCallError) {
        if let number = existingMode(name) { return try modes[number].mode.readiness.reserve() }
        let readiness = core.kernel.makeReadiness()
        try readiness.reserve()
        reserved.append((name, readiness))
    }

    private func reserved(for name: RunLoop.Mode) -> (any Readiness)? {
        reserved.first { $0.name == name }?.readiness
    }

    /// The modes for which `condition` holds, in the order in which they were made.
    func modes(where condition: (borrowing ModeState) -> Bool = { _ in true }) -> [LoopMode] {
        var found: [LoopMode] = []
        for number in 0..<modes.count where condition(modes[number]) { found.append(modes[number].mode) }
        return found
    }

    /// Removes modes that were made since there were `count` of them, for an item that the system has refused.
    ///
    /// Called within the access that has made them, so that no thread has seen the modes.
    mutating func removeModes(madeAfter count: Int) {
        while modes.count > count {
            let mode = modes[modes.count - 1].mode
            if reserved(for: mode.name) == nil { mode.readiness.close() }
            modes.removeLast()
        }
    }

    /// Whether a mode is marked, or cannot be marked any more because the thread has ended.
    func isCommon(_ mode: RunLoop.Mode) -> Bool { commonModeNames.contains(mode) || isDead }

    mutating func markCommon(_ mode: RunLoop.Mode) {
        commonModeNames.append(mode)
        if let number = existingMode(mode) { modes[number].mode.markCommon() }
        modeBecameCommon()
    }

    // MARK: Buckets

    /// Makes the bucket of timers that are in these modes and count on this clock.
    ///
    /// An empty bucket of several modes is used again: otherwise each set of modes that a timer was ever in would
    /// leave a bucket that its modes look at in every turn.
    mutating func addBucket(_ clock: RunLoop.ClockID, _ newModes: [Int]) -> BucketNumber {
        let isFull = buckets.count >= maxTimerBuckets
        let number: BucketNumber
        if isFull || newModes.count > 1,
            let unused = buckets.first(where: {
                $0.isEmpty && (isFull || $0.hasSeveralModes && $0.clock == clock)
            })
        {
            number = BucketNumber(index: unused)
            for mode in buckets[number].modes { modes[mode].remove(number) }
            buckets[number].reuse(clock, newModes)
        } else {
            require(
                !isFull,
                "Timers of one loop are in \(buckets.count) different sets of modes at the same time: use fewer modes."
            )
            number = BucketNumber(index: buckets.count)
            buckets.append(TimerBucket(number: number, clock: clock, modes: newModes))
        }
        for mode in newModes { modes[mode].add(number, isSole: newModes.count == 1 && clock == .monotonic) }
        return number
    }

    // MARK: The end

    struct Waste {
        var sources: [(RunLoop.Source, RunLoop.Mode)] = []
        var items: [RunLoop.Item] = []
        var closures: [() -> Void] = []
    }

    /// Empties all modes; returns the sources whose cancel closures the caller has to call, and everything that has
    /// to be released without the lock.
    mutating func takeEverythingOut() -> Waste {
        timesAtEnd = threadTimes
        isDead = true
        putListedBack()
        for mode in reserved { mode.readiness.close() }
        reserved = []
        var waste = Waste()
        waste.items = commonItems.all + dueList.takeAll()
        commonItems = ItemSet()
        for mode in 0..<modes.count {
            waste.sources += modes[mode].sources.map { ($0, modes[mode].mode.name) }
            let items =
                modes[mode].sources + modes[mode].observers + modes[mode].descriptors.sources as [RunLoop.Item]
            waste.items += items
            for item in items { leave(item, mode) }
            modes[mode].mode.signals.close()
            modes[mode].mode.readiness.close()
        }
        // Also the timers whose callouts are under way: a thread can end inside a callout, and before another's callout.
        var timers = (firingTimers + timersFiringElsewhere).map { $0.takeUnretainedValue() }
        timers.removeAll { !$0.owner.isHeld(by: lock) }
        for index in 0..<buckets.count {
            let bucket = BucketNumber(index: index)
            buckets[bucket].queue.visit(dueList) { _, timer, _ in if let timer { timers.append(timer) } }
            let closures = buckets[bucket].queue.removeAllDelayed()
            count(-closures.count, in: bucket)
            waste.closures += closures
        }
        waste.items += timers
        for timer in timers { takeOut(timer) }
        return waste
    }
}

/// The parts of a run in progress that other threads read.
struct RunInProgress {
    let number: UInt64
    let mode: LoopMode
    /// Whether the run was stopped while another run was nested in it.
    var isStopped = false
}

/// The mode and the limit of a sleeping thread; another thread that adds an earlier timer reads them, and makes the
/// sleeping thread look again.
///
/// Valid only while the wake word says that the thread sleeps, or is about to.
struct Sleep {
    /// The number of the mode that the thread sleeps in.
    var mode: Int?
    /// The limit of the sleep.
    var limit = WaitLimit.forever
}

/// The descriptor that a host waits for, and the mode in which the loop waits, for threads that change what it waits for.
struct HostedWait {
    let set: any GuestDescriptor
    /// The mode of the last run.
    var mode: LoopMode
}

/// An object that another library attaches to a loop, such as the loop's counterpart in Foundation's names.
package protocol LoopCompanion: AnyObject {
    /// Called when the loop has been torn down: it has no items, and accepts none.
    func threadHasEnded()
}
