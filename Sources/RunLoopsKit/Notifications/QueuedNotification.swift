public import RunLoops

extension RunLoop.NotificationQueue {
    /// Something that has happened, by a name and by whom it happened to: what a ``NotificationQueue`` tells.
    public struct Notification {
        /// What kind of thing it is.
        public struct Name: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
            /// The text.
            public let rawValue: String
            /// The name with that text.
            public init(rawValue: String) { self.rawValue = rawValue }
            /// The name with that text.
            public init(stringLiteral text: String) { rawValue = text }
        }

        /// What kind of thing it is.
        public let name: Name
        /// Whom it happened to, if anybody.
        public let sender: AnyObject?
        /// What else is to be said.
        public let payload: Any?

        /// A notification.
        public init(_ name: Name, sender: AnyObject? = nil, payload: Any? = nil) {
            self.name = name
            self.sender = sender
            self.payload = payload
        }
    }
}
