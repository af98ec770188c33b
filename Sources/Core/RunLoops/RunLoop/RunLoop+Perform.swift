// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import Synchronization

extension RunLoop {
    /// Runs a closure on the loop's thread, in the next turn of a run in `mode`; the closure is `@Sendable`, since posting
    /// one is how other threads reach a loop.
    ///
    /// On the loop's own thread, ``performLocally(in:wake:fileID:line:_:)-(RunLoop.Mode,_,_,_,_)`` takes a closure that uses
    /// the thread's state.
    ///
    /// Closures run first in, first out among those that may run in the mode. A closure that another closure adds does
    /// not run directly after it, but the next time that a turn runs closures.
    ///
    /// By default a closure keeps the loop awake: a run in `mode` does not sleep before it has run the closure, even if
    /// a nested run of another mode was woken for it. With `wake: false` the loop sleeps as if there were no closure,
    /// and the closure runs when something else causes a turn.
    ///
    /// - Parameters:
    ///   - mode: The mode; `.common` for all common modes.
    ///   - wake: Whether the call wakes the loop, and keeps it awake until the closure has run.
    ///   - fileID: Where the closure was added.
    ///   - line: Where the closure was added.
    ///   - body: The closure, which runs once; it is released without having run if the thread ends before.
    ///
    /// Corresponds to `CFRunLoopPerformBlock` followed by `CFRunLoopWakeUp`; with `wake: false` to
    /// `CFRunLoopPerformBlock` alone. Thread safety: any thread.
    /// - Complexity: O(1) amortised. From another thread one system call if the loop sleeps. From the loop's own thread
    ///   no system call, and at most one additional turn, which runs the closure.
    public func perform(
        in mode: Mode = .default, wake: Bool = true, fileID: StaticString = #fileID, line: UInt = #line,
        _ body: consuming @escaping @Sendable () -> Void
    ) {
        post(mode, wake, CodeLocation(fileID, line), consume body)
    }

    /// Runs a closure on the loop's thread, in the next turn of a run in one of `modes`.
    ///
    /// The parameters are those of ``perform(in:wake:fileID:line:_:)-(RunLoop.Mode,_,_,_,_)``.
    ///
    /// - Precondition: `modes` is not empty.
    public func perform(
        in modes: [Mode], wake: Bool = true, fileID: StaticString = #fileID, line: UInt = #line,
        _ body: consuming @escaping @Sendable () -> Void
    ) {
        post(modes, wake, CodeLocation(fileID, line), consume body)
    }

    /// Runs a closure that may use this thread's state, in the next turn of a run in `mode`.
    ///
    /// Like ``perform(in:wake:fileID:line:_:)-(RunLoop.Mode,_,_,_,_)``, but the closure stays on its thread and need
    /// not be `@Sendable`.
    ///
    /// - Precondition: called on the loop's own thread; any other traps.
    @available(
        *, noasync,
        message: "A task has no thread of its own: use perform with a @Sendable closure, or performOnMainActor."
    )
    public func performLocally(
        in mode: Mode = .default, wake: Bool = true, fileID: StaticString = #fileID, line: UInt = #line,
        _ body: consuming @escaping () -> Void
    ) {
        requireLocal()
        post(mode, wake, CodeLocation(fileID, line), consume body)
    }

    /// Runs a closure that may use this thread's state, in the next turn of a run in one of `modes`.
    ///
    /// - Precondition: called on the loop's own thread; any other traps.
    @available(
        *, noasync,
        message: "A task has no thread of its own: use perform with a @Sendable closure, or performOnMainActor."
    )
    public func performLocally(
        in modes: [Mode], wake: Bool = true, fileID: StaticString = #fileID, line: UInt = #line,
        _ body: consuming @escaping () -> Void
    ) {
        requireLocal()
        post(modes, wake, CodeLocation(fileID, line), consume body)
    }

    /// Runs a closure on the main actor, in the next turn of the main loop in `mode`.
    ///
    /// The parameters are those of ``perform(in:wake:fileID:line:_:)-(RunLoop.Mode,_,_,_,_)``.
    /// Thread safety: any thread.
    public static func performOnMainActor(
        in mode: Mode = .default, wake: Bool = true, fileID: StaticString = #fileID, line: UInt = #line,
        _ body: consuming @escaping @MainActor () -> Void
    ) {
        main.post(mode, wake, CodeLocation(fileID, line), forMainThread(body))
    }

