// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
public import Foundation

// What of Foundation's names takes a selector on Apple's systems. Generic in the type of the selector, since Linux has none.

extension Timer {
    /// Apple's `init(timeInterval:target:selector:userInfo:repeats:)`, which is not available here.
    @available(
        *, unavailable,
        message:
            "Swift on Linux has no selectors: use init(timeInterval:repeats:block:), whose closure captures the rest."
    )
    public convenience init<Selector>(
        timeInterval interval: TimeInterval, target: Any, selector: Selector, userInfo: Any?, repeats: Bool
    ) { isNotCalled() }

    /// Apple's `init(fireAt:interval:target:selector:userInfo:repeats:)`, which is not available here.
    @available(
        *, unavailable,
        message:
            "Swift on Linux has no selectors: use init(fire:interval:repeats:block:), whose closure captures the rest."
    )
    public convenience init<Selector>(
        fireAt date: Date, interval: TimeInterval, target: Any, selector: Selector, userInfo: Any?, repeats: Bool
    ) { isNotCalled() }

    /// Apple's `scheduledTimer(timeInterval:target:selector:userInfo:repeats:)`, which is not available here.
    @available(
        *, unavailable,
        message:
            "Swift on Linux has no selectors: use scheduledTimer(withTimeInterval:repeats:block:), whose closure captures the rest."
    )
    @discardableResult
    public class func scheduledTimer<Selector>(
        timeInterval interval: TimeInterval, target: Any, selector: Selector, userInfo: Any?, repeats: Bool
    ) -> Timer { isNotCalled() }
}

extension RunLoop {
    /// Apple's `perform(_:target:argument:order:modes:)`, which is not available here.
    @available(
        *, unavailable, message: "Swift on Linux has no selectors: use perform(target:order:modes:block:)."
    )
    public func perform<Selector>(
        _ selector: Selector, target: Any, argument: Any?, order: Int, modes: [Mode]
    ) { isNotCalled() }

    /// Apple's `cancelPerform(_:target:argument:)`, which is not available here.
    @available(*, unavailable, message: "Swift on Linux has no selectors: use cancelPerforms(withTarget:).")
    public func cancelPerform<Selector>(_ selector: Selector, target: Any, argument: Any?) { isNotCalled() }

    /// Apple's `cancelPerformSelectors(withTarget:)`, which is not available here.
    @available(*, unavailable, renamed: "cancelPerforms(withTarget:)")
    public func cancelPerformSelectors(withTarget target: Any) { isNotCalled() }
}

extension NSObject {
    /// Apple's `perform(_:with:afterDelay:)`, which is not available here.
    @available(
        *, unavailable,
        message: "Swift on Linux has no selectors: use RunLoop.current.perform(target:afterDelay:inModes:block:)."
    )
    public func perform<Selector>(_ selector: Selector, with argument: Any?, afterDelay delay: TimeInterval) {
        isNotCalled()
    }

    /// Apple's `perform(_:with:afterDelay:inModes:)`, which is not available here.
    @available(
        *, unavailable,
        message: "Swift on Linux has no selectors: use RunLoop.current.perform(target:afterDelay:inModes:block:)."
    )
    public func perform<Selector>(
        _ selector: Selector, with argument: Any?, afterDelay delay: TimeInterval,
        inModes modes: [FoundationRunLoop.RunLoop.Mode]
    ) { isNotCalled() }

    /// Apple's `perform(_:on:with:waitUntilDone:)`, which is not available here.
    @available(
        *, unavailable,
        message:
            "Swift on Linux has no selectors: pass the thread's RunLoop, and use perform(inModes:waitUntilDone:block:)."
    )
    public func perform<Selector>(
        _ selector: Selector, on thread: Thread, with argument: Any?, waitUntilDone wait: Bool
    ) { isNotCalled() }

    /// Apple's `perform(_:on:with:waitUntilDone:modes:)`, which is not available here.
    @available(
        *, unavailable,
        message:
            "Swift on Linux has no selectors: pass the thread's RunLoop, and use perform(inModes:waitUntilDone:block:)."
    )
    public func perform<Selector>(
        _ selector: Selector, on thread: Thread, with argument: Any?, waitUntilDone wait: Bool, modes: [String]?
    ) { isNotCalled() }

    /// Apple's `performSelector(onMainThread:with:waitUntilDone:)`, which is not available here.
    @available(
        *, unavailable,
        message: "Swift on Linux has no selectors: use RunLoop.main.perform(inModes:waitUntilDone:block:)."
    )
    public func performSelector<Selector>(
        onMainThread selector: Selector, with argument: Any?, waitUntilDone wait: Bool
    ) { isNotCalled() }

    /// Apple's `performSelector(onMainThread:with:waitUntilDone:modes:)`, which is not available here.
    @available(
        *, unavailable,
        message: "Swift on Linux has no selectors: use RunLoop.main.perform(inModes:waitUntilDone:block:)."
    )
    public func performSelector<Selector>(
        onMainThread selector: Selector, with argument: Any?, waitUntilDone wait: Bool, modes: [String]?
    ) { isNotCalled() }

    /// Apple's `performSelector(inBackground:with:)`, which is not available here.
    @available(*, unavailable, message: "Swift on Linux has no selectors: use Thread.detachNewThread(_:).")
    public func performSelector<Selector>(inBackground selector: Selector, with argument: Any?) { isNotCalled() }

    /// Apple's `cancelPreviousPerformRequests(withTarget:)`, which is not available here.
    @available(
        *, unavailable, message: "Requests belong to a loop: use RunLoop.current.cancelPerforms(withTarget:)."
    )
    public class func cancelPreviousPerformRequests(withTarget target: Any) { isNotCalled() }

    /// Apple's `cancelPreviousPerformRequests(withTarget:selector:object:)`, which is not available here.
    @available(
        *, unavailable, message: "Requests belong to a loop: use RunLoop.current.cancelPerforms(withTarget:)."
    )
    public class func cancelPreviousPerformRequests<Selector>(
        withTarget target: Any, selector: Selector, object argument: Any?
    ) { isNotCalled() }
}

private func isNotCalled() -> Never { fatalError("The compiler refuses each call of this.") }
#endif
