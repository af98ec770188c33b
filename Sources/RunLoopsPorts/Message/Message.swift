// Messages, the right to send one, and the way it goes: one file, since a message can bring along such a right.

public import RunLoops
internal import Synchronization

extension RunLoop.MessagePort {
    /// What is sent to a port: a number that says what it is, bytes, and, where wanted, a way to answer and descriptors.
    ///
    /// Corresponds to what `CFMessagePortSendRequest` takes and its callback gets: `id` is the `msgid`, `bytes` the data.
    ///
    /// Thread safety: a value; any thread.
    public struct Message: Sendable {
        /// What the message is about; its meaning is between sender and receiver.
        public var id: Int32
        /// The contents; how many there may be is in the receiver's ``MessagePort/Limits``.
        public var bytes: [UInt8]
        /// Open descriptors that go to the receiver; a copy of the number goes, the file is the same.
        public var descriptors: [Descriptor]
        /// Where the answer is to go.
        ///
        /// What the receiver's closure returns is sent there. The receiver may also keep it and answer later, from any thread,
        /// and more than once.
        public var replyTo: Sender?

        /// A message of the given parts.
        public init(
            id: Int32 = 0, bytes: [UInt8] = [], descriptors: [Descriptor] = [], replyTo: Sender? = nil
        ) {
            self.id = id
            self.bytes = bytes
            self.descriptors = descriptors
            self.replyTo = replyTo
        }

        /// A message whose bytes are `text` in UTF-8.
        public init(
            id: Int32 = 0, text: String, descriptors: [Descriptor] = [], replyTo: Sender? = nil
        ) {
            self.init(id: id, bytes: Array(text.utf8), descriptors: descriptors, replyTo: replyTo)
        }

        /// The bytes as text, with the replacement character for what is not UTF-8.
        public var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    /// The right to send to a port, in this process or another; any number may have it.
    ///
    /// Every port has one (``MessagePort/sender``); one by name is made with ``init(named:in:owner:)``; and a message can
    /// bring one along (``MessagePort/Message/replyTo``).
    ///
    /// Corresponds to a remote `CFMessagePort`, or to a send right to a Mach port.
    ///
    /// Thread safety: all members may be used by any thread. Messages of one thread through one sender arrive in order.
    public final class Sender: Sendable {
        let route: any Route
        /// Which ask this is the answer to; 0 for a right that is no answer.
        let serial: UInt64
        private let isUsed = Atomic<Bool>(false)

        init(_ route: any Route, answering serial: UInt64 = 0) {
            self.route = route
            self.serial = serial
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
        public func send(_ message: Message, within limit: Duration? = nil) throws(RunLoop.PortError) {
            try send(message, until: Deadline.after(limit))
        }

        @discardableResult
        func send(_ message: Message, until deadline: Int64) throws(RunLoop.PortError) -> UInt64 {
            if serial != 0 { return try answer(message) }
            return try route.send(Delivery(message: message), until: deadline)
        }

        /// Sends what goes back to an asker, without waiting.
        @discardableResult
        func answer(_ message: Message) throws(RunLoop.PortError) -> UInt64 {
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
}

/// A message on its way, and what it is to the one who gets it.
struct Delivery: Sendable {
    enum Kind: Sendable {
        case message
        /// The answer to the ask that `serial` names.
        case reply
        /// There will be no answer to it.
        case noReply
    }

    var kind = Kind.message
    /// Which ask this answers; 0 for none.
    var serial: UInt64 = 0
    /// Whether it goes back to who has asked: it is never refused for want of room, and never waited with.
    var isAnswer = false
    var message: RunLoop.MessagePort.Message
}

/// A way to a port, for a sender: its queue in this process, or a socket.
///
/// All members may be used by any thread.
protocol Route: AnyObject, Sendable {
    /// Hands a message over, waiting for room until `deadline`.
    ///
    /// Returns the handle of the channel on which an answer will come from another process; 0 for none.
    @discardableResult
    func send(_ delivery: Delivery, until deadline: Int64) throws(RunLoop.PortError) -> UInt64
    /// A socket on which another process, who calls it by `handle`, can send to the same port.
    func export(_ handle: UInt64) throws(RunLoop.PortError) -> RunLoop.MessagePort.Descriptor
    /// Whether nothing sent this way can arrive any more; `false` if that is not known.
    var isDead: Bool { get }
}
