// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The names of Foundation that people type first, and their names here. None of them can be called: the compiler names
// the remedy, and corrects the call where only names differ. Completion and documentation leave these declarations out.
// FoundationRunLoop has all names, and they work.
//
// Dates are generic where Foundation has a type of its own, which this module does not import.

extension RunLoop {
    /// Unavailable, so that the compiler names the replacement of Foundation's `add(_:forMode:)`.
    @available(*, unavailable, renamed: "add(_:in:)")
    public func add<Added>(_ item: Added, forMode mode: Mode) { isNotCalled() }

    /// Unavailable, so that the compiler names the replacement of Foundation's `perform(inModes:block:)`.
    @available(*, unavailable, renamed: "perform(in:_:)")
    public func perform(inModes modes: [Mode], block: @escaping @Sendable () -> Void) { isNotCalled() }

    /// Unavailable, so that the compiler names the replacement of Foundation's `run(mode:before:)`.
    @available(
        *, unavailable,
        message: "Use run(in:for:returnsAfterSource: true), or run(in:until:) with a RunLoop.Instant."
    )
    @discardableResult
    public func run<Date>(mode: Mode, before limit: Date) -> Bool { isNotCalled() }

    /// Unavailable, so that the compiler names the replacement of Foundation's `run(until:)`.
    @available(
        *, unavailable,
        message: "Use run(in: .default, for:) with a Duration, or run(in: .default, until:) with a RunLoop.Instant."
    )
    public func run<Date>(until limit: Date) { isNotCalled() }
}

extension RunLoop.Timer {
    /// Unavailable, so that the compiler names the replacement of Foundation's function of this name.
    @available(
        *, unavailable,
        message: "Make a RunLoop.Timer(.every(interval)) or (.after(delay)), and add it to a loop: add(_:in:)."
    )
    @discardableResult
    public static func scheduledTimer(
        withTimeInterval interval: Double, repeats: Bool, block: @escaping (RunLoop.Timer) -> Void
    ) -> RunLoop.Timer { isNotCalled() }

    // Of any type: the error is then the name alone, also where a Date is assigned.
    /// Unavailable, so that the compiler names the replacement of Foundation's `fireDate`.
    @available(*, unavailable, renamed: "deadline")
    public var fireDate: Any {
        get { isNotCalled() }
        set { isNotCalled() }
    }
}

private func isNotCalled() -> Never { fatalError("The compiler refuses each call of this.") }
