internal import Synchronization

/// A small lock on a futex: free, held, or held with somebody asleep.
///
/// Not `Synchronization.Mutex`: the thread sanitizer does not see into that one and reports everything it guards
/// (Documentation/Decisions/0003-locks.md). Held for a few instructions at a time and never during a callout; not
/// recursive.
package struct Lock: ~Copyable, @unchecked Sendable {
    private enum State {
        static let free: UInt32 = 0
        static let held: UInt32 = 1
        static let contended: UInt32 = 2
    }

    // On the heap, since the kernel needs an address that stays.
    private let state: UnsafeMutablePointer<Atomic<UInt32>>

    package init() {
        state = .allocate(capacity: 1)
        state.initialize(to: Atomic(State.free))
    }

    deinit {
        state.deinitialize(count: 1)
        state.deallocate()
    }

    @inline(__always)
    package borrowing func lock() {
        // acquiring: pairs with the release in unlock(), so that what the last holder wrote is seen.
        if state.pointee.compareExchange(expected: State.free, desired: State.held, ordering: .acquiring).exchanged {
            return
        }
        lockSlowly()
    }

    @inline(never)
    private borrowing func lockSlowly() {
        while state.pointee.exchange(State.contended, ordering: .acquiring) != State.free {
            SystemCalls.futexWait(state, expected: State.contended)
        }
    }

    @inline(__always)
    package borrowing func unlock() {
        if state.pointee.exchange(State.free, ordering: .releasing) == State.contended {
            SystemCalls.futexWake(state)
        }
    }

    @inline(__always)
    package borrowing func withLock<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock()
        defer { unlock() }
        return try body()
    }
}
