// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import LinuxLibC

extension RunLoop {
    /// A system call that failed, and its error number.
    public struct SystemCallError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The system call, by its Linux name.
        public let call: String
        /// The error number (`errno`), such as `EMFILE`.
        public let code: CInt

        /// Makes the error of a call that failed with the error number `code`.
        public init(call: String, code: CInt) {
            self.call = call
            self.code = code
        }

        /// The name of the call, the system's message for the error, and the error number.
        public var description: String {
            "\(call): \(String(cString: strerror(code))) (errno \(code))"
        }

        /// Whether the descriptor was closed behind the kernel's back.
        var isUnknownDescriptor: Bool { code == EBADF || code == ENOENT }
    }
}

/// Returns the result of a call that returns errors as negative numbers; throws the errors.
@discardableResult
package func check(_ call: String, _ result: CInt) throws(RunLoop.SystemCallError) -> CInt {
    if result < 0 { throw RunLoop.SystemCallError(call: call, code: -result) }
    return result
}
