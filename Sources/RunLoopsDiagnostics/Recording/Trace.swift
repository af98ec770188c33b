// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// What was recorded: the last events of each loop.
    ///
    /// Thread safety: a value; any thread.
    public struct Trace: Sendable {
        /// The events of one loop.
        public struct Loop: Sendable {
            /// The kernel's number of the loop's thread.
            public var thread: Int32
            /// The thread's name, as the kernel knows it.
            public var name: String
            /// Whether it is the main loop.
            public var isMain: Bool
            /// Oldest first.
            public var events: [Trace.Event]
            /// How many older events were overwritten.
            public var lost: Int
            /// The modes that the loop was run in, in the order of their first runs; also the modes whose events are
            /// lost.
            var modesRun: [RunLoop.Mode] = []
            /// Which items were in which mode, and when; oldest first.
            var pages: [ItemPage] = []
        }

        /// The process's number.
        public var process: Int32
        /// The program's file name.
        public var program: String
        /// The loops, in the order in which they were added or made.
        public var loops: [Loop]
        /// The number of loops beyond the number that one recording keeps.
        public var loopsNotRecorded: Int
    }
}
