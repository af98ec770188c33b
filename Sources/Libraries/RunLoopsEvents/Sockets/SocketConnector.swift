// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
public import RunLoops
internal import RunLoopsLibC

/// Connects to an address, and calls a closure on a loop's thread once, with the socket or the error.
///
/// The attempt begins when the connector is made; the result waits for the loop. When a host does not answer, the
/// kernel gives up after about two minutes: for a limit of your own, invalidate the connector from a timer. The source
/// is invalidated before its callout.
///
/// Corresponds to `CFSocketConnectToAddress` with the connect callback.
///
/// Thread safety: all members may be used by any thread.
public final class SocketConnector: EventSource, EndingSource, @unchecked Sendable {
    /// The socket, or the error of the system call that failed.
    public typealias Outcome = Result<RunLoop.Socket, RunLoop.SystemCallError>
    /// Called with the connector and the result.
    typealias Handler = (SocketConnector, Outcome) -> Void

    /// The address that the connector connects to.
    public let address: RunLoop.SocketAddress
    /// The error with which `connect(2)` failed at once.
    private let refusal: RunLoop.SystemCallError?
    let state = Lock()
    // Guarded by `state`.
    @exclusivity(unchecked) private(set) var handler: Handler?

    /// A connector whose closure runs on the thread that makes it, and may use that thread's state.
    ///
    /// - Parameters:
    ///   - address: Where to connect to.
    ///   - label: The name in descriptions and tools; where the connector was made, if `nil`.
    ///   - fileID: Where the connector was made.
    ///   - line: Where the connector was made.
    ///   - handler: Called with the connector and the socket, or with the error of `connect(2)`: `ECONNREFUSED` if no
    ///     socket listens there, also where the system has connected the socket to itself; `ENOENT` if there is no such
    ///     path, `ETIMEDOUT`, `EHOSTUNREACH`, `ENETUNREACH`; `EAGAIN` if the backlog of a Unix socket is full.
    /// - Throws: `EMFILE`, `ENFILE` or `ENOMEM` when a resource of the system is used up.
    ///
    /// Adding the connector to the loop of another thread traps.
    public convenience init(
        to address: RunLoop.SocketAddress, label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping (SocketConnector, Outcome) -> Void
    ) throws(RunLoop.SystemCallError) {
        try self.init(address, .here(label, fileID, line), handler)
    }

    /// A connector whose closure may run on any thread: it can be added to any loop.
    ///
    /// The parameters are those of ``init(to:label:fileID:line:handler:)``.
    public static func sendable(
        to address: RunLoop.SocketAddress, label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping @Sendable (SocketConnector, Outcome) -> Void
    ) throws(RunLoop.SystemCallError) -> SocketConnector {
        try SocketConnector(address, .anywhere(label, fileID, line), handler)
    }

    /// A connector whose closure runs on the main actor: it can be added to the main loop, from any thread.
    ///
    /// The parameters are those of ``init(to:label:fileID:line:handler:)``.
    public static func mainActor(
        to address: RunLoop.SocketAddress, label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping @MainActor (SocketConnector, Outcome) -> Void
    ) throws(RunLoop.SystemCallError) -> SocketConnector {
        try SocketConnector(address, .mainThread(label, fileID, line)) { connector, outcome in
            MainActor.assumeIsolated { handler(connector, outcome) }
        }
    }

    private convenience init(
        _ address: RunLoop.SocketAddress, _ origin: SourceOrigin, _ handler: @escaping Handler
    ) throws(RunLoop.SystemCallError) {
        let file = Descriptor(connection: try check("socket", rl_socket_create(address.family)))
        self.init(file, address, origin, handler)
    }

    /// A connector that connects a socket of the caller's.
    init(
        _ file: Descriptor, _ address: RunLoop.SocketAddress, _ origin: SourceOrigin, _ handler: @escaping Handler
    ) {
        let result = address.bytes.withUnsafeBytes {
            rl_socket_connect(file.number, $0.baseAddress, UInt32($0.count))
        }
        let isUnderWay = result == 0 || result == -EINPROGRESS
        refusal = isUnderWay ? nil : Self.error(-result, address)
        self.address = address
        self.handler = handler
        // Writable when the socket is connected or refused. A socket that was refused at once is ready as well: it is
        // hung up.
        super.init(file, for: .writable, origin)
    }

    override func ready(_ events: Events) {
        if let refusal { return end(with: .failure(refusal)) }
        guard let file = descriptor else { return }
        // Keeps the descriptor open, as the stream will.
        let socket = RunLoop.Socket(file)
        let error = rl_socket_take_error(file.number)
        end(with: error == 0 ? .success(socket) : .failure(Self.error(error, address)))
    }

    private static func error(_ code: CInt, _ address: RunLoop.SocketAddress) -> RunLoop.SystemCallError {
        RunLoop.SystemCallError(call: "connect", code: code, subject: "\(address)")
    }

    override func refused(_ error: RunLoop.SystemCallError) { end(with: .failure(error)) }

    override func giveUp() {
        let released = state.withLock { () -> Handler? in
            defer { handler = nil }
            return handler
        }
        withExtendedLifetime(released) {}
    }
}
