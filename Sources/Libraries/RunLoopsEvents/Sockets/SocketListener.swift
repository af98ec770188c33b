// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
public import RunLoops
internal import RunLoopsLibC
internal import RunLoopsSystem

/// Listens on an address, and calls a closure on a loop's thread with each connection that is made to the address.
///
/// The listener accepts one connection a turn, so that many connections at once do not keep other items waiting.
///
/// The file of a Unix socket outlives a process that is killed. A listener takes such a stale file over, as systemd
/// does for its sockets, so that a service starts again after a crash; `bind(2)` alone, and with it GLib and nginx,
/// would fail with `EADDRINUSE`. Unlike systemd, the listener looks first, so taking over needs no option:
///
/// - Only a socket of this process's effective user is taken over, and only if a connection to it is refused: nobody
///   listens there, neither the process that made it nor a child that has inherited it. A living listener sees one
///   connection that ends at once.
/// - Listeners of this library that start at the same path at once wait for each other, by a lock of the directory
///   (`flock(2)`) that each holds while it looks, binds and begins to listen: exactly one of them listens. If the
///   directory cannot be read, or another process keeps the lock for longer than some 15 ms, nothing is taken over.
/// - Programs that do not take this lock are not pushed out once they listen. Between their `bind` and `listen` their
///   socket looks stale, and they could replace a stale file at the moment between look and removal. Let them listen at
///   paths of their own.
///
/// Corresponds to a `CFSocket` with the accept callback. A server under load belongs to SwiftNIO.
///
/// Thread safety: all members may be used by any thread.
public final class SocketListener: EventSource, @unchecked Sendable {
    /// An event that a listener reports.
    public enum Event: Sendable {
        /// A client has connected.
        case accepted(RunLoop.Socket)
        /// A waiting connection cannot be accepted, since the process or the system is out of descriptors or memory
        /// (`EMFILE`, `ENFILE`, `ENOBUFS`, `ENOMEM`).
        ///
        /// The listener pauses, because the connection stays in the backlog and would be offered again at once. Close
        /// something and call ``SocketListener/resume()``.
        case refused(RunLoop.SystemCallError)
    }

    /// Called with the listener and what happened.
    typealias Handler = (SocketListener, Event) -> Void

    /// The address that the listener listens on, with the port that the kernel has chosen.
    public let address: RunLoop.SocketAddress
    private let connections = ListenerConnections()
    private let state = Lock()
    // Guarded by `state`.
    @exclusivity(unchecked) private var handler: Handler?

    /// A listener whose closure runs on the thread that makes it, and may use that thread's state.
    ///
    /// - Parameters:
    ///   - address: Where to listen. The file of a Unix socket is removed when the listener is invalidated or released;
    ///     a stale file is taken over.
    ///   - backlog: How many connections may wait to be accepted; the kernel has a limit of its own (`somaxconn`).
    ///   - label: The name in descriptions and tools; where the listener was made, if `nil`.
    ///   - fileID: Where the listener was made.
    ///   - line: Where the listener was made.
    ///   - handler: Called with the listener and what happened.
    /// - Throws: `EADDRINUSE` if another socket listens there, or if a Unix socket's file may not be taken over;
    ///   `ENOTSOCK` if the file is not a socket, `EPERM` if it is another user's; `EACCES`, `ENOENT`, `EADDRNOTAVAIL`
    ///   and others of `bind(2)`; `EMFILE`, `ENFILE` and `ENOMEM` when a resource of the system is used up.
    ///
    /// Adding the listener to the loop of another thread traps.
    /// Corresponds to `CFSocketCreate` with `kCFSocketAcceptCallBack`, and `CFSocketSetAddress`.
    public convenience init(
        on address: RunLoop.SocketAddress, backlog: Int = 128, label: String? = nil, fileID: StaticString = #fileID,
        line: UInt = #line, handler: @escaping (SocketListener, Event) -> Void
    ) throws(RunLoop.SystemCallError) {
        try self.init(address, backlog, .here(label, fileID, line), handler)
    }

    /// A listener whose closure may run on any thread: it can be added to any loop.
    ///
    /// The parameters are those of ``init(on:backlog:label:fileID:line:handler:)``.
    public static func sendable(
        on address: RunLoop.SocketAddress, backlog: Int = 128, label: String? = nil, fileID: StaticString = #fileID,
        line: UInt = #line, handler: @escaping @Sendable (SocketListener, Event) -> Void
    ) throws(RunLoop.SystemCallError) -> SocketListener {
        try SocketListener(address, backlog, .anywhere(label, fileID, line), handler)
    }

    /// A listener whose closure runs on the main actor: it can be added to the main loop, from any thread.
    ///
    /// The parameters are those of ``init(on:backlog:label:fileID:line:handler:)``.
    public static func mainActor(
        on address: RunLoop.SocketAddress, backlog: Int = 128, label: String? = nil, fileID: StaticString = #fileID,
        line: UInt = #line, handler: @escaping @MainActor (SocketListener, Event) -> Void
    ) throws(RunLoop.SystemCallError) -> SocketListener {
        try SocketListener(address, backlog, .mainThread(label, fileID, line)) { listener, event in
            MainActor.assumeIsolated { handler(listener, event) }
        }
    }

    private convenience init(
        _ address: RunLoop.SocketAddress, _ backlog: Int, _ origin: SourceOrigin, _ handler: @escaping Handler
    ) throws(RunLoop.SystemCallError) {
        let number = try check("socket", rl_socket_create(address.family))
        let result = Self.listen(number, address, CInt(clamping: backlog))
        if result < 0 { _ = rl_close(number) }
        try check("bind", result, of: "\(address)")
        let name = SocketFile(address)
        // Nobody else has the socket but children that have not called exec yet, in which it would go on listening.
        let file = Descriptor(number) {
            name?.remove()
            _ = rl_end_listener(number)
        }
        try self.init(file, origin, handler)
    }

