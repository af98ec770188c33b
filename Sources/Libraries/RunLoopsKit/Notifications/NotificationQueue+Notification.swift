// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop.NotificationQueue {
    /// An event: its name, and the object that it happened to.
    ///
    /// A ``NotificationQueue`` delivers it.
    public struct Notification {
        /// The kind of the event.
        public struct Name: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
            /// The text.
            public let rawValue: String
            /// The name with that text.
            public init(rawValue: String) { self.rawValue = rawValue }
            /// The name with that text.
            public init(stringLiteral text: String) { rawValue = text }
        }

        /// The kind of the event.
        public let name: Name
        /// The object that the event happened to, if there is one.
        public let sender: AnyObject?
        /// Further data, if there is any.
        public let payload: Any?

        /// Makes a notification.
        public init(_ name: Name, sender: AnyObject? = nil, payload: Any? = nil) {
            self.name = name
            self.sender = sender
            self.payload = payload
        }
    }
}
