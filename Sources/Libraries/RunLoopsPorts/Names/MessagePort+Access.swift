// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
public import RunLoops

extension RunLoop.MessagePort {
    /// The process at the other end of a connection, as the kernel describes it.
    ///
    /// A connected process cannot choose its credentials. When the process has ended, another process may get its
    /// number; the user stays the same.
    public struct Credentials: Hashable, Sendable {
        /// The process that made the connection, or that listened for it.
        public var process: Int32
        /// The process's effective user at that time.
        public var user: UInt32
        /// The process's effective group at that time.
        public var group: UInt32

        /// Makes credentials from their parts.
        public init(process: Int32, user: UInt32, group: UInt32) {
            self.process = process
            self.user = user
            self.group = group
        }
    }

    /// The users whose processes may connect.
    public enum Access: Hashable, Sendable {
        /// Processes of the user that this process runs as, and no other, not even root's.
        case sameUser
        /// Processes of these users.
        case users(Set<UInt32>)
        /// All users who can reach the directory.
        case everybody

        /// Whether a process with `credentials` may connect.
        public func allows(_ credentials: Credentials) -> Bool {
            switch self {
            case .sameUser: credentials.user == rl_port_user()
            case .users(let users): users.contains(credentials.user)
            case .everybody: true
            }
        }

        /// The file's mode keeps out processes that would be refused anyway.
        var fileMode: UInt32 { self == .sameUser ? 0o600 : 0o666 }
    }
}
