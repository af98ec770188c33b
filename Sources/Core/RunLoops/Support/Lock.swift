// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import Synchronization

/// A small lock on a futex: free, held, or held while a thread sleeps on it.
///
/// `Synchronization.Mutex` is not used, because the thread sanitizer does not see into it and reports everything that
/// it guards (Documentation/Decisions/0003-locks.md). The lock is held for a few instructions at a time and never
/// during a callout; it is not recursive.
///
/// A held lock contains the fork generation in which it was taken. A forked child does not have the threads of its
/// parent that held locks, and treats these locks as free.
package struct Lock: ~Copyable, @unchecked Sendable {
    private enum State {
        static let free: UInt32 = 0
        /// The low bits of a lock that is held; the others are the holder's fork generation.
        static let held: UInt32 = 1
        static let contended: UInt32 = 2

        @inline(__always)
        static func now(_ state: UInt32) -> UInt32 { state | UInt32(bitPattern: rl_fork_count()) &<< 2 }
        /// Whether a thread of this process has the lock.
        @inline(__always)
        static func isHeld(_ found: UInt32) -> Bool { found != free && found >> 2 == now(free) >> 2 }
        @inline(__always)
        static func isContended(_ found: UInt32) -> Bool { found & contended != 0 }
    }

    // An atomic is never moved while it is borrowed, and a lock that a thread waits for is borrowed: the kernel may
    // have its address.
    private let state = Atomic<UInt32>(State.free)

    /// Makes a free lock.
    package init() {}

    /// Takes the lock; waits until the lock is free.
    @inline(__always)
    package borrowing func lock() {
        // acquiring: pairs with the release in unlock(), so that the writes of the last holder are seen.
        if state.compareExchange(expected: State.free, desired: State.now(State.held), ordering: .acquiring).exchanged {
            return
        }
        lockSlowly()
    }

    /// Takes the lock if it is free by `deadline` of the monotonic clock, and returns whether it was taken; the caller
    /// then releases it with ``unlock()``.
    ///
    /// For tools that inspect the program, which must answer even if another thread holds the lock for long.
    package borrowing func lock(until deadline: Int64) -> Bool {
        let isFree = state.compareExchange(expected: State.free, desired: State.now(State.held), ordering: .acquiring)
            .exchanged
        return isFree || lockSlowly(until: deadline)
    }

    @discardableResult
    @inline(never)
    private borrowing func lockSlowly(until deadline: Int64 = .max) -> Bool {
        // A thread that gives up leaves the state as contended: the next unlock wakes nobody, and costs one system
        // call.
        let contended = State.now(State.contended)
        while State.isHeld(state.exchange(contended, ordering: .acquiring)) {
            let isLate = withUnsafePointer(to: state) {
                SystemCalls.futexWait($0, expected: contended, until: deadline)
            }
            if isLate { return false }
        }
        return true
    }

    /// Releases the lock, which the caller has taken.
    @inline(__always)
    package borrowing func unlock() {
        if State.isContended(state.exchange(State.free, ordering: .releasing)) { wakeOne() }
    }

    @inline(never)
    private borrowing func wakeOne() {
        withUnsafePointer(to: state) { SystemCalls.futexWake($0) }
    }

    /// Holds the lock while `body` runs.
    @inline(__always)
    package borrowing func withLock<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock()
        defer { unlock() }
        return try body()
    }
}

/// A value that several threads use, one at a time.
///
/// `Synchronization.Mutex` is not used, because the thread sanitizer does not see into it
/// (Documentation/Decisions/0003-locks.md).
// Unchecked: the lock is what makes it safe to share.
package final class Guarded<Value>: @unchecked Sendable {
    private let lock = Lock()
    @exclusivity(unchecked) private var value: Value

    /// Makes a guarded value, which only ``withLock(_:)`` gives access to.
    package init(_ value: Value) { self.value = value }

    /// Holds the lock while `body` uses the value.
    package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        lock.withLock { body(&value) }
    }
}
