// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops
internal import RunLoopsConcurrency

extension RunLoop {
    /// Connects to an address, and waits until the connection is made or refused.
    ///
    /// ```swift
    /// let socket = try await loop.connect(to: .unix("/run/service.socket"))
    /// ```
    ///
    /// When a host does not answer, the kernel gives up after about two minutes; `RunLoop.withTimeout` sets a limit
    /// of your own. When the task is cancelled, the attempt ends.
    ///
    /// - Parameters:
    ///   - address: Where to connect to.
    ///   - mode: The mode in which the connection is waited for; `.common` for all common modes.
    /// - Returns: The connected socket.
    /// - Throws: A ``/RunLoops/RunLoop/SystemCallError`` as ``SocketConnector`` reports it; what adding an event source throws;
    ///   `CancellationError`; `ThreadEndedError` when the loop's thread has ended.
    public func connect(to address: SocketAddress, in mode: Mode = .common) async throws -> Socket {
        try Task.checkCancellation()
        let outcome = Outcome<Socket>()
        let connector = try begin(Duty(outcome), address, mode)
        return try await withTaskCancellationHandler {
            try await outcome.value(of: "a connection to \(address)")
        } onCancel: {
            outcome.settle(.failure(CancellationError()))
            connector.source?.invalidate()
        }
    }

    /// Looks up the name of a host, and connects to the first of its addresses that answers.
    ///
    /// ```swift
    /// let socket = try await loop.connect(to: .host("localhost", 8080))
    /// ```
    ///
    /// The lookup and the attempts are those of ``HostConnector``. When the task is cancelled, the call ends: the
    /// attempts are closed, and the result of a lookup under way is dropped.
    ///
    /// - Parameters:
    ///   - host: The host and the port or service there.
    ///   - limit: How long the lookup and the attempts may take together, on the loop's monotonic clock.
    ///   - mode: The mode in which the connection is waited for; `.common` for all common modes.
    /// - Returns: The connected socket.
    /// - Throws: A ``HostError``; what adding an event source throws; `CancellationError`; `ThreadEndedError` when the
    ///   loop's thread has ended.
    public func connect(
        to host: HostAddress, within limit: Duration = .seconds(30), in mode: Mode = .common
    ) async throws -> Socket {
        try await connect(to: host, within: limit, by: LookupThreads.shared.own, in: mode)
    }

    func connect(
        to host: HostAddress, within limit: Duration, by threads: LookupThreads, in mode: Mode
    ) async throws -> Socket {
        try Task.checkCancellation()
        let outcome = Outcome<Socket>()
        let connector = try begin(Duty(outcome), host, limit, threads, mode)
        return try await withTaskCancellationHandler {
            try await outcome.value(of: "a connection to \(host)")
        } onCancel: {
            outcome.settle(.failure(CancellationError()))
            connector.source?.invalidate()
        }
    }

    private func begin(
        _ duty: Duty<Socket>, _ host: HostAddress, _ limit: Duration, _ threads: LookupThreads, _ mode: Mode
    ) throws(SystemCallError) -> WeakSource {
        let connector = try HostConnector(host, limit, threads, .anywhere("connect", #fileID, #line)) { _, result in
            duty.outcome.settle(result.mapError { $0 })
        }
        try add(connector, in: mode)
        return WeakSource(source: connector)
    }

    // The loop alone keeps the connector: no variable of an async function may.
    private func begin(_ duty: Duty<Socket>, _ address: SocketAddress, _ mode: Mode) throws(SystemCallError)
        -> WeakSource
    {
        let connector = try SocketConnector.sendable(to: address, label: "connect") { _, result in
            duty.outcome.settle(result.mapError { $0 })
        }
        try add(connector, in: mode)
        return WeakSource(source: connector)
    }
}
