internal import RunLoops

extension MessagePort {
    /// What a port takes before it says no.
    public struct Limits: Hashable, Sendable {
        /// How many messages may wait; a sender of one more has to wait itself.
        ///
        /// Replies to asks are not counted: there are no more of them than asks.
        public var queue: Int
        /// The most bytes of one message.
        ///
        /// Longer contents go as the descriptor of a file or a `memfd_create(2)`.
        public var messageSize: Int
        /// The most descriptors with one message.
        public var descriptors: Int
        /// How many messages are delivered in one turn of the loop.
        public var batch: Int
        /// How many connections from other processes there may be at once.
        public var peers: Int

        /// Limits that are right for most.
        ///
        /// Precondition: all are positive but `descriptors`, which may be 0; `messageSize` is at most 131,072, so that a
        /// message fits into one packet, and `descriptors` at most 253, which is what the kernel carries.
        public init(
            queue: Int = 1024, messageSize: Int = 65536, descriptors: Int = 16, batch: Int = 32, peers: Int = 1024
        ) {
            require(
                queue > 0 && batch > 0 && peers > 0 && 1...131_072 ~= messageSize && 0...253 ~= descriptors,
                "Limits of a message port must be positive, messageSize at most 131072 and descriptors at most 253.")
            self.queue = queue
            self.messageSize = messageSize
            self.descriptors = descriptors
            self.batch = batch
            self.peers = peers
        }
    }

    /// A port whose closure runs on the thread that makes it, and may use that thread's state.
    ///
    /// - Parameters:
    ///   - limits: What it takes before it says no.
    ///   - label: The name in descriptions and tools; where it was made, if `nil`.
    ///   - fileID: Where it was made.
    ///   - line: Where it was made.
    ///   - handler: Called with each message; what it returns is sent to the message's ``Message/replyTo``.
    ///
    /// Adding it to the loop of another thread traps.
    /// Corresponds to `CFMessagePortCreateLocal`.
    public convenience init(
        limits: Limits = Limits(), label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping (Message) -> Message?
    ) {
        self.init(limits, ItemLabel(label, fileID, line), home: SystemCalls.threadID, Self.messages(handler))
    }

    /// A port whose closure may run on any thread: it can be added to any one loop.
    ///
    /// The parameters are those of ``init(limits:label:fileID:line:handler:)``.
    public static func sendable(
        limits: Limits = Limits(), label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping @Sendable (Message) -> Message?
    ) -> MessagePort {
        MessagePort(limits, ItemLabel(label, fileID, line), home: 0, messages(handler))
    }

    /// A port whose closure runs on the main actor: it can be added to the main loop, from any thread.
    ///
    /// The parameters are those of ``init(limits:label:fileID:line:handler:)``.
    public static func mainActor(
        limits: Limits = Limits(), label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping @MainActor (Message) -> Message?
    ) -> MessagePort {
        MessagePort(limits, ItemLabel(label, fileID, line), home: SystemCalls.mainThreadID) { delivery in
            guard delivery.kind != .noReply else { return nil }
            return MainActor.assumeIsolated { handler(delivery.message) }
        }
    }

    /// The news that there will be no answer are for who waits for one, and a plain port does not.
    private static func messages(_ handler: @escaping (Message) -> Message?) -> (Delivery) -> Message? {
        { delivery in delivery.kind == .noReply ? nil : handler(delivery.message) }
    }
}
