// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// The items of each mode of a loop at one instant of a recording.
struct ItemPage: Sendable, Equatable {
    /// In nanoseconds of the loop's monotonic clock.
    var time: Int64
    var items: [LoopItem]
    /// Signalled sources and blocks that the sleeping loop leaves waiting.
    var unserved: [LoopItem]
}

/// Keeps what was in which mode of one loop while it was recorded, and in which modes it was run.
///
/// The events say what was done, and therefore nothing of an item that nothing is done with. So the loop is looked into
/// when runs begin and end and before it sleeps, never so often that looking would take more than a hundredth of the
/// time.
// Unchecked: what is not guarded by the lock belongs to the loop's thread, or never changes.
final class ItemBook: @unchecked Sendable {
    /// More changes than these are not kept; of the changes that follow, only the latest is kept.
    private static let mostPages = 64
    /// How often the loop is looked into before it sleeps, at most.
    private static let betweenSleeps: Int64 = 100_000_000

    // Weak: a recording does not keep the loops of threads that have ended.
    private weak let loop: RunLoop?
    private let state: LoopState

    // The loop's thread.
    @exclusivity(unchecked) private var notBefore = Int64.min
    @exclusivity(unchecked) private var lastLook: Int64

    private let lock = Lock()
    // Guarded by the lock.
    @exclusivity(unchecked) private var pages: [ItemPage] = []
    @exclusivity(unchecked) private var modesRun: [RunLoop.Mode] = []

    /// - Parameter modes: The modes of the runs that are under way.
    init(_ loop: RunLoop, _ state: LoopState, running modes: [RunLoop.Mode]) {
        self.loop = loop
        self.state = state
        lastLook = state.now
        for mode in modes where !modesRun.contains(mode) { modesRun.append(mode) }
        look(at: lastLook)
    }

    // MARK: The loop's thread

    func runBegins(_ mode: RunLoop.Mode, at time: Int64) {
        lock.withLock { if !modesRun.contains(mode) { modesRun.append(mode) } }
        lookIfDue(at: time)
    }

    func sleeps(at time: Int64) {
        if time - lastLook >= Self.betweenSleeps { lookIfDue(at: time) }
    }

    func lookIfDue(at time: Int64) {
        guard time >= notBefore else { return }
        lastLook = time
        look(at: time)
        let end = state.now
        notBefore = end + (end - time) * 100
    }

    private func look(at time: Int64) {
        guard let seen = loop?.itemsInModes() else { return }
        lock.withLock {
            if let last = pages.last, last.items == seen.items, last.unserved == seen.unserved { return }
            if pages.count == Self.mostPages { pages.removeLast() }
            pages.append(ItemPage(time: time, items: seen.items, unserved: seen.unserved))
        }
    }

    /// The items that are known so far, with one more look into the loop.
    ///
    /// Any thread. The last page shows the present time, or the last look before the thread's end.
    func read() -> (modesRun: [RunLoop.Mode], pages: [ItemPage]) {
        let now = state.now
        let seen = loop?.itemsInModes()
        return lock.withLock {
            var last = seen.map { ItemPage(time: now, items: $0.items, unserved: $0.unserved) } ?? pages.last
            last?.time = now
            return (modesRun, pages + (last.map { [$0] } ?? []))
        }
    }
}
