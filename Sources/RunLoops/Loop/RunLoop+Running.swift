extension RunLoop {
    /// Runs the default mode over and over until it is stopped or has nothing left to wait for.
    ///
    /// Precondition: called on the loop's own thread; any other traps.
    /// Corresponds to `CFRunLoopRun`.
    public func run() {
        var result: RunResult
        repeat {
            result = run(mode: .default, until: nil)
        } while result != .stopped && result != .finished
    }

    /// Runs in `mode` until there is a result.
    ///
    /// Runs nest: one that is begun in a callout of another has its own mode, limit and stop mark.
    ///
    /// - Parameters:
    ///   - mode: The mode. One that is empty or unknown, and `.common`, end the run at once with `finished`, and no
    ///     observer is told.
    ///   - instant: When the time is over; `nil` for never. One that has passed: the loop looks at everything once and
    ///     does not sleep.
    ///   - returnAfterSourceHandled: Whether the run ends after one source (or work of the main queue) was handled.
    /// - Returns: Why the run ended.
    ///
    /// Precondition: called on the loop's own thread; `instant` is on the monotonic clock.
    /// Corresponds to `CFRunLoopRunInMode`. The limit takes no timer and no thread.
    /// Complexity: to begin, O(n) in the modes of the loop, but for the default one; a turn is O(1) in them.
    @discardableResult
    public func run(mode: Mode, until instant: Instant?, returnAfterSourceHandled: Bool = false) -> RunResult {
        guard let instant else { return run(mode, .max, returnAfterSourceHandled) }
        require(
            instant.base == .monotonic,
            "A run ends at an instant of the monotonic clock, and was given one of the \(instant.base) clock.")
        let isPast = instant.nanoseconds <= engine.kernel.now(.monotonic)
        return run(mode, isPast ? .min : instant.nanoseconds, returnAfterSourceHandled)
    }

    /// Runs in `mode` for `duration` at most; one that is not positive polls once.
    ///
    /// The parameters and the result are those of ``run(mode:until:returnAfterSourceHandled:)``.
    @discardableResult
    public func run(mode: Mode, for duration: Duration, returnAfterSourceHandled: Bool = false) -> RunResult {
        let nanoseconds = duration.clampedNanoseconds
        if nanoseconds <= 0 { return run(mode, .min, returnAfterSourceHandled) }
        return run(
            mode, engine.kernel.now(.monotonic).clampedAdding(nanoseconds), returnAfterSourceHandled)
    }

    /// Looks once at everything that is ready in `mode`, does it, and returns without sleeping.
    ///
    /// The result is `timedOut` unless there is a better reason. One turn: of several ready descriptors one is served.
    @discardableResult
    public func poll(mode: Mode = .default, returnAfterSourceHandled: Bool = false) -> RunResult {
        run(mode, .min, returnAfterSourceHandled)
    }

    private func run(_ mode: Mode, _ limit: Int64, _ returnAfterSourceHandled: Bool) -> RunResult {
        if mode == .common {
            Notice.runInCommonModes.sayOnce()
            return .finished
        }
        return engine.run(mode, until: limit, returnAfterSourceHandled: returnAfterSourceHandled)
    }
}
