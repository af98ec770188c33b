// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension NotifySocket {
    /// Returns the longest time that may pass between two keep-alives to the service manager; `nil` if the manager does
    /// not watch this process.
    ///
    /// Corresponds to `sd_watchdog_enabled(3)`; the variables are `WATCHDOG_USEC` and `WATCHDOG_PID`.
    /// - Throws: ``ServiceManagerError/environment(variable:value:)`` if a variable is not a positive number.
    public static func watchdogInterval() throws(ServiceManagerError) -> Duration? {
        guard let microseconds = try ServiceEnvironment.number("WATCHDOG_USEC", Int64(1)..<Int64.max) else {
            return nil
        }
        return try ServiceEnvironment.isForThisProcess("WATCHDOG_PID", orElse: true) ? .microseconds(microseconds) : nil
    }

    /// Returns a timer that tells the service manager that the loop turns, twice in each of the watchdog's intervals.
    ///
    /// ```swift
    /// if let manager = try NotifySocket.fromEnvironment(), let timer = try manager.watchdogTimer(onFailure: { print($0) }) {
    ///     loop.add(timer, in: .common)
    /// }
    /// ```
    ///
    /// The loop itself sends. While the loop hangs, or runs in a mode that the timer is not in, it sends nothing, and
    /// the service manager ends the program when the interval is over. Add the timer to the loop whose hangs are to end
    /// the program, and to no second loop: that one would go on sending for the first.
    ///
    /// - Parameters:
    ///   - label: The timer's name in descriptions and tools.
    ///   - onFailure: Called on the loop's thread with what ``send(_:descriptors:)-(NotifySocket.State...,_)`` threw. The
    ///     timer goes on.
    /// - Returns: `nil` if the service manager does not watch this process: then the loop has one wake-up less.
    /// - Throws: What ``watchdogInterval()`` throws.
    public func watchdogTimer(
        label: String = "watchdog", onFailure: @escaping @Sendable (ServiceManagerError) -> Void
    ) throws(ServiceManagerError) -> RunLoop.Timer? {
        try Self.watchdogInterval().map { watchdogTimer(interval: $0, label: label, onFailure: onFailure) }
    }

    /// Makes a timer that tells the service manager that the loop turns, twice in each `interval` of the watchdog.
    ///
    /// - Precondition: `interval` is at least two nanoseconds.
    public func watchdogTimer(
        interval: Duration, label: String = "watchdog", onFailure: @escaping @Sendable (ServiceManagerError) -> Void
    ) -> RunLoop.Timer {
        // The tolerance joins this wake-up with others of the loop; two fifths of the interval are left.
        .sendable(.after(.zero, every: interval / 2), tolerance: interval / 10, label: label) { _ in
            do throws(ServiceManagerError) { try send(.watchdog) } catch { onFailure(error) }
        }
    }
}
