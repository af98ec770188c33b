// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if ServiceLifecycle
public import RunLoops
internal import RunLoopsConcurrency
public import ServiceLifecycle

/// Adds items to a run loop as a service of a `ServiceGroup`.
///
/// The service starts with a closure on the loop's thread, which adds timers and sources. It then runs until the group
/// shuts down gracefully, its task is cancelled, or the loop's thread ends. It stops with another closure on that
/// thread, which takes the timers and sources out. The loop has to run: the main loop does after `RunLoop.adoptMain()`,
/// in a program whose `main` awaits the group:
///
/// ```swift
/// @main struct App {
///     static func main() async throws {
///         RunLoop.adoptMain()
///         let heart = RunLoopService(on: .main) { loop in … } stop: { loop in … }
///         try await ServiceGroup(
///             services: [heart], gracefulShutdownSignals: [.sigterm], logger: logger).run()
///     }
/// }
/// ```
///
/// The manifest names this package's trait, and the packages whose types the program uses:
///
/// ```swift
/// .package(url: …, from: …, traits: ["ServiceLifecycle"]),
/// .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
/// .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
/// ```
///
/// The loop's thread has to live until the service has stopped. A group starts its services in order and stops them in
/// reverse order: stop the thread after `group.run()`, or make the thread the first service. The article *With Swift
/// concurrency* of `RunLoopsConcurrency` shows such a service, which awaits `RunLoopThread.ended()`.
///
/// A `SignalSource` of `RunLoopsEvents` and the group may have the same signal: both receive it. A source that is made before the
/// group runs notices the group when the service starts.
///
/// Thread safety: a value; any thread.
public struct RunLoopService: Service, CustomStringConvertible {
    /// The loop.
    public let loop: RunLoop
    private let mode: RunLoop.Mode
    private let start: @Sendable (RunLoop) throws -> Void
    private let stop: @Sendable (RunLoop) -> Void

    /// Makes a service on a loop.
    ///
    /// - Parameters:
    ///   - loop: The loop, which has to run.
    ///   - mode: The mode that the closures run in; `.common` for all common modes.
    ///   - start: Adds the items of the service; called on the loop's thread. An error that it throws ends the service.
    ///   - stop: Removes the items; called on the loop's thread, once, if `start` has not thrown.
    public init(
        on loop: RunLoop, in mode: RunLoop.Mode = .common, start: @escaping @Sendable (RunLoop) throws -> Void,
        stop: @escaping @Sendable (RunLoop) -> Void = { _ in }
    ) {
        self.loop = loop
        self.mode = mode
        self.start = start
        self.stop = stop
    }

    /// Calls `start`, waits for the shutdown, and calls `stop`.
    ///
    /// - Throws: The error of `start`; `CancellationError` if the task was cancelled before the service had started;
    ///   `ThreadEndedError` if the loop's thread has ended or ends meanwhile.
    public func run() async throws {
        let (loop, start, stop) = (loop, start, stop)
        try await loop.result(in: mode) { try start(loop) }
        // A source of its own, which lives as long as the thread: the end of the sequence shows that the thread has
        // ended.
        let (_, threadLives) = loop.performs(in: mode)
        await withGracefulShutdownHandler {
            for await _ in threadLives {}
        } onGracefulShutdown: {
            threadLives.invalidate()
        }
        // Cancelled or not: a started service is stopped. In a task of its own, which is not cancelled.
        try await Task.detached { [mode] in try await loop.result(in: mode) { stop(loop) } }.value
    }

    /// The service's name in logs.
    public var description: String { "RunLoopService(\(loop))" }
}
#else
public import RunLoops

// With the members of the real one: without them type checking would fail first, with an error that does not name the
// trait. What only the missing package could name is generic.
/// Work on a run loop, as a service of a group; with the trait `ServiceLifecycle` alone.
@available(
    *, unavailable,
    message: "Enable the trait ServiceLifecycle of swift-run-loops: .package(url: …, traits: [\"ServiceLifecycle\"])"
)
public struct RunLoopService: Sendable, CustomStringConvertible {
    /// Unavailable without the package trait `ServiceLifecycle`.
    public let loop: RunLoop

    /// Unavailable without the package trait `ServiceLifecycle`.
    public init(
        on loop: RunLoop, in mode: RunLoop.Mode = .common, start: @escaping @Sendable (RunLoop) throws -> Void,
        stop: @escaping @Sendable (RunLoop) -> Void = { _ in }
    ) { isNotCalled() }

    /// Unavailable without the package trait `ServiceLifecycle`.
    public func run() async throws { isNotCalled() }

    /// Unavailable without the package trait `ServiceLifecycle`.
    public var description: String { isNotCalled() }
}

private func isNotCalled() -> Never { fatalError("The compiler refuses each call of this.") }
#endif
