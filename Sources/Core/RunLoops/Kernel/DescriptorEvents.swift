// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension RunLoop {
    /// The events that a descriptor can be ready for.
    public struct DescriptorEvents: OptionSet, Hashable, Sendable, CustomStringConvertible {
        /// The bits.
        public let rawValue: UInt8

        /// Makes a set of the given bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// There is something to read, a connection to accept, or the end of the stream.
        public static var readable: DescriptorEvents { DescriptorEvents(rawValue: 1) }
        /// Writing would not block.
        public static var writable: DescriptorEvents { DescriptorEvents(rawValue: 2) }
        /// The other side has closed its end, or has stopped sending.
        ///
        /// Reported to every source that asks for any event. A source that asks for this event alone gets no other
        /// event except an error.
        public static var hangUp: DescriptorEvents { DescriptorEvents(rawValue: 4) }
        /// An error is pending on the descriptor.
        ///
        /// Reported to every source that asks for any event.
        public static var error: DescriptorEvents { DescriptorEvents(rawValue: 8) }
        /// Urgent data (out-of-band bytes, a change in sysfs, a state change in a control group).
        public static var priority: DescriptorEvents { DescriptorEvents(rawValue: 16) }

        /// The names, in the order of the bits.
        public var description: String {
            let names: [(DescriptorEvents, String)] = [
                (.readable, "readable"), (.writable, "writable"), (.hangUp, "hangUp"), (.error, "error"),
                (.priority, "priority"),
            ]
            return "[" + names.filter { contains($0.0) }.map(\.1).joined(separator: ", ") + "]"
        }
    }
}
