// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoopsLibC

/// An item of a loop at one instant, for tools that look for items that are never served.
package struct LoopItem: Sendable, Equatable {
    /// The kind of the item.
    package var kind: LoopEvent.Callee
    /// The item's label, or the line that made it.
    package var label: String
    /// The modes that the item is in, in the order in which they were made.
    package var modes: [RunLoop.Mode] = []
    /// Whether it was added to the common modes.
    package var isCommon = false
    /// Whether the descriptor of a descriptor source was closed while the source is in the loop; its number may be another
    /// file's since.
    package var isClosed = false
    /// The time on the monotonic clock at which an unserved item became ready.
    package var since: Int64 = 0
}

extension RunLoop {
    /// Loops with more timers than this are not inspected: the lock would be held for too long.
    fileprivate static var maxTimers: Int { 4096 }

    /// Returns the items in modes, and the unserved items; `nil` after the thread's end, and for a loop with more than
    /// 4,096 timers.
    ///
    /// Unserved items are signalled sources, and blocks posted without a wake-up, if the loop sleeps in one of their
    /// modes and no wake-up is on its way. Any thread.
    /// - Complexity: O(n) in the items.
    package func itemsInModes() -> (items: [LoopItem], unserved: [LoopItem])? {
        guard let found = withState({ $0.findItems() }) else { return nil }
        // The labels are turned into strings after the lock is released.
        let items = found.all.map { item in
            LoopItem(
                kind: item.kind, label: item.label.text, modes: item.modes, isCommon: item.isCommon,
                isClosed: item.isClosed)
        }
        let unserved = found.asleep.compactMap { source in
            LoopWait.began(signal: source.signalNumber).map { LoopItem(kind: .source, label: source.label, since: $0) }
        }
        let blocks = found.quiet.map { LoopItem(kind: .block, label: $0.label.text, since: $0.since) }
        return (items, unserved + blocks)
    }

    /// The number of blocks posted by other threads and of signalled sources that the loop has not served yet.
    ///
    /// Any thread.
    /// - Complexity: O(n) in the sources.
    package var pendingCount: Int {
        withState { state in
            var signalled = Set<ObjectIdentifier>()
            for mode in 0..<state.modes.count {
                for source in state.modes[mode].sources where source.isSignalled {
                    signalled.insert(ObjectIdentifier(source))
                }
            }
            return signalled.count + blocks.incomingCount
        }
    }

    /// How long a timer has been due while ``pollDescriptor`` was readable and the host has not called
    /// ``runReady(in:servingMainQueue:)``, in nanoseconds; `nil` if that is not so.
    ///
    /// Any thread.
    package var hostOverdue: Int64? {
        withState { state in
            guard !state.isDead, state.runs.isEmpty, let guest = state.hosted,
                let date = state.nextTimer(in: guest.mode.name),
                LinuxCalls.shared.poll(guest.set.descriptor, events: Int16(POLLIN)) > 0
            else { return nil }
            return now(date.clock).clampedSubtracting(date.nanoseconds)
        }
    }

    /// Whether the loop's thread has ended, and the loop is torn down.
    package var isEnded: Bool { isDead }

    fileprivate struct FoundItems {
        struct One {
            let kind: LoopEvent.Callee
            let label: ItemLabel
            var modes: [Mode]
            let isCommon: Bool
            let isClosed: Bool
        }

        var all: [One] = []
        private var indices: [ObjectIdentifier: Int] = [:]
        /// The sources of the mode in which the thread sleeps; empty if the thread is awake or a wake-up is on its way.
        var asleep: [Source] = []
        /// The blocks that were posted without a wake-up, and that a run in this mode would run.
        var quiet: [QuietBlock] = []

        mutating func add(_ item: Item, _ mode: Mode, isCommon: Bool, isClosed: Bool = false) {
            if let index = indices[ObjectIdentifier(item)] { return all[index].modes.append(mode) }
            indices[ObjectIdentifier(item)] = all.count
            all.append(
                One(kind: item.kind, label: item.labelStorage, modes: [mode], isCommon: isCommon, isClosed: isClosed))
        }

        mutating func add(delayed label: ItemLabel, _ mode: Mode) {
            all.append(One(kind: .timer, label: label, modes: [mode], isCommon: false, isClosed: false))
        }
    }
}

extension GuardedState {
    /// Finds every item with its modes; `nil` after the thread's end, and if there are too many timers.
    fileprivate mutating func findItems() -> RunLoop.FoundItems? {
        var timers = 0
        for bucket in 0..<buckets.count { timers += buckets[bucket].queue.count }
        if isDead || timers > RunLoop.maxTimers { return nil }
        var found = RunLoop.FoundItems()
        for number in 0..<modes.count {
            let mode = modes[number].mode.name
            // Here with the lock: a source that is invalidated before its descriptor is closed has left the mode.
            let lost = core.kernel is EpollKernel ? modes[number].descriptors.lostSources : []
            for source in modes[number].descriptors.sources {
                found.add(
                    source, mode, isCommon: commonItems.contains(source), isClosed: lost.contains { $0 === source })
            }
            let others = modes[number].sources + modes[number].observers + firingTimers(in: number) as [RunLoop.Item]
            for item in others { found.add(item, mode, isCommon: commonItems.contains(item)) }
            visitTimers(in: number) { _, _, timer, label in
                if let timer { found.add(timer, mode, isCommon: commonItems.contains(timer)) }
                if let label { found.add(delayed: label, mode) }
            }
        }
        if core.wakeWord.phase.isAsleep, core.wakeWord.wakeUp == nil, let number = sleep.mode {
            let mode = modes[number].mode
            found.asleep = modes[number].sources
            found.quiet = quietBlocks.filter { $0.modes.includes(mode.name, isCommon: mode.isCommon) }
        }
        return found
    }
}

/// A block that was posted with `wake: false` while a recorder was at work, and has not run.
struct QuietBlock {
    /// The maximum number of blocks that are recorded; later blocks are left out.
    static let maxCount = 64

    let number: UInt64
    let label: ItemLabel
    let modes: BlockModes
    let since: Int64

    init(number: UInt64, _ block: borrowing Block, since: Int64) {
        self.number = number
        label = block.label
        modes = block.modes
        self.since = since
    }
}
