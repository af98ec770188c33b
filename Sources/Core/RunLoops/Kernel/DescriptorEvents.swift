// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension RunLoop {
    /// What a descriptor can be ready for.
    public struct DescriptorEvents: OptionSet, Hashable, Sendable, CustomStringConvertible {
        /// The bits.
        public let rawValue: UInt8

        /// A set of the given bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// There is something to read, a connection to accept, or the end of the stream.
        public static var readable: DescriptorEvents { DescriptorEvents(rawValue: 1) }
        /// Writing would not block.
        public static var writable: DescriptorEvents { DescriptorEvents(rawValue: 2) }
        /// The other side has closed its end, or sends no more.
        ///
        /// Reported to whoever asks for anything; asked for alone, nothing else is but an error.
        public static var hangUp: DescriptorEvents { DescriptorEvents(rawValue: 4) }
        /// An error is pending on the descriptor.
        ///
        /// Reported to whoever asks for anything.
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
