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
