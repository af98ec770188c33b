internal import Synchronization

/// How many sources, port sources and timers a mode has: enough to know without a lock that there are none.
///
/// Written with the loop's lock held, so that a load and a store are as good as an addition in one. Read by the loop's
/// thread without it: an item added by another thread is seen a moment earlier or later; both are right.
final class ItemCounter: Sendable {
    private let timerCount = Atomic<Int>(0)
    private let sourceCount = Atomic<Int>(0)

    @inline(__always)
    var hasTimers: Bool { timerCount.load(ordering: .relaxed) != 0 }
    @inline(__always)
    var isEmpty: Bool { !hasTimers && sourceCount.load(ordering: .relaxed) == 0 }

    @inline(__always)
    func changeTimers(by difference: Int) {
        timerCount.store(timerCount.load(ordering: .relaxed) + difference, ordering: .relaxed)
    }

    func changeSources(by difference: Int) {
        sourceCount.store(sourceCount.load(ordering: .relaxed) + difference, ordering: .relaxed)
    }
}
