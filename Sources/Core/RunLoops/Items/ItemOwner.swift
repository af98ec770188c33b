// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The lock of a loop, in memory that is never freed: after the loop has ended, another loop uses the same lock.
///
/// An item that was in a loop can therefore take the lock, and check whether the item still belongs to that loop,
/// without keeping the loop alive. A thread that has read an old owner still takes a valid lock. The lock leads to the
/// loop's state and not to the loop: the last reference to a loop is never released while its lock is held
/// (Documentation/Decisions/0042-state-below-the-loop.md).
struct LoopLock: ~Copyable {
    typealias Pointer = UnsafeMutablePointer<LoopLock>

    private let lock = Lock()
    // Guarded by the lock.
    // Unmanaged: a loop removes its state from here before it releases the state.
    private var user: Unmanaged<RunLoop.State>?
    private var generation = ForkGeneration()

    fileprivate init() {}

    /// The state of the loop that uses the lock; `nil` while no loop uses it, and in a forked child if its parent's
    /// loop uses it.
    ///
    /// Called with the lock held. In a forked child an item of a loop of the parent finds no state here, and changes
    /// nothing in that loop.
    @inline(__always)
    var state: Unmanaged<RunLoop.State>? { generation.isInherited ? nil : user }

    @inline(__always)
    borrowing func take() { lock.lock() }
    @inline(__always)
    borrowing func giveBack() { lock.unlock() }

    /// Takes the lock; returns whether that succeeded by `deadline` of the monotonic clock.
    borrowing func take(until deadline: Int64) -> Bool { lock.lock(until: deadline) }

    private static let unused = Guarded<[Pointer]>([])

    /// Returns an unused lock for a new loop.
    static func lend() -> Pointer {
        if let pointer = unused.withLock({ $0.popLast() }) { return pointer }
        let pointer = Pointer.allocate(capacity: 1)
        pointer.initialize(to: LoopLock())
        return pointer
    }

    /// Assigns the lock to the loop of `state`; `nil` takes the lock from its loop, so that another loop may use it.
    static func assign(_ pointer: Pointer, to state: RunLoop.State?) {
        pointer.pointee.take()
        // The fields are set one by one: a mutating call would have exclusive access to the whole structure, also to
        // the lock, for which other threads wait.
        pointer.pointee.user = state.map { .passUnretained($0) }
        pointer.pointee.generation = ForkGeneration()
        pointer.pointee.giveBack()
        if state == nil { unused.withLock { $0.append(pointer) } }
    }
}

/// The loop that an item belongs to, if any; its lock guards the item's fields.
///
/// An item that belongs to no loop has a small lock of its own, in the same word.
struct ItemOwner: ~Copyable {
    /// The lock that was taken: the lock of a loop, or the item's own lock if `nil`.
    typealias Holder = LoopLock.Pointer?

    private enum State {
        static let free: UInt = 0
        static let held: UInt = 1
        /// The lock is held, and a thread sleeps until it is released.
        static let contended: UInt = 2
    }

    /// One of the states, or the address of a loop's lock, which stays after the item has left that loop.
    private let word = Atomic<UInt>(State.free)

    init() {}

    @inline(__always)
    func isHeld(by state: RunLoop.State) -> Bool {
        word.load(ordering: .acquiring) == UInt(bitPattern: state.lockPointer)
    }

    /// Makes the loop of `state` the owner of an item that no loop has had; returns whether it is the owner.
    ///
    /// This is a separate function, because passing a closure to ``claim(for:isInMode:)`` costs reference counting even
    /// if the closure is not called.
    @inline(__always)
    func claimUnowned(for state: RunLoop.State) -> Bool {
        let own = UInt(bitPattern: state.lockPointer)
        let (exchanged, found) = word.compareExchange(
            expected: State.free, desired: own, ordering: .acquiringAndReleasing)
        return exchanged || found == own
    }

    /// Makes the loop of `state` the owner, unless another loop has the item in one of its modes; returns whether it is
    /// the owner.
    ///
    /// - Parameter isInMode: Whether the item is in a mode of its owner; asked with the owner's lock held.
    @inline(never)
    func claim(for state: RunLoop.State, isInMode: () -> Bool) -> Bool {
        let new = state.lockPointer
        let holder = lock()
        guard let holder else {
            release(to: UInt(bitPattern: new))
            return true
        }
        defer { holder.pointee.giveBack() }
        if holder == new { return true }
        if isInMode() { return false }
        word.store(UInt(bitPattern: new), ordering: .releasing)
        return true
    }

    /// Takes the lock that guards the item's fields.
    @inline(__always)
    func lock() -> Holder {
        let found = word.load(ordering: .acquiring)
        if found > State.contended, let holder = take(found) { return holder }
        return lockSlowly()
    }

    @inline(__always)
    func unlock(_ holder: Holder) {
        if let holder { holder.pointee.giveBack() } else { release(to: State.free) }
    }

    /// Takes the loop's lock at the address `found`, and returns it if the item still belongs to that loop.
    ///
    /// Otherwise releases the lock again, and returns `nil`.
    @inline(__always)
    private func take(_ found: UInt) -> LoopLock.Pointer? {
        // SAFETY: the address of a loop's lock, whose memory is never freed.
        let holder = LoopLock.Pointer(bitPattern: found).unsafelyUnwrapped
        holder.pointee.take()
        // acquiring: pairs with the release in claim(for:isInMode:). The item may have been in another loop since the
        // first look, and have returned: its changes there were made under that loop's lock.
        if word.load(ordering: .acquiring) == found { return holder }
        holder.pointee.giveBack()
        return nil
    }

    @inline(never)
    private func lockSlowly() -> Holder {
        var taken = State.held
        while true {
            let (exchanged, found) = word.compareExchange(
                expected: State.free, desired: taken, ordering: .acquiringAndReleasing)
            if exchanged { return nil }
            if found > State.contended {
                if let holder = take(found) { return holder }
                continue
            }
            // Others may be asleep too: a thread that gets the lock after a sleep leaves it as contended.
            taken = State.contended
            if found == State.held {
                let marked = word.compareExchange(
                    expected: State.held, desired: State.contended, ordering: .relaxed)
                if !marked.exchanged { continue }
            }
            // The lower half of the word comes first on every machine that Swift supports on Linux.
            withUnsafePointer(to: word) { _ = SystemCalls.futexWait($0, expected: UInt32(State.contended)) }
        }
    }

    private func release(to state: UInt) {
        if word.exchange(state, ordering: .releasing) == State.contended {
            // Wakes all waiting threads: if the item has an owner now, the small lock is not released again.
            withUnsafePointer(to: word) { SystemCalls.futexWakeAll($0) }
        }
    }
}
