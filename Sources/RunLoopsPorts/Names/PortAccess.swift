internal import CLinuxKernel
public import RunLoops

extension RunLoop.MessagePort {
    /// Who the process at the other end of a connection is, as the kernel says.
    ///
    /// A connected process cannot choose what is said of it. The number of the process may be another's when that one has
    /// ended; the user stays.
    public struct Credentials: Hashable, Sendable {
        /// The process that made the connection, or that listened for it.
        public var process: Int32
        /// Its effective user then.
        public var user: UInt32
        /// Its effective group then.
        public var group: UInt32

        /// Credentials of the given parts.
        public init(process: Int32, user: UInt32, group: UInt32) {
            self.process = process
            self.user = user
            self.group = group
        }
    }

    /// Whose processes may connect.
    public enum Access: Hashable, Sendable {
        /// Processes of the user that this process runs as, and no other, not even root's.
        case sameUser
        /// Processes of these users.
        case users(Set<UInt32>)
        /// Everybody who can reach the directory.
        case everybody

        /// Whether `credentials` are let in.
        public func allows(_ credentials: Credentials) -> Bool {
            switch self {
            case .sameUser: credentials.user == rl_port_user()
            case .users(let users): users.contains(credentials.user)
            case .everybody: true
            }
        }

        /// The file's mode keeps out who would be refused anyway.
        var fileMode: UInt32 { self == .sameUser ? 0o600 : 0o666 }
    }
}
