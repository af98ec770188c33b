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

    fileprivate let lock = Lock()
    // Guarded by the lock. The memory is the loop's, which takes the address from here before it frees the memory.
    private var user: UnsafeMutablePointer<GuardedState>?
    private var generation = ForkGeneration()

    fileprivate init() {}

    /// The state of the loop that uses the lock; `nil` while no loop uses it, and in a forked child if its parent's
    /// loop uses it.
    ///
    /// In a forked child an item of a loop of the parent finds no state here, and changes nothing in that loop.
    @inline(__always)
    fileprivate var state: UnsafeMutablePointer<GuardedState>? { generation.isInherited ? nil : user }

    @inline(__always)
    fileprivate borrowing func take() { lock.lock() }
    @inline(__always)
    fileprivate borrowing func giveBack() { lock.unlock() }

    /// Takes the lock while `body` uses the state of the loop that uses the lock, if there is one.
    borrowing func withState(_ body: (inout GuardedState) -> Void) {
        take()
        if let state { body(&state.pointee) }
        giveBack()
    }

    private static let unused = Guarded<[Pointer]>([])

    /// Returns an unused lock for a new loop.
    fileprivate static func lend() -> Pointer {
        if let pointer = unused.withLock({ $0.popLast() }) { return pointer }
        let pointer = Pointer.allocate(capacity: 1)
        pointer.initialize(to: LoopLock())
        return pointer
    }

    /// Assigns the lock to a loop; `nil` takes the lock from its loop, so that another loop may use it.
    fileprivate static func assign(_ pointer: Pointer, to state: UnsafeMutablePointer<GuardedState>?) {
        pointer.pointee.take()
        // The fields are set one by one: a mutating call would have exclusive access to the whole structure, also to
        // the lock, for which other threads wait.
        pointer.pointee.user = state
        pointer.pointee.generation = ForkGeneration()
        pointer.pointee.giveBack()
        if state == nil { unused.withLock { $0.append(pointer) } }
    }
}

/// The memory of a loop that threads share: what they use without the lock, and the state, which can be used in no other way
/// than with the lock held.
///
/// Copied into ``RunLoop``, whose `deinit` frees it.
struct LoopMemory {
    /// The loop's lock.
    let lock: LoopLock.Pointer
    // SAFETY: both are valid for as long as the loop is. The state is used by the thread alone that has taken the lock.
    private let core: UnsafeMutablePointer<LoopCore>
    private let state: UnsafeMutablePointer<GuardedState>

    init(kernel: any Kernel, threadID: Int32, blocks: BlockQueue) {
        lock = LoopLock.lend()
        core = .allocate(capacity: 1)
        core.initialize(to: LoopCore(kernel: kernel, threadID: threadID, blocks: blocks))
        state = .allocate(capacity: 1)
        state.initialize(to: GuardedState(core, lock))
    }

    /// The parts of the loop that need no lock.
    var unguarded: UnsafePointer<LoopCore> {
        @inline(__always) get { UnsafePointer(core) }
    }

    /// Lets the loop's items find the state by the lock.
    func publish() { LoopLock.assign(lock, to: state) }

    /// Returns the lock, for another loop.
    func unpublish() { LoopLock.assign(lock, to: nil) }

    /// Frees the memory: the loop is not used again.
    func free() {
        state.deinitialize(count: 1)
        state.deallocate()
        core.deinitialize(count: 1)
        core.deallocate()
    }

    /// Takes the lock while `body` uses the state.
    @inline(__always)
    func withState<Result: ~Copyable, Failure: Error>(
        _ body: (inout GuardedState) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock.pointee.take()
        defer { lock.pointee.giveBack() }
        return try body(&state.pointee)
    }

    /// Does the same as ``withState(_:)`` if the lock can be taken by `deadline` of the monotonic clock; returns `nil`
    /// otherwise.
    func withState<Result>(by deadline: Int64, _ body: (inout GuardedState) -> Result) -> Result? {
        guard lock.pointee.lock.lock(until: deadline) else { return nil }
        defer { lock.pointee.giveBack() }
        return body(&state.pointee)
    }
}

/// The loop that an item belongs to, if any; its lock guards the item's fields.
///
/// An item that belongs to no loop has a small lock of its own, in the same word.
struct ItemOwner: ~Copyable {
    /// The lock that was taken: the lock of a loop, or the item's own lock if `nil`.
    private typealias Holder = LoopLock.Pointer?

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
    func isHeld(by loop: LoopLock.Pointer) -> Bool { word.load(ordering: .acquiring) == UInt(bitPattern: loop) }

    /// Makes the loop with this lock the owner of an item that no loop has had; returns whether it is the owner.
    ///
    /// This is a separate function, because passing a closure to ``claim(for:isInMode:)`` costs reference counting even
    /// if the closure is not called.
    @inline(__always)
    func claimUnowned(for loop: LoopLock.Pointer) -> Bool {
        let own = UInt(bitPattern: loop)
        let (exchanged, found) = word.compareExchange(
            expected: State.free, desired: own, ordering: .acquiringAndReleasing)
        return exchanged || found == own
    }

    /// Makes the loop with this lock the owner, unless another loop has the item in one of its modes; returns whether it is
    /// the owner.
    ///
    /// - Parameter isInMode: Whether the item is in a mode of its owner; asked with the owner's lock held.
    func claim(for new: LoopLock.Pointer, isInMode: () -> Bool) -> Bool {
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

    /// Holds the lock that guards the item's fields while `body` uses them, and the state of the loop that the item
    /// belongs to, if any.
    @inline(__always)
    func withLock<Result: ~Copyable>(_ body: (UnsafeMutablePointer<GuardedState>?) -> Result) -> Result {
        let holder = lock()
        defer { unlock(holder) }
        return body(holder?.pointee.state)
    }

    @inline(__always)
    private func lock() -> Holder {
        let found = word.load(ordering: .acquiring)
        if found > State.contended, let holder = take(found) { return holder }
        return lockSlowly()
    }

    @inline(__always)
    private func unlock(_ holder: Holder) {
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
