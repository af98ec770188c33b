// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// What one loop does just now, and how much it has done: written by its thread, read by any at any time, also while a
/// callout hangs.
// Unchecked: what is not atomic belongs to the loop's thread.
final class LoopStatus: LoopListener, @unchecked Sendable {
    /// What the loop's thread is about.
    enum Activity: UInt64, Sendable {
        /// No run is in progress: the thread does something else.
        case outside
        /// In a run, and not asleep.
        case busy
        /// Asleep in a run.
        case asleep
    }

    /// One callout under way.
    struct Callout: Sendable {
        var callee: RunLoop.Trace.Event.Callee
        var label: ItemLabel?
        /// Nanoseconds of the loop's monotonic clock.
        var since: Int64
    }

    /// What was there at one instant.
    struct Snapshot: Sendable {
        var activity = Activity.outside
        /// Since when, in nanoseconds of the loop's monotonic clock: since the thread woke up or the outermost run
        /// began, since it fell asleep, since the last run ended.
        var since: Int64 = 0
        /// When the present turn began; of no meaning outside a run.
        var turnSince: Int64 = 0
        /// How many runs are in progress, one inside the other.
        var depth = 0
        /// The callouts under way, outermost first; those beyond the eighth are not known.
        var callouts: [Callout] = []
        /// Turns, so far.
        var turns: UInt64 = 0
        /// Callouts begun, so far.
        var calloutCount: UInt64 = 0
        /// Sleeps that were ended by each cause, so far.
        var wakings: [UInt64] = []
        /// Nanoseconds asleep in all sleeps that have ended.
        var slept: Int64 = 0
    }

    private enum Field: Int, CaseIterable {
        case activity, since, turnSince, depth, open, turns, callouts, slept
    }

    private static let causes = 5
    private static let mostOpen = 8
    private static let wordsACallout = 4
    private static let wakingsAt = Field.allCases.count
    private static let calloutsAt = wakingsAt + causes
    private static let wordCount = calloutsAt + mostOpen * wordsACallout

    let thread: Int32
    let isMain: Bool
    /// Odd while the words are being written.
    private let version = Atomic<UInt64>(0)
    // SAFETY: `wordCount` words, zero at first, given back in deinit.
    private let words: UnsafeMutablePointer<Atomic<UInt64>>

    // The loop's thread.
    @exclusivity(unchecked) private var labels = LabelKeeper()

    init(_ loop: RunLoop) {
        thread = loop.threadID
        isMain = loop.threadID == SystemCalls.mainThreadID
        words = .allocate(capacity: Self.wordCount)
        for index in 0..<Self.wordCount { (words + index).initialize(to: Atomic(0)) }
        set(.since, UInt64(bitPattern: loop.kernel.now(.monotonic)))
    }

    deinit { words.deallocate() }

    // MARK: Writing: the loop's thread

    func hear(_ event: LoopEvent, at time: Int64, depth: UInt16) {
        // What has nothing to note leaves readers alone.
        if case .wanted = event { return }
        let number = version.load(ordering: .relaxed)
        version.store(number &+ 1, ordering: .relaxed)
        // The odd number before the words: partner of the fence in snapshot().
        atomicMemoryFence(ordering: .releasing)
        note(event, UInt64(bitPattern: time), depth)
        version.store(number &+ 2, ordering: .releasing)
    }

    private func note(_ event: LoopEvent, _ time: UInt64, _ depth: UInt16) {
        switch event {
        case .runBegins:
            set(.depth, UInt64(depth))
            // A nested run goes on with what its callout has begun.
            if get(.activity) != Activity.busy.rawValue { enter(.busy, time) }
        case .passes(let activity):
            guard activity == .beforeTimers else { return }
            set(.turns, get(.turns) &+ 1)
            set(.turnSince, time)
        case .calls(let callee, let label): open(callee, label, time)
        case .wanted: break
        case .returns:
            let open = get(.open)
            if open > 0 { set(.open, open - 1) }
        case .sleeps: enter(.asleep, time)
        case .wakes(let waking):
            let index = Self.wakingsAt + Int(waking.cause.rawValue)
            words[index].store(words[index].load(ordering: .relaxed) &+ 1, ordering: .relaxed)
            set(.slept, get(.slept) &+ (time &- UInt64(bitPattern: waking.asleepSince)))
            enter(.busy, time)
        case .runEnds:
            set(.depth, UInt64(depth) - min(UInt64(depth), 1))
            if depth <= 1 { enter(.outside, time) }
        }
    }

