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
    public var descriptors: [MessageDescriptor]
    /// Where the answer is to go.
    ///
    /// What the receiver's closure returns is sent there. The receiver may also keep it and answer later, from any thread,
    /// and more than once.
    public var replyTo: MessageSender?

    /// A message of the given parts.
    public init(
        id: Int32 = 0, bytes: [UInt8] = [], descriptors: [MessageDescriptor] = [], replyTo: MessageSender? = nil
    ) {
        self.id = id
        self.bytes = bytes
        self.descriptors = descriptors
        self.replyTo = replyTo
    }

    /// A message whose bytes are `text` in UTF-8.
    public init(
        id: Int32 = 0, text: String, descriptors: [MessageDescriptor] = [], replyTo: MessageSender? = nil
    ) {
        self.init(id: id, bytes: Array(text.utf8), descriptors: descriptors, replyTo: replyTo)
    }

    /// The bytes as text, with the replacement character for what is not UTF-8.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
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
    var message: Message
}