    /// Binds the socket and lets it listen, in the place of a stale one.
    private static func listen(_ number: CInt, _ address: RunLoop.SocketAddress, _ backlog: CInt) -> CInt {
        address.bytes.withUnsafeBytes { bytes in
            let (start, count) = (bytes.baseAddress, UInt32(bytes.count))
            guard let file = address.file else { return rl_socket_listen(number, start, count, backlog) }
            return file.withCString { path in
                // Nobody else finds the socket between bind and listen, when it looks stale.
                let lock = rl_lock_directory_of(path)
                defer { if lock >= 0 { rl_unlock_directory(lock) } }
                let result = rl_socket_listen(number, start, count, backlog)
                guard result == -EADDRINUSE else { return result }
                let reason = rl_socket_stale(path, start, count)
                // ENOENT: the other listener has ended meanwhile.
                guard reason == 0 || reason == -ENOENT else { return reason }
                guard lock >= 0 else { return result }
                let removed = rl_unlink(path)
                guard removed == 0 || removed == -ENOENT else { return removed }
                return rl_socket_listen(number, start, count, backlog)
            }
        }
    }

    /// A listener on a socket that listens already.
    init(_ file: Descriptor, _ origin: SourceOrigin, _ handler: @escaping Handler) throws(RunLoop.SystemCallError) {
        address = try RunLoop.SocketAddress(of: file.number, peer: false)
        self.handler = handler
        super.init(file, for: .readable, origin)
    }

    /// Whether the listener waits for ``resume()``.
    public var isPaused: Bool { watched.isEmpty }

    /// Stops accepting connections until ``resume()``; new connections wait in the backlog.
    public func pause() { watched = [] }

    /// Accepts connections again.
    public func resume() { watched = .readable }

    /// How many of the connections that this listener has accepted are open in this process.
    ///
    /// A connection is open until its ``RunLoops/RunLoop/Socket``, and the ``SocketStream`` or ``RunLoops/RunLoop/File`` that
    /// has taken the socket, are released or closed: as long as this process can still answer, also if the client has closed.
    /// Connections count after the listener was invalidated too. Connections that wait in the backlog do not count.
    ///
    /// Thread safety: any thread; another thread may close a connection at the same moment.
    /// - Complexity: O(1).
    public var connectionCount: Int { connections.openCount }

    /// Calls a closure once, when the listener has had no open connection for some time: a service that ends when it is idle, or after
    /// its last client.
    ///
    /// ```swift
    /// let service = try ManagedService()
    /// let listener = try loop.answerLines(at: .loopback(), onRefusal: { print($0) }, { $0 })
    /// listener.whenUnused(for: .seconds(30)) { service.end() }
    /// try service.run()
    /// ```
    ///
    /// The time before the call counts, from the last connection's end or from the making of the listener on. The closure is called in a run
    /// of the calling thread's loop in a common mode. It is also called if the listener was invalidated meanwhile: to serve
    /// the present clients to their end, invalidate the listener first. Several calls each add a closure. If the thread
    /// ends before, the closure is released and not called.
    ///
    /// - Parameters:
    ///   - duration: How long no connection has to be open; zero or less for the moment when the last one is closed.
    ///   - body: Called once, on the thread that calls this method.
    ///
    /// Thread safety: any thread with a loop that runs; the closure stays on that thread.
    /// - Complexity: O(1); one timer at a time while the listener is unused, whatever connects meanwhile.
    @available(
        *, noasync,
        message: "A task has no thread of its own: call this in a synchronous function on the thread of the loop."
    )
    public func whenUnused(for duration: Duration = .zero, _ body: @escaping () -> Void) {
        connections.wait(UnusedWaiter(RunLoop.current, duration, body))
    }

    override func ready(_ events: Events) {
        guard let result = withDescriptor({ rl_socket_accept($0) }) else { return }
        if result >= 0 { return call(.accepted(RunLoop.Socket(connections.descriptor(result)))) }
        switch -result {
        case EMFILE, ENFILE, ENOBUFS, ENOMEM:
            refused(RunLoop.SystemCallError(call: "accept4", code: -result))
        default:
            // The client has gone, or another process has taken the connection: EAGAIN, ECONNABORTED, and whatever the
            // network reported of a connection that never existed (accept(2) asks to treat these like EAGAIN).
            break
        }
    }

    override func refused(_ error: RunLoop.SystemCallError) {
        pause()
        call(.refused(error))
    }

    override func giveUp() {
        let released = state.withLock { () -> Handler? in
            defer { handler = nil }
            return handler
        }
        withExtendedLifetime(released) {}
    }

    private func call(_ event: Event) {
        state.lock()
        let handler = self.handler
        state.unlock()
        handler?(self, event)
    }
}

/// The file of a Unix socket, which the kernel does not remove.
private struct SocketFile: Sendable {
    /// Where the file is, whatever this process's directory is.
    private let path: SystemText
    private var number: UInt64 = 0
    private var device: UInt64 = 0

    init?(_ address: RunLoop.SocketAddress) {
        guard let path = try? address.file?.madeAbsolute() else { return nil }
        self.path = path
        guard path.withCString({ rl_socket_file($0, &number, &device) }) == 0 else { return nil }
    }

    /// Removes the file, if it is still the same file.
    func remove() {
        var (present, place): (UInt64, UInt64) = (0, 0)
        path.withCString { path in
            guard rl_socket_file(path, &present, &place) == 0, present == number, place == device else { return }
            // This process may not be allowed to remove the file any more; the error has no receiver.
            _ = rl_unlink(path)
        }
    }
}
