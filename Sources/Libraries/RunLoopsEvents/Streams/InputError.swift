// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// The error with which an ``InputReader`` ends.
    public enum InputError: Error, Hashable, Sendable, CustomStringConvertible {
        /// A system call failed, with an error such as `EIO`, `EISDIR` or `EBADF`.
        case system(SystemCallError)
        /// A line has more bytes than the limit.
        case lineTooLong(limit: Int)
        /// A line is not UTF-8, which the format demands.
        case invalidUTF8
        /// The thread of the loop has ended, so that nothing reads the input.
        case threadEnded

        /// The reason, in words.
        public var description: String {
            switch self {
            case .system(let error): "\(error)"
            case .lineTooLong(let limit): "A line has more than \(limit) bytes."
            case .invalidUTF8: "A line is not valid UTF-8."
            case .threadEnded: "The thread of the run loop has ended."
            }
        }
    }
}
