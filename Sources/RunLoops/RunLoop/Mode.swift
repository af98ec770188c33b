extension RunLoop {
    /// The name of a mode that a run loop can run in.
    ///
    /// A mode groups sources, timers and observers; a run is in one mode, and what belongs to the others neither fires nor
    /// wakes the thread. Any string makes a mode; those that Apple's frameworks use are predefined with Apple's strings.
    ///
    /// Names are interned: comparing, hashing and copying a mode costs as much as it does for an integer. The strings are
    /// kept until the process ends.
    ///
    /// Corresponds to `CFRunLoopMode`. Thread safety: a value; any thread.
    public struct Mode: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The number of the name, in the order in which the names were first used.
        package let number: UInt32

        package init(number: UInt32) { self.number = number }

        /// The mode of that name.
        ///
        /// Complexity: one look-up in a table of all names, under a lock.
        public init(rawValue: String) { number = Self.names.number(of: rawValue) }

        /// The mode of that name.
        public init(_ name: String) { self.init(rawValue: name) }

        /// The mode of that name.
        public init(stringLiteral name: String) { self.init(rawValue: name) }

        /// The name.
        public var rawValue: String { Self.names[number] }

        // By the numbers. Left to the compiler it would be the comparison of all raw-representable types: that of the strings.
        /// Whether both have the same name.
        @inline(__always)
        public static func == (left: Mode, right: Mode) -> Bool { left.number == right.number }

        /// Hashes the name's number.
        public func hash(into hasher: inout Hasher) { hasher.combine(number) }

        /// The name.
        public var description: String { rawValue }

        /// The mode for everything that has no reason to be elsewhere (`kCFRunLoopDefaultMode`).
        public static var `default`: Mode { Mode(number: 0) }
        /// Not a mode to run in but a mark: all modes that were marked as common (`kCFRunLoopCommonModes`).
        public static var common: Mode { Mode(number: 1) }
        /// While the user drags (`UITrackingRunLoopMode`).
        ///
        /// An application layer marks it as common.
        public static var tracking: Mode { Mode(number: 2) }
        /// While the application starts (`UIInitializationRunLoopMode`).
        public static var initialization: Mode { Mode(number: 3) }
        /// While system events are received (`GSEventReceiveRunLoopMode`).
        public static var eventReceive: Mode { Mode(number: 4) }
        /// While an answer over a connection is awaited (`NSConnectionReplyMode`).
        public static var connectionReply: Mode { Mode(number: 5) }
        /// While a modal panel is up (`NSModalPanelRunLoopMode`).
        public static var modalPanel: Mode { Mode(number: 6) }
        /// While the end of a child process is awaited (`NSTaskDeathCheckMode`).
        public static var taskDeathCheck: Mode { Mode(number: 7) }

        private static let names = Numbering([
            "kCFRunLoopDefaultMode", "kCFRunLoopCommonModes", "UITrackingRunLoopMode", "UIInitializationRunLoopMode",
            "GSEventReceiveRunLoopMode", "NSConnectionReplyMode", "NSModalPanelRunLoopMode", "NSTaskDeathCheckMode",
        ])
    }
}
