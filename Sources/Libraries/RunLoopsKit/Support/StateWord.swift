// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import Synchronization

/// An atomic state that threads can sleep on until it changes: a futex.
package struct StateWord: ~Copyable, @unchecked Sendable {
    // On the heap, since the kernel needs an address that stays.
    private let word: UnsafeMutablePointer<Atomic<UInt32>>
    /// Whether a thread may sleep on the word: saves a system call when no thread does.
    private let hasSleepers: Bool

    package init(_ state: UInt32, hasSleepers: Bool = true) {
        self.hasSleepers = hasSleepers
        word = .allocate(capacity: 1)
        word.initialize(to: Atomic(state))
    }

    deinit {
        word.deinitialize(count: 1)
        word.deallocate()
    }

    // acquiring: pairs with the release of set and exchange, so that what was written before a state is seen with it.
    package var state: UInt32 { word.pointee.load(ordering: .acquiring) }

    /// Moves from `old` to `new`; returns whether this call did it.
    func move(from old: UInt32, to new: UInt32) -> Bool {
        let (moved, _) = word.pointee.compareExchange(expected: old, desired: new, ordering: .acquiringAndReleasing)
        if moved { wake() }
        return moved
    }

    package func set(_ new: UInt32) {
        word.pointee.store(new, ordering: .releasing)
        wake()
    }

    /// Sleeps while the state is `state`, until an instant of the monotonic clock at most; may return early.
    package func sleep(while state: UInt32, until deadline: Int64 = .max) {
        // EAGAIN (the state has changed), EINTR, ETIMEDOUT: the caller looks again in any case.
        _ = rl_futex_wait(word, state, deadline)
    }

    private func wake() {
        guard hasSleepers else { return }
        // One sleeper for each word: the thread that waits for a ticket, or for the start of a thread.
        _ = rl_futex_wake(word, 1)
    }
}