    private func enter(_ activity: Activity, _ time: UInt64) {
        set(.activity, activity.rawValue)
        set(.since, time)
    }

    private func open(_ callee: LoopEvent.Callee, _ label: ItemLabel, _ time: UInt64) {
        let index = Int(get(.open))
        set(.open, UInt64(index + 1))
        set(.callouts, get(.callouts) &+ 1)
        guard index < Self.mostOpen else { return }
        let entry = words + Self.calloutsAt + index * Self.wordsACallout
        let (text, line) = labels.keep(label)
        entry[0].store(UInt64(RunLoop.Trace.Event.Callee(callee).rawValue), ordering: .relaxed)
        entry[1].store(text, ordering: .relaxed)
        entry[2].store(line, ordering: .relaxed)
        entry[3].store(time, ordering: .relaxed)
    }

    /// The innermost callout as it was noted, for listeners that hear of its return; `nil` beyond the eighth.
    ///
    /// The loop's thread, before it notes the return.
    var innermost: (callee: UInt64, label: UInt64, line: UInt64, since: Int64)? {
        let open = Int(get(.open))
        guard open > 0, open <= Self.mostOpen else { return nil }
        let entry = words + Self.calloutsAt + (open - 1) * Self.wordsACallout
        return (
            entry[0].load(ordering: .relaxed), entry[1].load(ordering: .relaxed), entry[2].load(ordering: .relaxed),
            Int64(bitPattern: entry[3].load(ordering: .relaxed))
        )
    }

    @inline(__always)
    private func get(_ field: Field) -> UInt64 { words[field.rawValue].load(ordering: .relaxed) }

    @inline(__always)
    private func set(_ field: Field, _ value: UInt64) { words[field.rawValue].store(value, ordering: .relaxed) }

    // MARK: Reading: any thread

    /// What is there now.
    ///
    /// Takes as long as the loop's thread needs to be done with writing a few words; no lock is involved.
    func snapshot() -> Snapshot {
        while true {
            let number = version.load(ordering: .acquiring)
            if number & 1 == 0 {
                let copy = (0..<Self.wordCount).map { words[$0].load(ordering: .relaxed) }
                // A word of a later state seen above means that its odd number is seen below.
                atomicMemoryFence(ordering: .acquiring)
                if version.load(ordering: .relaxed) == number { return Self.snapshot(copy) }
            }
            // The writer may have lost its processor in the middle.
            sched_yield()
        }
    }

    private static func snapshot(_ words: [UInt64]) -> Snapshot {
        func field(_ field: Field) -> UInt64 { words[field.rawValue] }
        let open = min(Int(field(.open)), mostOpen)
        return Snapshot(
            activity: Activity(rawValue: field(.activity)) ?? .outside,
            since: Int64(bitPattern: field(.since)),
            turnSince: Int64(bitPattern: field(.turnSince)),
            depth: Int(field(.depth)),
            callouts: (0..<open).map { index in
                let entry = calloutsAt + index * wordsACallout
                return Callout(
                    callee: RunLoop.Trace.Event.Callee(rawValue: UInt8(truncatingIfNeeded: words[entry])) ?? .block,
                    label: LabelKeeper.label(words[entry + 1], words[entry + 2]),
                    since: Int64(bitPattern: words[entry + 3]))
            },
            turns: field(.turns),
            calloutCount: field(.callouts),
            wakings: Array(words[wakingsAt..<wakingsAt + causes]),
            slept: Int64(bitPattern: field(.slept)))
    }
}
