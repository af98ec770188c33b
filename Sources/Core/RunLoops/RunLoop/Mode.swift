// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension RunLoop {
    /// The name of a mode that a run loop can run in.
    ///
    /// A mode groups sources, timers and observers. A run is in one mode, and the items of the other modes neither fire
    /// nor wake the thread. Any string makes a mode; the modes of Apple's frameworks are predefined with Apple's
    /// strings.
    ///
    /// Names are interned: comparing, hashing and copying a mode costs as much as it does for an integer. The strings
    /// are kept until the process ends. A loop finds a mode by a linear search of its own modes, except for the default
    /// mode; a loop usually has few modes. With 10,000 modes a call takes about 0.1 milliseconds.
    ///
    /// Corresponds to `CFRunLoopMode`. Thread safety: a value; any thread.
    public struct Mode: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The number of the name, in the order in which the names were first used.
        package let number: UInt32

        /// The mode whose name has this number.
        package init(number: UInt32) { self.number = number }

        /// The mode with this name.
        ///
        /// - Complexity: one look-up in a table of all names, under a lock.
        public init(rawValue: String) { number = Self.names.number(of: rawValue) }

        /// The mode with this name.
        public init(_ name: String) { self.init(rawValue: name) }

        /// The mode with this name.
        public init(stringLiteral name: String) { self.init(rawValue: name) }

        /// The name.
        public var rawValue: String { Self.names[number] }

        // Compares the numbers. The compiler would choose the comparison of all raw-representable types, which compares
        // strings.
        /// Whether both have the same name.
        public static func == (left: Mode, right: Mode) -> Bool { left.number == right.number }

        /// Hashes the name's number.
        public func hash(into hasher: inout Hasher) { hasher.combine(number) }

        /// The name.
        public var description: String { rawValue }

        /// The default mode, for all items that need no other mode (`kCFRunLoopDefaultMode`).
        public static var `default`: Mode { Mode(number: 0) }
        /// Stands for all modes that are marked as common (`kCFRunLoopCommonModes`); a loop cannot run in it.
        public static var common: Mode { Mode(number: 1) }
        /// The mode while the user drags (`UITrackingRunLoopMode`).
        ///
        /// An application layer marks it as common.
        public static var tracking: Mode { Mode(number: 2) }
        /// The mode while the application starts (`UIInitializationRunLoopMode`).
        public static var initialization: Mode { Mode(number: 3) }
        /// The mode while an answer over a connection is awaited (`NSConnectionReplyMode`).
        ///
        /// A thread that waits for the answer of a message port runs its loop in this mode.
        public static var connectionReply: Mode { Mode(number: 4) }
        /// The mode while a modal panel is up (`NSModalPanelRunLoopMode`).
        public static var modalPanel: Mode { Mode(number: 5) }
        /// The mode while the end of a child process is awaited (`NSTaskDeathCheckMode`).
        ///
        /// A thread that waits for the exit of a child runs its loop in this mode.
        public static var taskDeathCheck: Mode { Mode(number: 6) }
        /// The mode in which an application receives only what the system asks of it (`GSEventReceiveRunLoopMode`).
        ///
        /// An application of LoopUI runs its loop in this mode while it serves the system in the middle of long work.
        public static var eventReceive: Mode { Mode(number: 7) }

        private static let names = InternTable([
            "kCFRunLoopDefaultMode", "kCFRunLoopCommonModes", "UITrackingRunLoopMode", "UIInitializationRunLoopMode",
            "NSConnectionReplyMode", "NSModalPanelRunLoopMode", "NSTaskDeathCheckMode", "GSEventReceiveRunLoopMode",
        ])
    }
}

/// Gives each value a number, in the order in which the values were first seen, and keeps both until the process ends.
///
/// Thread safety: any thread.
/// - Complexity: one look-up in a table of all values, under a lock.
final class InternTable<Value: Hashable>: @unchecked Sendable {
    private let lock = Lock()
    // Both guarded by the lock.
    private var values: [Value]
    private var numbers: [Value: UInt32] = [:]

    /// Makes a table in which the values in `first`, which must all be different, have the first numbers.
    init(_ first: [Value] = []) {
        values = first
        for (number, value) in first.enumerated() { numbers[value] = UInt32(number) }
    }

    func number(of value: Value) -> UInt32 {
        lock.withLock {
            if let number = numbers[value] { return number }
            let number = UInt32(values.count)
            values.append(value)
            numbers[value] = number
            return number
        }
    }

    subscript(number: UInt32) -> Value { lock.withLock { values[Int(number)] } }
}
