extension RunLoop {
    /// A closure that waits for its delay to be over, by which it can be cancelled.
    ///
    /// A small value: nothing is kept alive by it, and nothing has to be done with it.
    ///
    /// Thread safety: a value; any thread.
    public struct Delayed: Hashable, Sendable {
        /// What names a closure in one mode.
        struct Name: Hashable, Sendable {
            let loop: UInt32
            let mode: Mode
            let place: UInt32
            let sequence: UInt32
        }

        /// The timer that stands for a closure in the common modes.
        struct CommonTimer: Hashable, Sendable {
            let timer: Timer
            static func == (left: CommonTimer, right: CommonTimer) -> Bool { left.timer === right.timer }
            func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(timer)) }
        }

        enum Kind: Hashable, Sendable {
            case inMode(Name)
            case inCommonModes(CommonTimer)
            /// It came after the end of the loop's thread.
            case never
        }

        let kind: Kind
    }

    /// Runs a closure on the loop's thread when a delay has gone by, once.
    ///
    /// The lightest timer there is: in one mode it takes a place in a table and no object. It is served in the order of
    /// the dates with all other timers, keeps the mode from being empty, and wakes the loop.
    ///
    /// - Parameters:
    ///   - delay: How long to wait, on the monotonic clock; not positive means as soon as the loop turns.
    ///   - mode: The mode; `.common` for all common modes, which takes a ``Timer``.
    ///   - fileID: Where it was asked for.
    ///   - line: Where it was asked for.
    ///   - body: Runs once; released unrun when it is cancelled, or when the thread ends before.
    /// - Returns: What ``cancel(_:)`` takes.
    ///
    /// Corresponds to `performSelector:withObject:afterDelay:inModes:`; in Core Foundation to a timer that fires once.
    /// Thread safety: any thread. Complexity: O(log n) in the timers of the mode.
    @discardableResult
    public func perform(
        after delay: Duration, in mode: Mode = .default, fileID: StaticString = #fileID, line: UInt = #line,
        _ body: consuming @escaping @Sendable () -> Void
    ) -> Delayed {
        postpone(delay, mode, fileID, line, body)
    }

    /// Runs a closure that may use this thread's state when a delay has gone by, once.
    ///
    /// The parameters and the result are those of ``perform(after:in:fileID:line:_:)``.
    ///
    /// Precondition: called on the loop's own thread; any other traps.
    @available(
        *, noasync,
        message: "A task has no thread of its own: use perform with a @Sendable closure, or performOnMainActor."
    )
    @discardableResult
    public func performLocally(
        after delay: Duration, in mode: Mode = .default, fileID: StaticString = #fileID, line: UInt = #line,
        _ body: consuming @escaping () -> Void
    ) -> Delayed {
        requireLocal()
        return postpone(delay, mode, fileID, line, body)
    }

    /// Runs a closure on the main actor when a delay has gone by, once.
    ///
    /// The parameters and the result are those of ``perform(after:in:fileID:line:_:)``.
    /// Thread safety: any thread.
    @discardableResult
    public static func performOnMainActor(
        after delay: Duration, in mode: Mode = .default, fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @MainActor () -> Void
    ) -> Delayed {
        main.postpone(delay, mode, fileID, line) { MainActor.assumeIsolated(body) }
    }

    /// Cancels a closure that waits for its delay, and releases it.
    ///
    /// - Returns: Whether it will not run because of this call: `false` if it runs, has run, or was cancelled before. Of
    ///   another loop's it is always `false`.
    ///
    /// Corresponds to `cancelPreviousPerformRequestsWithTarget:`, for one request.
    /// Thread safety: any thread. Complexity: O(log n) in the timers of the mode.
    @discardableResult
    public func cancel(_ delayed: Delayed) -> Bool {
        checkNotForked()
        switch delayed.kind {
        case .never:
            return false
        case .inCommonModes(let common):
            guard common.timer.isValid, common.timer.belongs(to: self) else { return false }
            common.timer.invalidate()
            return true
        case .inMode(let name):
            if name.loop != number { return false }
            lock()
            let body = takeDelayed(name)
            unlock()
            // The closure goes when no lock is held.
            switch consume body {
            case .some: return true
            case .none: return false
            }
        }
    }

    @inline(__always)
    private func postpone(
        _ delay: Duration, _ mode: Mode, _ fileID: StaticString, _ line: UInt,
        _ body: consuming @escaping () -> Void
    ) -> Delayed {
        checkNotForked()
        let date = now(.monotonic).clampedAdding(max(0, delay.clampedNanoseconds))
        if mode == .common { return postponeInCommonModes(date, fileID, line, body) }
        let body = DelayedBody(
            call: body, file: fileID.utf8Start, line: UInt32(truncatingIfNeeded: line))
        lock()
        defer { unlock() }
        if isDead { return Delayed(kind: .never) }
        return Delayed(
            kind: .inMode(
                mode == .default
                    ? putDelayed(body, at: date, in: defaultMode)
                    : putDelayed(body, at: date, in: makeMode(mode))))
    }

    @inline(never)
    private func postponeInCommonModes(
        _ date: Int64, _ fileID: StaticString, _ line: UInt, _ body: @escaping () -> Void
    ) -> Delayed {
        let timer = Timer(onceAt: date, ItemLabel(nil, fileID, line), home: threadID) { timer in
            // Before it is called: from here on it cannot be cancelled.
            timer.invalidate()
            body()
        }
        return Delayed(kind: add(timer, in: .common) ? .inCommonModes(Delayed.CommonTimer(timer: timer)) : .never)
    }
}
