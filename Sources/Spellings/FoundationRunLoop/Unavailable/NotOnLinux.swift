// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
public import Foundation

// What stands on Mach, on Combine or on distributed objects, none of which Linux has.

/// Apple's port on a Mach port, which is not available here.
@available(
    *, unavailable,
    message: "Linux has no Mach ports: use MessagePort between threads, SocketPort or RunLoopsPorts between processes."
)
public typealias NSMachPort = Port

/// Apple's name server of the message ports of other processes, which is not available here.
@available(*, unavailable, message: "Use RunLoopsPorts, whose message ports have names between processes.")
public typealias MessagePortNameServer = Port

/// Apple's name server of socket ports, which is not available here.
@available(*, unavailable, message: "Pass the port's address on, or use RunLoopsPorts, whose message ports have names.")
public typealias SocketPortNameServer = Port

/// Apple's name server of ports, which is not available here.
@available(*, unavailable, message: "Use RunLoopsPorts, whose message ports have names between processes.")
public typealias PortNameServer = Port

extension Timer {
    /// Apple's `publish(every:tolerance:on:in:options:)` for Combine, which is not available here.
    @available(
        *, unavailable, message: "Linux has no Combine: use native.ticks(every:) of RunLoopsConcurrency, or a Timer."
    )
    public static func publish<Options>(
        every interval: TimeInterval, tolerance: TimeInterval? = nil, on runLoop: RunLoop, in mode: RunLoop.Mode,
        options: Options? = Never?.none
    ) -> NoPublisher { isNotCalled() }
}

/// Apple's `Timer.TimerPublisher`, for Combine.
///
/// The type lets the rest of a chain of calls compile, so that the compiler reports only the call at its beginning.
public enum NoPublisher {
    /// Apple's `autoconnect()`, which is not available here.
    public func autoconnect() -> NoPublisher { isNotCalled() }
    /// Apple's `connect()`, which is not available here.
    public func connect() -> NoPublisher { isNotCalled() }
    /// Apple's `sink(receiveValue:)`, which is not available here.
    public func sink(receiveValue: (Date) -> Void) -> NoPublisher { isNotCalled() }
    /// Apple's `store(in:)`, which is not available here.
    public func store<Cancellables>(in set: inout Cancellables) { isNotCalled() }
    /// Apple's `cancel()`, which is not available here.
    public func cancel() { isNotCalled() }
}

/// Apple's display link, which is not available here.
@available(
    *, unavailable,
    message: "Use DisplayLink of RunLoopsKit: RunLoop.current.native is the loop that it is added to."
)
public typealias CADisplayLink = Port

extension Thread {
    /// Apple's `init(target:selector:object:)`, which is not available here.
    @available(
        *, unavailable,
        message: "Swift on Linux has no selectors: use init(block:), whose closure captures the rest."
    )
    public convenience init<Selector>(target: Any, selector: Selector, object argument: Any?) {
        isNotCalled()
    }

    /// Apple's `detachNewThreadSelector(_:toTarget:with:)`, which is not available here.
    @available(
        *, unavailable,
        message: "Swift on Linux has no selectors: use detachNewThread(_:), whose closure captures the rest."
    )
    public class func detachNewThreadSelector<Selector>(
        _ selector: Selector, toTarget target: Any, with argument: Any?
    ) {
        isNotCalled()
    }
}

extension RunLoop {
    /// Apple's `schedule(options:_:)` for Combine, which is not available here.
    @available(*, unavailable, message: "Linux has no Combine: use perform(_:).")
    public func schedule(_ action: @escaping () -> Void) { isNotCalled() }

    /// Apple's `schedule(after:tolerance:options:_:)` for Combine, which is not available here.
    @available(*, unavailable, message: "Linux has no Combine: add a Timer.")
    public func schedule<Time>(after date: Time, _ action: @escaping () -> Void) { isNotCalled() }

    /// Apple's `configureAsServer()`, which does nothing on Apple's systems either.
    @available(*, unavailable, message: "Does nothing on Apple's systems either: leave it out.")
    public func configureAsServer() { isNotCalled() }
}

private func isNotCalled() -> Never { fatalError("The compiler refuses each call of this.") }
#endif
