// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension RunLoop {
    /// The result of a run, with the numbers of `CFRunLoopRunResult`.
    public enum RunResult: Int, Sendable, CustomStringConvertible {
        /// The mode was empty or unknown, or has become empty.
        case finished = 1
        /// `stop()` was called.
        case stopped = 2
        /// The time limit was reached.
        case timedOut = 3
        /// A source was handled in a run that returns after one source.
        case handledSource = 4

        /// The name of the case.
        public var description: String {
            switch self {
            case .finished: "finished"
            case .stopped: "stopped"
            case .timedOut: "timedOut"
            case .handledSource: "handledSource"
            }
        }
    }
}
