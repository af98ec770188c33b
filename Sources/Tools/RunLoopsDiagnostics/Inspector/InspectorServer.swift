// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops
internal import RunLoopsLibC
internal import RunLoopsSystem

/// Answers the clients that inspect the process, on its own thread.
///
/// The thread sleeps until a client connects or sends a request. It has no run loop and takes no signals, and answers
/// even while no loop turns.
// Unchecked: everything that is not constant belongs to the inspector's thread, or to the thread that stops it.
final class InspectorServer: @unchecked Sendable {
    /// The maximum number of clients at a time; further clients are refused.
    static let maxClients = 16
    private static let stackSize = 512 << 10

    let loops = Subscription<InspectedLoop>(keepsStamps: false) { _, _ in InspectedLoop() }
    let directory: InspectorDirectory
    let name: String
    private let listener: PrivateDescriptor
    private let user: UInt32
    private let patience: InspectorConnection.Patience
    /// The function accept4(2); tests replace it, to have errors that they cannot cause otherwise.
    private let accept: @Sendable (CInt) -> CInt
    private let generation = ForkGeneration()
    private var thread = rl_thread()

    // The inspector's thread.
    @exclusivity(unchecked) private var connections: [InspectorConnection] = []
    /// A spare descriptor, closed when the process has no other descriptor left to accept a connection with: an
    /// accepted connection can be closed, and one that is not accepted would keep the thread awake.
    @exclusivity(unchecked) private var spare: PrivateDescriptor?
    /// Whether the system has just failed to accept a connection for lack of a resource: the client still waits, and
    /// would keep the thread awake.
    @exclusivity(unchecked) private var wasRefused = false

    /// Makes a socket that listens, and starts the thread.
    init(
        _ directory: InspectorDirectory, user: UInt32 = rl_port_user(),
        patience: InspectorConnection.Patience = .init(), accept: @escaping @Sendable (CInt) -> CInt = rl_port_accept
    ) throws(RunLoop.Inspector.StartError) {
        self.directory = directory
        self.user = user
        self.patience = patience
        self.accept = accept
        do { (listener, name) = try directory.listen() } catch { throw .system(error) }
        spare = Self.makeSpare()
        let argument = Unmanaged.passRetained(self)
        let result = rl_inspect_start_thread(
            &thread, Self.stackSize, "runloop-inspect",
            { argument in
                // SAFETY: the reference passed below; taken once.
                Unmanaged<InspectorServer>.fromOpaque(argument.unsafelyUnwrapped).takeRetainedValue().serve()
                return nil
            }, argument.toOpaque())
        if result < 0 {
            argument.release()
            directory.remove(name)
            _ = rl_end_listener(listener.number)
            throw .system(.init(call: "pthread_create", code: -result))
        }
    }

    /// Ends the thread, all connections and the work that clients have begun.
    ///
    /// Called once, by any thread except the inspector's.
    func stop() {
        unpublish()
        // The thread's poll(2) returns: the listening socket has hung up.
        _ = rl_end_listener(listener.number)
        rl_thread_join(thread)
        _ = loops.stop()
    }

    /// Removes the socket's name, so that no new client can connect.
    func unpublish() {
        // A child made by fork would remove the name of its parent.
        if !generation.isInherited { directory.remove(name) }
    }

    // MARK: The inspector's thread

    private func serve() {
        while true {
            if spare == nil { spare = Self.makeSpare() }
            let limit = limit
            // Without any events the end of the listener, by stop(), is still reported.
            var wanted = [pollfd(fd: listener.number, events: canAccept ? Int16(POLLIN) : 0, revents: 0)]
            wanted += connections.map { pollfd(fd: $0.number, events: $0.events, revents: 0) }
            wasRefused = false
            let count = rl_inspect_poll(&wanted, wanted.count, limit)
            if count < 0 || wanted[0].revents & Int16(POLLHUP | POLLERR | POLLNVAL) != 0 { break }
            serveConnections(wanted.dropFirst().map(\.revents))
            if wanted[0].revents != 0 { letIn() }
        }
        connections = []
        spare = nil
    }

    private var canAccept: Bool { spare != nil && !wasRefused }

    /// The milliseconds that poll(2) may wait, until the first deadline of a connection: -1 for no limit without
    /// connections, and at most 1000 while no connection can be accepted.
    private var limit: CInt {
        // Nobody tells when the process has a descriptor again, or the system what it was out of.
        let longest: CInt = canAccept ? -1 : 1000
        guard let deadline = connections.map(\.deadline).min() else { return longest }
        let left = CInt(clamping: max(0, deadline - SystemCalls.now(.monotonic)) / 1_000_000 + 1)
        return longest < 0 ? left : min(left, longest)
    }

    private func serveConnections(_ ready: [Int16]) {
        let now = SystemCalls.now(.monotonic)
        connections = zip(connections, ready).filter { connection, ready in
            (ready == 0 || connection.serve(ready)) && connection.deadline > now
        }.map { $0.0 }
    }

    private func letIn() {
        let result = accept(listener.number)
        if result == -EMFILE || result == -ENFILE { return refuseForWantOfDescriptors() }
        wasRefused = Self.isRefusal(result)
        guard result >= 0 else { return }
        let socket = PrivateDescriptor(adopting: result)
        var peer = rl_peer()
        let isKnown = rl_port_peer(socket.number, &peer) == 0
        let connection = InspectorConnection(socket, loops, patience)
        if !isKnown || peer.user != user {
            connection.turnAway("only user \(user) may look into this process")
        } else if connections.count >= Self.maxClients {
            connection.turnAway("\(Self.maxClients) others are looking")
        } else {
            connections.append(connection)
        }
        // A client that was turned away has its answer in the socket: a new socket has room. Nobody waits until the
        // client reads it.
    }

    private func refuseForWantOfDescriptors() {
        spare = nil
        let result = accept(listener.number)
        if result >= 0 {
            _ = rl_end_connection(result)
            _ = rl_close(result)
        }
        // Another thread may have taken the number.
        wasRefused = Self.isRefusal(result)
        spare = Self.makeSpare()
    }

    /// Whether accept4(2) failed with an error, such as ENOMEM or ENOBUFS, that leaves the client waiting.
    ///
    /// After EAGAIN and ECONNABORTED the client has gone.
    private static func isRefusal(_ result: CInt) -> Bool {
        result < 0 && result != -EAGAIN && result != -ECONNABORTED
    }

    private static func makeSpare() -> PrivateDescriptor? {
        let number = rl_eventfd_create()
        return number < 0 ? nil : PrivateDescriptor(adopting: number)
    }
}
