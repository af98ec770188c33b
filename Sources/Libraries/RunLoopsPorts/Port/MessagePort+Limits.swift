// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop.MessagePort {
    /// The limits of a ``MessagePort``.
    public struct Limits: Hashable, Sendable {
        /// How many messages may wait; the sender of a further message waits.
        ///
        /// Replies to requests are not counted: there is at most one reply for each request.
        public var queue: Int { didSet { check() } }
        /// The maximum number of bytes of one message.
        ///
        /// Longer contents can be sent as the descriptor of a file or a `memfd_create(2)`.
        public var messageSize: Int { didSet { check() } }
        /// The maximum number of descriptors with one message.
        public var descriptors: Int { didSet { check() } }
        /// How many messages are delivered in one turn of the loop.
        public var batch: Int { didSet { check() } }
        /// How many connections from other processes the port may have at once, including the channels on which other
        /// processes send answers.
        ///
        /// A further connection replaces another one: of the process that has most connections, the connection that has
        /// been idle longest. No message is lost by that, and the process connects again for its next message.
        public var peers: Int { didSet { check() } }

        /// Makes limits; the defaults suit most ports.
        ///
        /// - Precondition: here and wherever one is set, all limits are positive except `descriptors`, which may be 0;
        ///   `messageSize` is at most 131,072, so that a message fits into one packet, and `descriptors` at most 253,
        ///   which is the kernel's limit.
        public init(
            queue: Int = 1024, messageSize: Int = 65536, descriptors: Int = 16, batch: Int = 32, peers: Int = 1024
        ) {
            self.queue = queue
            self.messageSize = messageSize
            self.descriptors = descriptors
            self.batch = batch
            self.peers = peers
            check()
        }

        private func check() {
            require(
                queue > 0 && batch > 0 && peers > 0 && 1...131_072 ~= messageSize && 0...253 ~= descriptors,
                "Limits of a message port must be positive, messageSize at most 131072 and descriptors at most 253.")
        }
    }
}
