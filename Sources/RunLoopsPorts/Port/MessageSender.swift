internal import RunLoops
internal import Synchronization

/// The right to send to a port, in this process or another; any number may have it.
///
/// Every port has one (``MessagePort/sender``); one by name is made with ``init(named:in:owner:)``; and a message can
/// bring one along (``Message/replyTo``).
///
/// Corresponds to a remote `CFMessagePort`, or to a send right to a Mach port.
///
/// Thread safety: all members may be used by any thread. Messages of one thread through one sender arrive in order.
public final class MessageSender: Sendable {
    let route: any Route
    /// Which ask this is the answer to; 0 for a right that is no answer.
    let serial: UInt64
    private let isUsed = Atomic<Bool>(false)

    init(_ route: any Route, answering serial: UInt64 = 0) {
        self.route = route
        self.serial = serial
    }

    /// A sender to the port that is published as `name`.
    ///
    /// The port is looked for at the first send and again whenever it has gone, so that it may be published later, and by
    /// another process than before. One of this process is found too, and reached without a socket.
    ///
    /// - Parameters:
    ///   - name: 1 to 64 of the characters `A–Z a–z 0–9 . - _`, the first no dot.
    ///   - directory: Where the name is looked up; the user's own directory if `nil`.
    ///   - owner: Whose port it may be.
    /// - Throws: ``PortError/invalidName(_:)``, ``PortError/unsafeDirectory(_:)``, ``PortError/system(_:)``.
    ///
    /// Corresponds to `CFMessagePortCreateRemote`.
    public convenience init(
        named name: String, in directory: PortDirectory? = nil, owner: PortAccess = .sameUser
    ) throws(PortError) {
        try self.init(named: name, in: directory, owner: owner, looksInProcess: true)
    }

    /// The same, which can be made to go through a socket to a port of its own process.
    package convenience init(
        named name: String, in directory: PortDirectory? = nil, owner: PortAccess = .sameUser, looksInProcess: Bool
    ) throws(PortError) {
        let name = try PortName(name)
        let directory = if let directory { directory } else { try PortDirectory.user() }
        self.init(NamedRoute(name, directory, owner, looksInProcess: looksInProcess))
    }

    deinit {
        // Whoever waits for the answer is told that there will be none.
        guard serial != 0, !isUsed.load(ordering: .relaxed) else { return }
        _ = try? route.send(
            Delivery(kind: .noReply, serial: serial, isAnswer: true, message: Message()),
            until: Deadline.none)
    }

    /// Sends a message, waiting for room in the receiver's queue if there is none.
    ///
    /// When the call returns, the message is in the queue of a living port; it is not yet received. A port that dies
    /// before it has received it drops it, and whoever asked for a reply is told.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - limit: How long to wait for room, or for a connection; not at all if zero, for ever if `nil`.
    /// - Throws: every ``PortError`` but `noReply`, `invalidName` and `nameTaken`. ``PortError/full`` when there was no
    ///   room and nothing to wait for: a limit of zero, or a queue that only this thread could empty.
    ///
    /// Corresponds to `CFMessagePortSendRequest` without a reply mode.
    /// Complexity: O(1) and at most one wake-up in a process; one system call and a copy of the bytes between processes.
    public func send(_ message: Message, within limit: Duration? = nil) throws(PortError) {
        try send(message, until: Deadline.after(limit))
    }

    @discardableResult
    func send(_ message: Message, until deadline: Int64) throws(PortError) -> UInt64 {
        if serial != 0 { return try answer(message) }
        return try route.send(Delivery(message: message), until: deadline)
    }

    /// Sends what goes back to an asker, without waiting.
    @discardableResult
    func answer(_ message: Message) throws(PortError) -> UInt64 {
        let kind: Delivery.Kind = serial == 0 ? .message : .reply
        let handle = try route.send(
            Delivery(kind: kind, serial: serial, isAnswer: true, message: message), until: Deadline.none)
        markUsed()
        return handle
    }

    /// Whether the port is known to have gone.
    ///
    /// A port by name may be published again: then it is only gone until the next message.
    public var isDead: Bool { route.isDead }

    /// The duty to answer has passed to somebody else, or is done.
    func markUsed() { isUsed.store(true, ordering: .relaxed) }
}
