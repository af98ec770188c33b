// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops
internal import RunLoopsLibC

/// Runs the program as a service, which starts, reloads and ends in good order, and tells the service manager, if there
/// is one.
///
/// ```swift
/// let service = try ManagedService { error in print("the service manager does not hear: \(error)") }
/// try service.run(reload: { print("read the settings again") }, end: { done in done() })
/// ```
///
/// | When | The service manager receives | The program is called |
/// |---|---|---|
/// | ``run(reload:end:within:)`` begins | `READY=1` | |
/// | `SIGHUP` comes, or ``reload()`` is called | `RELOADING=1`, then `READY=1` | `reload`, between the two |
/// | the first of `SIGTERM` and `SIGINT` comes, or ``end()`` is called | `STOPPING=1` | `end` |
/// | `end` calls its argument | | ``run(reload:end:within:)`` returns |
/// | the time that `end` has is over | `STATUS=` with a sentence | ``run(reload:end:within:)`` returns |
/// | half of the watchdog's interval is over, if the unit has `WatchdogSec=` | `WATCHDOG=1` | |
///
/// The second `SIGTERM`, or the second `SIGINT`, has its usual effect: it ends the process at once. A program that no
/// service manager has started is called in the same way, and nothing is sent.
///
/// Corresponds to `sd_notify(3)` and the protocol `Type=notify-reload` of systemd, and needs no library of systemd's.
///
/// Thread safety: the service belongs to the thread that makes it.
public final class ManagedService {
    /// How a service has ended.
    public enum Ending: Hashable, Sendable {
        /// The work has ended: `end` has called its argument.
        case finished
        /// The time was over, and `end` had not called its argument.
        case timedOut
        /// Other code has stopped the loop.
        case stopped
    }

    /// The service manager's socket; `nil` if no service manager has started the program.
    public let manager: NotifySocket?

    private let loop = RunLoop.current
    private let onFailure: @Sendable (ServiceManagerError) -> Void
    private let watchdog: RunLoop.Timer?
    private var signals: [SignalSource] = []
    private var reloading: (() -> Void)?
    private var ending: ((@escaping () -> Void) -> Void)?
    /// How long `end` may take; `nil` for as long as it likes.
    private var limit: Duration?
    private var limitTimer: RunLoop.Timer?
    private var isEnding = false
    /// How the present call of ``run(reload:end:within:)`` has ended.
    private var result = Ending.stopped
    /// Whether the work of the present call of ``run(reload:end:within:)`` has ended.
    private var isOver = false
    /// The number of calls of ``run(reload:end:within:)``; the end of an earlier call does not end a later one.
    private var calls = 0
    /// The run of the loop that the present call waits in.
    private var serviceRun: RunLoop.RunID?

    /// Makes a service that runs the current thread's loop.
    ///
    /// The variables of the service manager are read, and `NOTIFY_SOCKET` is removed, so that processes that the
    /// program starts do not tell the service manager too. Make the service before the program has other threads, which
    /// may be reading the environment.
    ///
    /// - Parameter onFailure: Called on the loop's thread with an error of sending. The service continues.
    /// - Throws: ``ServiceManagerError/environment(variable:value:)`` if a variable has a malformed value.
    public init(onFailure: @escaping @Sendable (ServiceManagerError) -> Void = { _ in }) throws(ServiceManagerError) {
        manager = try NotifySocket.fromEnvironment(unsetting: true)
        watchdog = try manager?.watchdogTimer(onFailure: onFailure)
        self.onFailure = onFailure
    }

