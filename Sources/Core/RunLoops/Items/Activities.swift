// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension RunLoop {
    /// The points of a run at which observers are called, as a set.
    ///
    /// The bits are Apple's (`CFRunLoopActivity`).
    public struct Activities: OptionSet, Hashable, Sendable, CustomStringConvertible {
        /// The bits.
        public let rawValue: UInt

        /// Makes a set of the given bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// A run begins; reported once, before its first turn.
        public static var entry: Activities { Activities(rawValue: 1) }
        /// A turn begins (step 2).
        public static var beforeTimers: Activities { Activities(rawValue: 2) }
        /// Blocks and signalled sources are about to be served (step 3).
        public static var beforeSources: Activities { Activities(rawValue: 4) }
        /// The thread is about to sleep (step 7).
        ///
        /// No other callout follows before the thread has slept.
        public static var beforeWaiting: Activities { Activities(rawValue: 32) }
        /// The thread has slept and is awake (step 8).
        public static var afterWaiting: Activities { Activities(rawValue: 64) }
        /// A run ends; reported once, after its last turn.
        public static var exit: Activities { Activities(rawValue: 128) }
        /// All activities, also those that later versions may add.
        public static var all: Activities { Activities(rawValue: 0x0FFF_FFFF) }

        /// The names of the activities in the set, in the order of a turn; unknown bits are left out.
        public var description: String {
            if self == .all { return "[all]" }
            let names: [(Activities, String)] = [
                (.entry, "entry"), (.beforeTimers, "beforeTimers"), (.beforeSources, "beforeSources"),
                (.beforeWaiting, "beforeWaiting"), (.afterWaiting, "afterWaiting"), (.exit, "exit"),
            ]
            return "[" + names.filter { contains($0.0) }.map(\.1).joined(separator: ", ") + "]"
        }
    }
}
