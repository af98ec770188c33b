// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsLibC

/// The `errno` values that this module tells apart from all others.
enum Errors {
    static let timedOut = ETIMEDOUT
    static let again = EAGAIN
    static let aborted = ECONNABORTED
    static let exists = EEXIST
    static let notFound = ENOENT

    /// Returns the result of a system call; throws if the result is negative, which is a negated error number.
    @discardableResult
    static func check(
        _ call: String, _ result: CInt, of subject: @autoclosure () -> String? = nil
    ) throws(RunLoop.PortError) -> CInt {
        if result < 0 { throw .system(.init(call: call, code: -result, subject: subject())) }
        return result
    }

    /// Returns the port error for the error number of a send that the system refused.
    static func sending(_ code: CInt) -> RunLoop.PortError {
        switch code {
        case EPIPE, ECONNRESET, ENOTCONN, ECONNREFUSED: .dead
        case EBADF: .invalidDescriptor
        case EMSGSIZE: .tooLarge(0)
        default: .system(.init(call: "sendmsg", code: code))
        }
    }

    /// Returns the port error for the error number of a connection that the system refused.
    static func connecting(_ code: CInt, _ name: String) -> RunLoop.PortError {
        switch code {
        case ENOENT, ECONNREFUSED: .noSuchPort(name)
        case EACCES, EPERM: .notPermitted
        case EAGAIN: .timedOut
        default: .system(.init(call: "connect", code: code, subject: name))
        }
    }
}
