// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import LinuxLibC
internal import RunLoops

/// The error numbers that have a meaning of their own.
enum Errors {
    static let timedOut = ETIMEDOUT
    static let again = EAGAIN
    static let aborted = ECONNABORTED
    static let exists = EEXIST
    static let notFound = ENOENT

    /// The result of a call that returns errors as negative numbers; throws the errors.
    @discardableResult
    static func check(_ call: String, _ result: CInt) throws(RunLoop.PortError) -> CInt {
        if result < 0 { throw .system(.init(call: call, code: -result)) }
        return result
    }

    /// What a refused send means to the sender.
    static func sending(_ code: CInt) -> RunLoop.PortError {
        switch code {
        case EPIPE, ECONNRESET, ENOTCONN, ECONNREFUSED: .dead
        case EBADF: .invalidDescriptor
        case EMSGSIZE: .tooLarge(0)
        default: .system(.init(call: "sendmsg", code: code))
        }
    }

    /// What a refused connection means to the side that wanted it.
    static func connecting(_ code: CInt, _ name: String) -> RunLoop.PortError {
        switch code {
        case ENOENT, ECONNREFUSED: .noSuchPort(name)
        case EACCES, EPERM: .notPermitted
        case EAGAIN: .timedOut
        default: .system(.init(call: "connect", code: code))
        }
    }
}
