// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel
internal import RunLoops
internal import Synchronization

/// A lock that a thread waits for until a deadline, held while a message is written to a socket.
///
/// Built like the library's own lock: a held lock says in which fork generation it was taken, and a forked child, which
/// does not have the threads of its parent, finds it free.
struct TimedLock: ~Copyable, @unchecked Sendable {
    // 0: free, 1: held, 2: held and a thread waits; above these bits the fork generation. On the heap, since the kernel
    // needs an address that stays.
    private let state: UnsafeMutablePointer<Atomic<UInt32>>

    init() {
        state = .allocate(capacity: 1)
        state.initialize(to: Atomic(0))
    }

    deinit {
        state.deinitialize(count: 1)
        state.deallocate()
    }

    func withLock<Result>(
        until deadline: Int64, _ body: () throws(RunLoop.PortError) -> Result
    ) throws(RunLoop.PortError) -> Result {
        try lock(until: deadline)
        defer { unlock() }
        return try body()
    }

    func lock(until deadline: Int64) throws(RunLoop.PortError) {
        // acquiring: pairs with the release in unlock().
        if state.pointee.compareExchange(expected: 0, desired: Self.now(1), ordering: .acquiring).exchanged { return }
        if deadline == Deadline.none { throw .full }
        let contended = Self.now(2)
        while true {
            let found = state.pointee.exchange(contended, ordering: .acquiring)
            if found == 0 || found >> 2 != contended >> 2 { return }
            // EAGAIN, EINTR: the word is read again.
            let result = rl_futex_wait(state, contended, deadline)
            if result == -Errors.timedOut { throw .timedOut }
        }
    }

    func unlock() {
        if state.pointee.exchange(0, ordering: .releasing) & 3 == 2 { _ = rl_futex_wake(state, 1) }
    }

    private static func now(_ state: UInt32) -> UInt32 { state | UInt32(bitPattern: rl_fork_count()) &<< 2 }
}