    /// Runs a closure on the main actor, in the next turn of the main loop in one of `modes`.
    ///
    /// Thread safety: any thread.
    public static func performOnMainActor(
        in modes: [Mode], wake: Bool = true, fileID: StaticString = #fileID, line: UInt = #line,
        _ body: consuming @escaping @MainActor () -> Void
    ) {
        main.post(modes, wake, CodeLocation(fileID, line), forMainThread(body))
    }

    /// Returns the same closure without its isolation, for the main loop, which calls closures on the main actor's
    /// thread.
    ///
    /// The closure is not wrapped in another one, which would be allocated each time.
    @inline(__always)
    static func forMainThread(_ body: consuming @escaping @MainActor () -> Void) -> () -> Void {
        struct Isolated { let call: @MainActor () -> Void }
        struct Plain { let call: () -> Void }
        // Structures, because a generic function takes closures in another form, which is allocated.
        // SAFETY: isolation is no part of a closure's form, and the main loop calls on the main thread alone.
        return unsafeBitCast(Isolated(call: body), to: Plain.self).call
    }

    func requireLocal() {
        require(
            SystemCalls.threadID == threadID,
            "performLocally was called on thread \(SystemCalls.threadID) for the loop of thread \(threadID): use perform with a @Sendable closure to reach another thread."
        )
    }

    @inline(__always)
    private func post(_ mode: Mode, _ wake: Bool, _ location: CodeLocation, _ body: consuming @escaping () -> Void) {
        nameMode(mode)
        post(Block(modes: BlockModes(mode), wakes: wake, location: location, body: body))
    }

    private func post(_ modes: [Mode], _ wake: Bool, _ location: CodeLocation, _ body: consuming @escaping () -> Void) {
        requireModes(modes)
        for mode in modes { nameMode(mode) }
        post(Block(modes: BlockModes(modes), wakes: wake, location: location, body: body))
    }

    /// Makes the mode that a block names, if the loop does not have it yet; adding an item to a mode does the same.
    @inline(__always)
    private func nameMode(_ mode: Mode) {
        if mode == .default || mode == .common { return }
        withState { _ = $0.makeMode(mode) }
    }

    /// Posts a block for a run in one of its modes.
    @inline(__always)
    private func post(_ block: consuming Block) {
        checkNotForked()
        if rl_is_recorded(), isTraced.load(ordering: .relaxed) { return put(noting(block)) }
        put(block)
    }

    @inline(__always)
    private func put(_ block: consuming Block) {
        let wakes = block.wakes
        if SystemCalls.threadID == threadID {
            blocks.pushHere(block)
            // The thread looks for such blocks before it sleeps, and needs a wake-up only while it waits in a host.
            if wakes, guest != nil { wakeHost() }
        } else {
            blocks.push(block)
            if wakes { wakeUp() }
        }
    }

    private func wakeHost() {
        if core.wakeWord.phase == .inHost { wakeUp() }
    }

    /// Returns the block with a closure that first reports when and by which thread the block was posted.
    ///
    /// A block has no room for these values, so its closure is wrapped in another one. This costs one allocation, and
    /// only while a recorder is at work.
    private func noting(_ block: consuming Block) -> Block {
        let wait = LoopWait(since: now(.monotonic), thread: SystemCalls.threadID)
        let quiet = block.wakes ? nil : note(QuietBlock(number: rl_next_number(), block, since: wait.since))
        // Unowned: the block runs inside a run of this loop only; and a block that never runs must not keep its loop
        // alive.
        return block.wrapped { [unowned self] body in
            if let quiet { withState { $0.quietBlocks.removeAll { $0.number == quiet } } }
            report(wait.event)
            body()
        }
    }

    private func note(_ block: QuietBlock) -> UInt64 {
        withState { if $0.quietBlocks.count < QuietBlock.maxCount { $0.quietBlocks.append(block) } }
        return block.number
    }
}
