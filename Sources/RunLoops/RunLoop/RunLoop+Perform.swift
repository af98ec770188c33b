internal import CLinuxKernel
internal import Synchronization

extension RunLoop {
    /// Runs a closure on the loop's thread, in the next turn of a run in `mode`.
    ///
    /// Closures run first in, first out among those that may run in the mode. One that is added by another runs in the
    /// next drain of the turn or the next turn. Without `wake` a sleeping loop goes on sleeping.
    ///
    /// - Parameters:
    ///   - mode: The mode; `.common` for all common modes.
    ///   - wake: Whether to wake the loop, so that it runs the closure now.
    ///   - fileID: Where it was added.
    ///   - line: Where it was added.
    ///   - body: Runs once; released unrun if the thread ends before.
    ///
    /// Corresponds to `CFRunLoopPerformBlock`, with `wake` followed by `CFRunLoopWakeUp`.
    /// Thread safety: any thread. Complexity: O(1) amortised.
    public func perform(
        in mode: Mode = .default, wake: Bool = false, fileID: StaticString = #fileID, line: UInt = #line,
        _ body: consuming @escaping @Sendable () -> Void
    ) {
        post(mode, wake, CodePlace(fileID, line), body)
    }

    /// Runs a closure on the loop's thread, in the next turn of a run in one of `modes`.
    ///
    /// The parameters are those of ``perform(in:wake:fileID:line:_:)-(RunLoop.Mode,_,_,_,_)``; without any mode nothing happens.
    public func perform(
        in modes: [Mode], wake: Bool = false, fileID: StaticString = #fileID, line: UInt = #line,
        _ body: consuming @escaping @Sendable () -> Void
    ) {
        post(modes, wake, CodePlace(fileID, line), body)
    }

    /// Runs a closure that may use this thread's state, in the next turn of a run in `mode`.
    ///
    /// Like ``perform(in:wake:fileID:line:_:)-(RunLoop.Mode,_,_,_,_)``, but the closure stays on its thread and need not be
    /// `@Sendable`.
    ///
    /// Precondition: called on the loop's own thread; any other traps.
    public func performLocally(
        in mode: Mode = .default, wake: Bool = false, fileID: StaticString = #fileID, line: UInt = #line,
        _ body: consuming @escaping () -> Void
    ) {
        requireLocal()
        post(mode, wake, CodePlace(fileID, line), body)
    }

    /// Runs a closure that may use this thread's state, in the next turn of a run in one of `modes`.
    ///
    /// Precondition: called on the loop's own thread; any other traps.
    public func performLocally(
        in modes: [Mode], wake: Bool = false, fileID: StaticString = #fileID, line: UInt = #line,
        _ body: consuming @escaping () -> Void
    ) {
        requireLocal()
        post(modes, wake, CodePlace(fileID, line), body)
    }

    /// Runs a closure on the main actor, in the next turn of the main loop in `mode`.
    ///
    /// The parameters are those of ``perform(in:wake:fileID:line:_:)-(RunLoop.Mode,_,_,_,_)``.
    /// Thread safety: any thread.
    public static func performOnMainActor(
        in mode: Mode = .default, wake: Bool = false, fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @MainActor () -> Void
    ) {
        performOnMainActor(in: [mode], wake: wake, fileID: fileID, line: line, body)
    }

    /// Runs a closure on the main actor, in the next turn of the main loop in one of `modes`.
    ///
    /// Thread safety: any thread.
    public static func performOnMainActor(
        in modes: [Mode], wake: Bool = false, fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @MainActor () -> Void
    ) {
        main.perform(in: modes, wake: wake, fileID: fileID, line: line) { MainActor.assumeIsolated(body) }
    }

    func requireLocal() {
        require(
            SystemCalls.threadID == threadID,
            "performLocally was called on thread \(SystemCalls.threadID) for the loop of thread \(threadID): use perform with a @Sendable closure to reach another thread."
        )
    }

    @inline(__always)
    private func post(_ mode: Mode, _ wake: Bool, _ place: CodePlace, _ body: consuming @escaping () -> Void) {
        nameMode(mode)
        post(Block(modes: BlockModes(mode), place: place, body: body), wake: wake)
    }

    private func post(_ modes: [Mode], _ wake: Bool, _ place: CodePlace, _ body: consuming @escaping () -> Void) {
        if modes.isEmpty { return }
        for mode in modes { nameMode(mode) }
        post(Block(modes: BlockModes(modes), place: place, body: body), wake: wake)
    }

    /// A block makes the mode it names, as an item does.
    @inline(__always)
    private func nameMode(_ mode: Mode) {
        if mode == .default || mode == .common { return }
        withLock { _ = makeMode(mode) }
    }

    /// Leaves a block for a run in one of its modes.
    @inline(__always)
    private func post(_ block: consuming Block, wake: Bool) {
        checkNotForked()
        if rl_is_recorded(), isTraced.load(ordering: .relaxed) { return put(noting(block), wake: wake) }
        put(block, wake: wake)
    }

    @inline(__always)
    private func put(_ block: consuming Block, wake: Bool) {
        if SystemCalls.threadID == threadID { blocks.pushHere(block) } else { blocks.push(block) }
        if wake { wakeUp() }
    }

    /// The block with when it was posted, and by whom, told when it runs.
    ///
    /// A closure around the block's own, because a block has no room: one allocation, while somebody records.
    @inline(never)
    private func noting(_ block: consuming Block) -> Block {
        let wait = LoopWait(since: now(.monotonic), thread: SystemCalls.threadID)
        // Unowned: it runs inside a run of this loop only; and one that no run may run must not keep its loop for ever.
        return block.wrapped { [unowned self] body in
            tracer?.trace(.wanted(wait))
            body()
        }
    }
}
