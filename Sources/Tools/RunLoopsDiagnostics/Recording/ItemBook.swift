// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// The items of each mode of a loop at one instant of a recording.
struct ItemPage: Sendable, Equatable {
    /// The time of the page, in nanoseconds of the loop's monotonic clock.
    var time: Int64
    var items: [LoopItem]
    /// The signalled sources and blocks that wait while the loop sleeps.
    var unserved: [LoopItem]
}

/// Records the items in each mode of one loop, and the modes in which the loop was run.
///
/// Events do not mention an item that is never used. Therefore the book reads the loop's items when runs begin and end
/// and before the loop sleeps, but so rarely that reading takes at most a hundredth of the time.
// Unchecked: what is not guarded by the lock belongs to the loop's thread, or never changes.
final class ItemBook: @unchecked Sendable {
    /// The maximum number of pages; when it is reached, a new page replaces the last one.
    private static let maxPages = 64
    /// The shortest time between two readings before sleeps, in nanoseconds.
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

    /// Makes a book of one loop.
    ///
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
            if pages.count == Self.maxPages { pages.removeLast() }
            pages.append(ItemPage(time: time, items: seen.items, unserved: seen.unserved))
        }
    }

    /// How long the loop's host has not run the loop, although a timer is due; `nil` if that is not so.
    var hostOverdue: Int64? { loop?.hostOverdue }

    /// Returns the modes and pages so far, after one more reading of the loop's items.
    ///
    /// Thread safety: any thread. The last page has the present time, or after the thread's end the items of the last
    /// reading.
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
