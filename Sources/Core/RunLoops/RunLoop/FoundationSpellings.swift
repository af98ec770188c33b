// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Names of Foundation and Core Foundation, and their names here. None of them can be called: the compiler names the
// remedy, and corrects the call where only names differ. Completion and documentation leave all of it out.
//
// Dates and intervals are generic where Foundation has a type of its own, which this module does not import.

extension RunLoop {
    /// Foundation's `add(_:forMode:)`.
    @available(*, unavailable, renamed: "add(_:in:)")
    public func add<Added>(_ item: Added, forMode mode: Mode) { isNotCalled() }

    /// Foundation's `remove(_:forMode:)`.
    @available(*, unavailable, renamed: "remove(_:from:)")
    public func remove<Removed>(_ item: Removed, forMode mode: Mode) { isNotCalled() }

    /// Foundation's `perform(inModes:block:)`.
    @available(*, unavailable, renamed: "perform(in:_:)")
    public func perform(inModes modes: [Mode], block: @escaping @Sendable () -> Void) { isNotCalled() }

    /// Foundation's `run(mode:before:)`.
    @available(
        *, unavailable,
        message: "Use run(mode:for:returnAfterSourceHandled: true), or run(mode:until:) with a RunLoop.Instant."
    )
    @discardableResult
    public func run<Date>(mode: Mode, before limit: Date) -> Bool { isNotCalled() }

    /// Foundation's `run(until:)`.
    @available(
        *, unavailable,
        message: "Use run(mode: .default, for:) with a Duration, or run(mode: .default, until:) with a RunLoop.Instant."
    )
    public func run<Date>(until limit: Date) { isNotCalled() }

    // The same with a type: with a generic date alone, the compiler says of `.distantFuture` only that it has no
    // context.
    /// Foundation's `run(mode:before:)` with an instant.
    @available(
        *, unavailable,
        message:
            "Use run(mode:until:returnAfterSourceHandled: true), with nil for no limit; or poll(mode:) for no wait."
    )
    @discardableResult
    public func run(mode: Mode, before limit: Instant) -> Bool { isNotCalled() }

    /// Foundation's `run(until:)` with an instant.
    @available(
        *, unavailable, message: "Use run(mode: .default, until:), with nil for no limit; or poll(mode:) for no wait."
    )
    public func run(until limit: Instant) { isNotCalled() }

    /// Foundation's `acceptInput(forMode:before:)`.
    @available(
        *, unavailable, message: "Use run(mode:for:returnAfterSourceHandled: true) with a Duration, or poll(mode:)."
    )
    public func acceptInput<Date>(forMode mode: Mode, before limit: Date) { isNotCalled() }

    /// Foundation's `limitDate(forMode:)`.
    @available(
        *, unavailable,
        message: "Use poll(mode:) to serve what is ready, and nextTimerDeadline(in:) to ask when the next timer is due."
    )
    public func limitDate(forMode mode: Mode) -> Never { isNotCalled() }

    /// The static `performOnMainActor`, asked of a loop.
    @available(
        *, unavailable,
        message: "The main actor has one loop: RunLoop.performOnMainActor { … }, whatever loop you have."
    )
    public func performOnMainActor(_ body: @escaping @MainActor () -> Void) { isNotCalled() }

    /// Foundation's `getCFRunLoop()`.
    @available(
        *, unavailable,
        message: "There is no CFRunLoop underneath. RunLoop itself has stop(), wakeUp(), perform(_:) and modes."
    )
    public func getCFRunLoop() -> RunLoop { isNotCalled() }
}

extension RunLoop.Instant {
    /// Foundation's `Date.distantFuture`.
    @available(*, unavailable, message: "A run without a limit has nil in its place: run(mode: .default, until: nil).")
    public static var distantFuture: RunLoop.Instant { isNotCalled() }

    /// Foundation's `Date.distantPast`.
    @available(*, unavailable, message: "A run that does not wait is poll(mode:).")
    public static var distantPast: RunLoop.Instant { isNotCalled() }
}

extension RunLoop.Mode {
    /// AppKit's `eventTracking`.
    @available(*, unavailable, renamed: "tracking")
    public static var eventTracking: RunLoop.Mode { isNotCalled() }

    /// Core Foundation's `CFRunLoopMode.defaultMode`.
    @available(*, unavailable, renamed: "default")
    public static var defaultMode: RunLoop.Mode { isNotCalled() }

    /// Core Foundation's `CFRunLoopMode.commonModes`.
    @available(*, unavailable, renamed: "common")
    public static var commonModes: RunLoop.Mode { isNotCalled() }
}

extension RunLoop.Timer {
    /// Foundation's `scheduledTimer(withTimeInterval:repeats:block:)`.
    @available(
        *, unavailable,
        message: "Make a RunLoop.Timer(.every(interval)) or (.after(delay)), and add it to a loop: add(_:in:)."
    )
    @discardableResult
    public static func scheduledTimer(
        withTimeInterval interval: Double, repeats: Bool, block: @escaping (RunLoop.Timer) -> Void
    ) -> RunLoop.Timer { isNotCalled() }

    /// Foundation's `Timer(timeInterval:repeats:block:)`.
    @available(
        *, unavailable, message: "Use RunLoop.Timer(.every(interval)), or (.after(delay)) for one that fires once."
    )
    public convenience init(
        timeInterval interval: Double, repeats: Bool, block: @escaping (RunLoop.Timer) -> Void
    ) { isNotCalled() }

    /// Foundation's `Timer(fire:interval:repeats:block:)`.
    @available(
        *, unavailable, message: "Use RunLoop.Timer(.at(instant, every: interval)), or .after(delay, every: interval)."
    )
    public convenience init<Date>(
        fire date: Date, interval: Double, repeats: Bool, block: @escaping (RunLoop.Timer) -> Void
    ) { isNotCalled() }

    /// Foundation's `repeats:`, beside a schedule.
    @available(
        *, unavailable,
        message: "A schedule says whether its timer repeats: .every(interval) does, and .after(delay) fires once."
    )
    public convenience init(
        _ schedule: Schedule, repeats: Bool, handler: @escaping (RunLoop.Timer) -> Void
    ) { isNotCalled() }

    // Of any type: the error is then the name alone, also where a Date is assigned.
    /// Foundation's `fireDate`.
    @available(*, unavailable, renamed: "fireInstant")
    public var fireDate: Any {
        get { isNotCalled() }
        set { isNotCalled() }
    }

    /// Foundation's `timeInterval`.
    @available(*, unavailable, renamed: "interval")
    public var timeInterval: Duration? { isNotCalled() }
}

extension RunLoop.Item {
    // Of all items, because a timer has a field of this name.
    /// Foundation's `Timer.fire()`.
    @available(
        *, unavailable, message: "Use restart(after: .zero) to have a timer fire in the next turn, or call its closure."
    )
    public final func fire() { isNotCalled() }
}

private func isNotCalled() -> Never { fatalError("The compiler refuses each call of this.") }
