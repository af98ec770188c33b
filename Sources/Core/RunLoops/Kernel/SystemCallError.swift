// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoopsLibC

extension RunLoop {
    /// A system call that failed, and its error number.
    public struct SystemCallError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The system call, by its Linux name.
        public let call: String
        /// The error number (`errno`), such as `EMFILE`.
        public let code: CInt
        /// The path, address, process or signal that the call was about; `nil` if there is none.
        ///
        /// For people: errors with the same call and code are equal, whatever their subjects are.
        public let subject: String?

        /// Makes the error of a call that failed with the error number `code`.
        ///
        /// - Parameters:
        ///   - call: The system call, by its Linux name.
        ///   - code: The error number.
        ///   - subject: The path, address, process or signal that the call was about.
        public init(call: String, code: CInt, subject: String? = nil) {
            self.call = call
            self.code = code
            self.subject = subject
        }

        /// The name of the call, its subject, the system's message for the error, and the error number.
        public var description: String {
            "\(call)\(subject.map { " \($0)" } ?? ""): \(String(cString: strerror(code))) (errno \(code))"
        }

        /// Whether the calls and the codes are equal.
        public static func == (one: Self, other: Self) -> Bool { one.call == other.call && one.code == other.code }

        /// Hashes the call and the code.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(call)
            hasher.combine(code)
        }

        /// Whether the descriptor was closed behind the kernel's back.
        var isUnknownDescriptor: Bool { code == EBADF || code == ENOENT }
    }
}

/// Returns the result of a call that returns errors as negative numbers; throws the errors, with the subject of the call.
@discardableResult
package func check(
    _ call: String, _ result: CInt, of subject: @autoclosure () -> String? = nil
) throws(RunLoop.SystemCallError) -> CInt {
    if result < 0 { throw RunLoop.SystemCallError(call: call, code: -result, subject: subject()) }
    return result
}
