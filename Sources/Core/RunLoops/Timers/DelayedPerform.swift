// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension RunLoop {
    /// A closure that was given to ``RunLoop/perform(after:in:fileID:line:_:)`` and waits for its delay; cancels it by
    /// ``RunLoop/cancel(_:)``.
    ///
    /// You need not keep the value. For a closure in one mode it retains nothing. For a closure in the common modes it
    /// retains the closure until the closure has run or is cancelled, also after the end of the loop's thread.
    ///
    /// Thread safety: a value; any thread.
    public struct DelayedPerform: Hashable, Sendable {
        /// Identifies a closure that waits in one mode.
        struct Name: Hashable, Sendable {
            let loop: UInt32
            // Not the mode, which may get another bucket when there can be no more of them.
            let bucket: BucketNumber
            let id: DelayedID
        }

        /// Identifies a closure in the common modes, by the timer that the loop has made for it.
        struct CommonTimer: Hashable, Sendable {
            let timer: Timer
            static func == (left: CommonTimer, right: CommonTimer) -> Bool { left.timer === right.timer }
            func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(timer)) }
        }

        enum Kind: Hashable, Sendable {
            case inMode(Name)
            case inCommonModes(CommonTimer)
            /// The closure was posted after the end of the loop's thread.
            case never
        }

        let kind: Kind
    }

    /// Runs a closure on the loop's thread once, when a delay has passed.
    ///
    /// This is the cheapest kind of timer: a closure in one mode needs an entry of a table and no object. The loop
    /// calls delayed closures and timers together, in the order of their deadlines. Until the closure is called, its mode
    /// is not empty. A sleeping loop wakes up for the closure.
    ///
    /// - Parameters:
    ///   - delay: The time to wait, on the monotonic clock; if it is not positive, the closure runs in the next turn.
    ///   - mode: The mode; `.common` for all common modes, for which the loop makes a ``Timer``.
    ///   - fileID: The file that posts the closure.
    ///   - line: The line that posts the closure.
    ///   - body: The closure, which runs once; it is released without having run if it is cancelled, or if the thread
    ///     ends before.
    /// - Returns: A value that identifies the closure, for ``cancel(_:)``.
    ///
    /// Corresponds to `performSelector:withObject:afterDelay:inModes:`, and to a Core Foundation timer that fires once.
    /// Thread safety: any thread.
    /// - Complexity: O(log n) in the timers of the mode.
    @discardableResult
    public func perform(
        after delay: Duration, in mode: Mode = .default, fileID: StaticString = #fileID, line: UInt = #line,
        _ body: consuming @escaping @Sendable () -> Void
    ) -> DelayedPerform {
        postpone(delay, mode, CodeLocation(fileID, line), body)
    }

    /// Runs a closure that may use this thread's state once, when a delay has passed.
    ///
    /// The parameters and the result are the same as for ``perform(after:in:fileID:line:_:)``.
    ///
    /// - Precondition: called on the loop's own thread; any other traps.
    @available(
        *, noasync,
        message: "A task has no thread of its own: use perform with a @Sendable closure, or performOnMainActor."
    )
    @discardableResult
    public func performLocally(
        after delay: Duration, in mode: Mode = .default, fileID: StaticString = #fileID, line: UInt = #line,
        _ body: consuming @escaping () -> Void
    ) -> DelayedPerform {
        requireLocal()
        return postpone(delay, mode, CodeLocation(fileID, line), body)
    }

    /// Runs a closure on the main actor once, when a delay has passed.
    ///
    /// The parameters and the result are the same as for ``perform(after:in:fileID:line:_:)``.
    /// Thread safety: any thread.
    @discardableResult
    public static func performOnMainActor(
        after delay: Duration, in mode: Mode = .default, fileID: StaticString = #fileID, line: UInt = #line,
        _ body: consuming @escaping @MainActor () -> Void
    ) -> DelayedPerform {
        main.postpone(delay, mode, CodeLocation(fileID, line), forMainThread(body))
    }

    /// Cancels a closure that waits for its delay, and releases it.
    ///
    /// - Returns: Whether this call has cancelled the closure. `false` if the closure is running, has run, or was
    ///   cancelled before.
    ///
    /// Corresponds to `cancelPreviousPerformRequestsWithTarget:`, for one request. Thread safety: any thread.
    /// - Precondition: the closure was given to this loop.
    /// - Complexity: O(log n) in the timers of the mode.
    @discardableResult
    public func cancel(_ delayed: DelayedPerform) -> Bool {
        checkNotForked()
        switch delayed.kind {
        case .never:
            return false
        case .inCommonModes(let common):
            requireOwn(common.timer.belongs(to: memory.lock) || !common.timer.isValid)
            guard common.timer.becomeInvalid() else { return false }
            // The thread has ended before the closure could run.
            return !withState { $0.isDead }
        case .inMode(let name):
            requireOwn(name.loop == core.number)
            let body = withState { $0.takeDelayed(name) }
            // The closure is released when no lock is held.
            switch consume body {
            case .some: return true
            case .none: return false
            }
        }
    }

    private func requireOwn(_ isOwn: Bool) {
        require(
            isOwn,
            "A closure that waits in another loop was to be cancelled in the loop of thread \(threadID): call cancel of the loop that perform was called on."
        )
    }

    @inline(__always)
    private func postpone(
        _ delay: Duration, _ mode: Mode, _ location: CodeLocation, _ body: consuming @escaping () -> Void
    ) -> DelayedPerform {
        checkNotForked()
        let date = now(.monotonic).clampedAdding(max(0, delay.clampedNanoseconds))
        if mode == .common { return postponeInCommonModes(date, location, body) }
        // An optional: a closure cannot consume what it captures.
        var body: DelayedBody? = DelayedBody(call: body, location: location)
        return withState { state in
            guard !state.isDead, let body = body.take() else { return DelayedPerform(kind: .never) }
            return DelayedPerform(kind: .inMode(state.putDelayed(body, at: date, in: mode)))
        }
    }

    private func postponeInCommonModes(
        _ date: Int64, _ location: CodeLocation, _ body: @escaping () -> Void
    ) -> DelayedPerform {
        let timer = Timer(onceAt: date, ItemLabel(location), allowedThread: threadID) { timer in
            // Before the callout, and unless another thread cancels the closure at this moment.
            if timer.becomeInvalid() { body() }
        }
        return DelayedPerform(
            kind: add(timer, in: .common) ? .inCommonModes(DelayedPerform.CommonTimer(timer: timer)) : .never)
    }
}
