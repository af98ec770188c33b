// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Messages, the right to send a message, and its way: one file, since a message can bring along such a right.

internal import CRunLoopsKernel
public import RunLoops
internal import RunLoopsConcurrency
internal import Synchronization

extension RunLoop.MessagePort {
    /// A message to a port: a number that says what the message is, bytes, and optionally a sender for the answer and
    /// descriptors.
    ///
    /// Corresponds to the arguments of `CFMessagePortSendRequest` and of its callback: `id` is the `msgid`, `bytes` the
    /// data.
    ///
    /// Thread safety: a value; any thread.
    public struct Message: Sendable {
        /// The kind of the message; sender and receiver agree on the meaning.
        public var id: Int32
        /// The contents; the receiver's ``MessagePort/Limits`` say how many bytes there may be.
        public var bytes: [UInt8]
        /// Open descriptors that are sent to the receiver; the receiver gets a number of its own for the same open
        /// file.
        public var descriptors: [Descriptor]
        /// The sender to which the answer is sent.
        ///
        /// The result of the receiver's closure is sent there. The receiver may also keep it and answer later, from any
        /// thread, and more than once.
        public var replyTo: Sender?

        /// Makes a message from its parts.
        public init(
            id: Int32 = 0, bytes: [UInt8] = [], descriptors: [Descriptor] = [], replyTo: Sender? = nil
        ) {
            self.id = id
            self.bytes = bytes
            self.descriptors = descriptors
            self.replyTo = replyTo
        }

        /// Makes a message whose bytes are `text` in UTF-8.
        public init(
            id: Int32 = 0, text: String, descriptors: [Descriptor] = [], replyTo: Sender? = nil
        ) {
            self.init(id: id, bytes: Array(text.utf8), descriptors: descriptors, replyTo: replyTo)
        }

        /// The bytes as text, with the replacement character for bytes that are not UTF-8.
        public var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    /// The right to send to a port, in this process or another; any number of holders may have it.
    ///
    /// Every port has a sender (``MessagePort/sender``). ``init(named:in:owner:)`` makes a sender by name. A message
    /// can contain a sender (``MessagePort/Message/replyTo``).
    ///
    /// Corresponds to a remote `CFMessagePort`, or to a send right to a Mach port.
    ///
    /// Thread safety: all members may be used by any thread. Messages of one thread through one sender arrive in order.
    public final class Sender: Sendable {
        let route: any Route
        /// The serial number of the request that this sender answers; 0 for a sender that answers none.
        let serial: UInt64
        private let isUsed = Atomic<Bool>(false)

        init(_ route: any Route, answering serial: UInt64 = 0) {
            self.route = route
            self.serial = serial
        }

        deinit {
            // The waiting asker learns that there will be no answer.
            guard serial != 0, !isUsed.load(ordering: .relaxed) else { return }
            _ = try? route.send(
                Delivery(kind: .noReply, serial: serial, isAnswer: true, message: Message()),
                until: Deadline.none)
        }

        /// Sends a message, waiting for room in the receiver's queue if there is none.
        ///
        /// When the call returns, the message is in the queue of a living port, but not yet received. A port that dies
        /// before it has received the message drops the message, and an asker that waits for the reply gets an error.
        ///
        /// The wait blocks the thread, without a limit as long as the queue is full. Async code passes a limit of zero:
        /// a task that waited here would block a thread of Swift's pool.
        ///
        /// - Parameters:
        ///   - message: The message.
        ///   - limit: How long to wait for room, or for a connection; zero for no wait, `nil` for no limit.
        /// - Throws: every ``PortError`` except `noReply`, `invalidName` and `nameTaken`. ``PortError/full`` when there
        ///   was no room and no time to wait: a limit of zero, or a queue that only this thread could empty.
        ///
        /// Corresponds to `CFMessagePortSendRequest` without a reply mode.
        /// - Complexity: O(1) and at most one wake-up in a process; one system call and a copy of the bytes
        ///   between processes.
        public func send(_ message: Message, within limit: Duration? = nil) throws(RunLoop.PortError) {
            try send(message, until: Deadline.after(limit))
        }

        /// Sends a message, on behalf of the thread whose priority it carries.
        @discardableResult
        func send(
            _ message: Message, of thread: Int32 = SystemCalls.threadID, until deadline: Int64
        ) throws(RunLoop.PortError) -> UInt64 {
            if serial != 0 { return try answer(message) }
            return try route.send(Delivery(message: message, thread: thread), until: deadline)
        }

        /// Sends a reply to an asker, without waiting.
        @discardableResult
        func answer(_ message: Message) throws(RunLoop.PortError) -> UInt64 {
            let kind: Delivery.Kind = serial == 0 ? .message : .reply
            let handle = try route.send(
                Delivery(kind: kind, serial: serial, isAnswer: true, message: message), until: Deadline.none)
            markUsed()
            return handle
        }

        /// Whether the port is known to have ended.
        ///
        /// A port by name may be published again: then the value is `true` only until the next message.
        public var isDead: Bool { route.isDead }

        /// Notes that another holder has the duty to answer now, or that the answer was sent.
        func markUsed() { isUsed.store(true, ordering: .relaxed) }
    }
}

/// A message that is being delivered, and its meaning for the receiver.
struct Delivery: Sendable {
    enum Kind: Sendable {
        case message
        /// The answer to the request with the number `serial`.
        case reply
        /// The news that there will be no answer to the request.
        case noReply
    }

    var kind = Kind.message
    /// The ask that this answers; 0 for none.
    ///
    /// Whoever knows the number may answer: the port that was asked, and whoever that port has given the right to. So
    /// nobody must be able to guess it, least of all a port that was asked before.
    var serial: UInt64 = 0
    /// Whether the message goes back to an asker: such a message is never refused for want of room, and never waits.
    var isAnswer = false
    var message: RunLoop.MessagePort.Message
    /// The thread whose scheduling the message carries, until it is received.
    var thread = SystemCalls.threadID
    /// The scheduling of that thread, if the port carries it and it is known.
    var scheduling: Scheduling?

    /// Returns the number of a new request.
    static func newSerial() -> UInt64 { rl_port_random() | 1 }
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
    /// Makes a socket on which another process can send to the same port; the process calls the port by `handle`.
    ///
    /// If a connection has to be made first, waits for it until `deadline`.
    func export(_ handle: UInt64, until deadline: Int64) throws(RunLoop.PortError) -> Export
    /// Whether no message that is sent this way can arrive any more; `false` if that is not known.
    var isDead: Bool { get }
    /// Whether the calling thread alone empties the port's queue.
    var isOwn: Bool { get }
}

/// A socket to a port, for another process, of which it is not known yet whether it can be sent.
struct Export: Sendable {
    let end: RunLoop.MessagePort.Descriptor
    /// Whether the port reads the numbers of sending threads, which is version 2 of ``Frame``.
    let readsThreads: Bool
    /// The fate of the socket.
    enum Fate: Sendable {
        /// It was sent; the other two may follow.
        case sent
        /// No message will be answered by it: it was not sent, or no message was sent after it.
        case unused
        /// The connection has ended by which it was sent, and no further message will use it.
        case connectionEnded
    }

    /// Called with what becomes of the socket, with no lock held except for ``Fate/sent``.
    let settle: @Sendable (Fate) -> Void

    init(
        _ end: RunLoop.MessagePort.Descriptor, readsThreads: Bool, settle: @escaping @Sendable (Fate) -> Void
    ) {
        self.end = end
        self.readsThreads = readsThreads
        self.settle = settle
    }
}
