// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel
internal import RunLoops

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Answers the clients that look into the process, on its own thread.
///
/// The thread sleeps until somebody comes. It has no run loop, takes no signals, and no loop has to turn for an answer.
// Unchecked: everything that is not constant belongs to the inspector's thread, or to the thread that stops it.
final class InspectorServer: @unchecked Sendable {
    /// More clients at a time are turned away.
    static let mostClients = 16
    private static let stackSize = 512 << 10

    let loops: InspectedLoops
    let directory: InspectorDirectory
    let name: String
    private let listener: InspectorDescriptor
    private let user: UInt32
    private let patience: InspectorConnection.Patience
    private let process = getpid()
    private var thread = rl_thread()

    // The inspector's thread.
    @exclusivity(unchecked) private var connections: [InspectorConnection] = []
    /// A descriptor in reserve: when the process has no number left, it is given up to accept and close a connection,
    /// which would otherwise keep the thread awake.
    @exclusivity(unchecked) private var spare: InspectorDescriptor?

    /// Listens, and starts the thread.
    init(
        _ directory: InspectorDirectory, user: UInt32 = rl_port_user(), patience: InspectorConnection.Patience = .init()
    ) throws(InspectorDirectory.Unusable) {
        self.directory = directory
        self.user = user
        self.patience = patience
        loops = InspectedLoops()
        (listener, name) = try directory.listen()
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
            throw .system(.init(call: "pthread_create", code: -result))
        }
    }

    /// Ends the thread and what clients have begun.
    ///
    /// Once. Any thread but the inspector's.
    func stop() {
        unpublish()
        loops.ignoreNewLoops()
        _ = rl_inspect_shut(listener.number)
        rl_thread_join(thread)
        loops.removeAll()
    }

    /// Takes the name away: nobody new comes.
    func unpublish() {
        // A child made by fork would remove the name of its parent.
        if getpid() == process { directory.remove(name) }
    }

    // MARK: The inspector's thread

    private func serve() {
        var wanted: [pollfd] = []
        while true {
            wanted.removeAll(keepingCapacity: true)
            if spare == nil { spare = Self.makeSpare() }
            wanted.append(pollfd(fd: spare == nil ? -1 : listener.number, events: Int16(POLLIN), revents: 0))
            for connection in connections {
                wanted.append(pollfd(fd: connection.number, events: connection.events, revents: 0))
            }
            let limit = limit
            let count = wanted.withUnsafeMutableBufferPointer {
                rl_inspect_poll($0.baseAddress, $0.count, limit)
            }
            if count < 0 { break }
            if wanted[0].revents & Int16(POLLHUP | POLLERR | POLLNVAL) != 0 { break }
            serveConnections(wanted.dropFirst().map(\.revents))
            if wanted[0].revents != 0 { accept() }
        }
        connections = []
        spare = nil
    }

    /// For how many milliseconds nobody's patience ends; -1 when there is nobody.
    private var limit: CInt {
        // Nobody can be let in while the process has no descriptor left: whether that is over, nobody tells.
        let longest: CInt = spare == nil ? 1000 : -1
        guard let deadline = connections.map(\.deadline).min() else { return longest }
        let left = CInt(clamping: max(0, deadline - SystemCalls.now(.monotonic)) / 1_000_000 + 1)
        return longest < 0 ? left : min(left, longest)
    }

    private func serveConnections(_ ready: [Int16]) {
        let now = SystemCalls.now(.monotonic)
        var kept: [InspectorConnection] = []
        for (connection, ready) in zip(connections, ready) {
            let stays = ready == 0 ? true : connection.serve(ready)
            if stays, connection.deadline > now { kept.append(connection) }
        }
        connections = kept
    }

    private func accept() {
        let result = rl_port_accept(listener.number)
        if result == -EMFILE || result == -ENFILE { return refuseForWantOfDescriptors() }
        // EAGAIN, ECONNABORTED: the caller has gone.
        guard result >= 0 else { return }
        greet(InspectorDescriptor(adopting: result))
    }

    private func greet(_ socket: InspectorDescriptor) {
        var peer = rl_peer()
        let isKnown = rl_port_peer(socket.number, &peer) == 0
        let connection = InspectorConnection(socket, loops, patience)
        if !isKnown || peer.user != user {
            connection.turnAway("only user \(user) may look into this process")
        } else if connections.count >= Self.mostClients {
            connection.turnAway("\(Self.mostClients) others are looking")
        } else {
            connections.append(connection)
        }
        // A client that was turned away has its answer in the socket: a new socket has room. Nobody waits until the
        // client reads it.
    }

    private func refuseForWantOfDescriptors() {
        spare = nil
        let result = rl_port_accept(listener.number)
        if result >= 0 { _ = rl_close(result) }
        spare = Self.makeSpare()
    }

    private static func makeSpare() -> InspectorDescriptor? {
        let number = rl_eventfd_create()
        return number < 0 ? nil : InspectorDescriptor(adopting: number)
    }
}
