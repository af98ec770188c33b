// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension ChildCompletion {
    /// How a child ended, and what it has written.
    public struct Report: Hashable, Sendable {
        /// How the child ended, and what it has used.
        public let exit: ChildSource.Exit
        /// The bytes that the child has written to standard output; empty unless the child was spawned with a pipe.
        public let output: [UInt8]
        /// The bytes that the child has written to standard error; empty unless the child was spawned with a pipe.
        public let error: [UInt8]

        /// Makes a report, so that a test can call a program's closure without a child.
        public init(exit: ChildSource.Exit, output: [UInt8] = [], error: [UInt8] = []) {
            self.exit = exit
            self.output = output
            self.error = error
        }

        /// The standard output as text; bytes that are not UTF-8 are replaced by `U+FFFD`.
        public var outputText: String { String(decoding: output, as: UTF8.self) }
        /// The standard error as text; bytes that are not UTF-8 are replaced by `U+FFFD`.
        public var errorText: String { String(decoding: error, as: UTF8.self) }
    }

    /// A stream that a child writes to.
    public enum Stream: String, Hashable, Sendable {
        /// Standard output.
        case output
        /// Standard error.
        case error
    }

    /// The error of a child that has ended and whose output is incomplete.
    ///
    /// A child that ends with an error code or by a signal is not a failure: its ``Report`` has the status.
    public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// Why the output is incomplete.
        public enum Reason: Hashable, Sendable {
            /// The child has written more than the limit to a stream, and was killed.
            case outputTooLong(Stream, limit: Int)
            /// The child has taken longer than its time limit, and was ended.
            case tookTooLong(Duration)
            /// The child has ended, and another process still holds one of its pipes open.
            case heldOpen
            /// A pipe cannot be read, and the child was killed.
            case unreadable(RunLoop.InputError)
        }

        /// Why the output is incomplete.
        public let reason: Reason
        /// How the child ended, and what was read; at most the limit of each stream.
        public let report: Report

        /// Makes a failure, for tests of code that handles one.
        public init(_ reason: Reason, _ report: Report) {
            self.reason = reason
            self.report = report
        }

        /// The reason and the end, in words.
        public var description: String {
            switch reason {
            case .outputTooLong(let stream, let limit):
                "The child has written more than \(limit) bytes to standard \(stream): \(report.exit.status)."
            case .tookTooLong(let limit): "The child has taken longer than \(limit): \(report.exit.status)."
            case .heldOpen: "Another process holds the output of the child open: \(report.exit.status)."
            case .unreadable(let error): "The output of the child cannot be read: \(error)"
            }
        }
    }
}