    /// Runs the loop until the service has ended.
    ///
    /// The call does not remove what the program has added to the loop: sockets, timers and files continue until the
    /// program invalidates them. If other code stops the loop, the service manager receives `STOPPING=1`, and the call
    /// returns.
    ///
    /// - Parameters:
    ///   - reload: Reads the configuration again; `nil` leaves `SIGHUP` alone. If that fails, the service continues
    ///     with the old one.
    ///   - end: Ends the work, and calls its argument when the work has ended, at once or later, on the loop's thread. The
    ///     argument also ends the runs of the loop that the program has begun in callouts.
    ///   - limit: How long the end may take, from `STOPPING=1` on; `nil` for no limit. When the time is over, the service manager receives
    ///     a `STATUS=` that says so, and the service ends as if the argument had been called. The work's own timers and
    ///     sources stay in the loop. Zero or less: the next turn. The limit is checked between callouts: one that does not
    ///     return is ended by the service manager (`TimeoutStopSec=`), or by the second signal.
    /// - Returns: How the service has ended: a program that was not done in time may say so, and exit with an error.
    /// - Throws: What making and adding a ``SignalSource`` throws: `EMFILE`, `ENFILE` and `ENOMEM` when a resource of
    ///   the system is used up.
    ///
    /// - Precondition: called on the thread that made the service, and not within itself.
    @discardableResult
    public func run(
        reload: (() -> Void)? = nil, end: @escaping (_ done: @escaping () -> Void) -> Void = { done in done() },
        within limit: Duration? = nil
    ) throws(RunLoop.SystemCallError) -> Ending {
        loop.requireOwn("service")
        require(loop === RunLoop.current, "A service runs the loop that was the thread's when it was made.")
        require(ending == nil, "The service is running: call run once at a time.")
        (reloading, ending, isEnding, isOver) = (reload, end, false, false)
        (self.limit, result) = (limit, .stopped)
        calls += 1
        defer {
            for source in signals { source.invalidate() }
            if let watchdog { loop.remove(watchdog, from: .common) }
            limitTimer?.invalidate()
            (reloading, ending, signals, serviceRun, limitTimer) = (nil, nil, [], nil, nil)
        }
        if reload != nil { try listen(to: SIGHUP, "SIGHUP") { service, _ in service.reload() } }
        for (signal, name) in [(SIGTERM, "SIGTERM"), (SIGINT, "SIGINT")] {
            try listen(to: signal, name) { service, source in
                // The next one ends the process at once.
                source.invalidate()
                service.end()
            }
        }
        if let watchdog { loop.add(watchdog, in: .common) }
        send(.ready)
        // The program may have ended the service in a call of onFailure.
        if !isOver {
            serviceRun = loop.nextRun
            loop.run(in: .default, until: nil)
        }
        if !isEnding { send(.stopping) }
        return result
    }

    /// Sends states to the service manager, if there is one.
    ///
    /// - Precondition: called on the thread that made the service.
    public func send(_ states: NotifySocket.State...) {
        loop.requireOwn("service")
        do throws(ServiceManagerError) { try manager?.send(states) } catch { onFailure(error) }
    }

    /// Does what `SIGHUP` does, for a program that notices a new configuration itself; does nothing while the service
    /// ends.
    ///
    /// - Precondition: called on the thread that made the service.
    public func reload() {
        loop.requireOwn("service")
        guard let reloading, !isEnding else { return }
        send(.reloading)
        reloading()
        send(.ready)
    }

    /// Does what `SIGTERM` does, for a program that ends by itself; does nothing while the service ends.
    ///
    /// - Precondition: called on the thread that made the service.
    public func end() {
        loop.requireOwn("service")
        guard let ending, !isEnding else { return }
        isEnding = true
        send(.stopping)
        if let limit {
            let timer = RunLoop.Timer(.after(limit), label: "limit of a service's end") { [weak self, calls] _ in
                self?.finish(calls, .timedOut)
            }
            limitTimer = timer
            loop.add(timer, in: .common)
        }
        ending { [weak self, calls] in self?.finish(calls, .finished) }
    }

    /// Ends the service's run of the loop, and the runs that the program has begun in it.
    private func finish(_ call: Int, _ result: Ending) {
        loop.requireOwn("service")
        // Once, and not after the run has been stopped by other code.
        guard ending != nil, call == calls, !isOver else { return }
        isOver = true
        self.result = result
        if result == .timedOut, let limit { send(.status("The end was not done within \(limit).")) }
        if let serviceRun { loop.stop(through: serviceRun) }
    }

    private func listen(
        to signal: CInt, _ label: String, _ body: @escaping (ManagedService, SignalSource) -> Void
    ) throws(RunLoop.SystemCallError) {
        let source = try SignalSource(signal, label: label) { [unowned self] source, _ in body(self, source) }
        signals.append(source)
        try loop.add(source, in: .common)
    }
}
