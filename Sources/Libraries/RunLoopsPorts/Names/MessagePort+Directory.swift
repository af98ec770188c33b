// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
public import RunLoops
internal import RunLoopsLibC
internal import RunLoopsSystem

extension RunLoop.MessagePort {
    /// The directory in which ports have their names.
    ///
    /// The directory is checked once and then held open: later operations on names use this directory, even if its path
    /// changes.
    ///
    /// Thread safety: all members may be used by any thread.
    public final class Directory: Sendable {
        /// The path at which the directory was opened; bytes that are not UTF-8 are shown as U+FFFD.
        public let path: String
        let descriptor: Descriptor
        let identity: Identity

        struct Identity: Hashable, Sendable {
            let device: UInt64
            let number: UInt64
        }

        /// Returns the user's own directory: `run-loop-ports` in `$XDG_RUNTIME_DIR`, else in `/run/user/UID`, else
        /// `/tmp/run-loop-ports-UID`.
        ///
        /// The call makes the directory if it does not exist. The path must lead to a directory of this user, not to a
        /// link, and no other user may enter the directory.
        ///
        /// - Throws: ``PortError/unsafeDirectory(_:)``, ``PortError/system(_:)``.
        public static func user() throws(RunLoop.PortError) -> Directory {
            let user = rl_port_user()
            // Relative paths are to be ignored, says the specification of the variable.
            if let text = ProcessEnvironment.value(of: "XDG_RUNTIME_DIR"), text.isAbsolute {
                return try under(text, isRequired: true)
            }
            let run = "/run/user/\(user)"
            if access(run, F_OK) == 0 { return try under(try checked(run), isRequired: false) }
            return try Directory(making: "/tmp/run-loop-ports-\(user)")
        }

        private static func under(_ parent: SystemText, isRequired: Bool) throws(RunLoop.PortError) -> Directory {
            // The parent must belong to the user alone, too: a user who may write there may rename the directory that
            // was checked.
            let outer = try Directory(opening: parent, followsLinks: isRequired)
            try outer.requirePrivate()
            return try Directory(making: parent.entry(try checked("run-loop-ports")))
        }

        /// The path of a program; a zero would cut it.
        private static func checked(_ path: String) throws(RunLoop.PortError) -> SystemText {
            guard let checked = SystemText(path) else {
                throw .system(.init(call: "open", code: EINVAL, subject: path))
            }
            return checked
        }

        /// Opens a directory of the caller's choice, for ports that other users may reach.
        ///
        /// The users who may change the directory decide which ports there are. It must belong to this user or root,
        /// and no other user may write there.
        ///
        /// - Throws: ``PortError/unsafeDirectory(_:)``, ``PortError/system(_:)``, with `EINVAL` if the path contains a
        ///   zero byte.
        public convenience init(shared path: String) throws(RunLoop.PortError) {
            try self.init(opening: try Self.checked(path), followsLinks: false)
            let file = try describe()
            guard file.user == 0 || file.user == rl_port_user() else {
                throw .unsafeDirectory("\(path) belongs to user \(file.user)")
            }
            guard file.mode & 0o022 == 0 else { throw .unsafeDirectory("others may write to \(path)") }
        }

        /// Opens a directory for this user alone, and makes it if it does not exist.
        ///
        /// - Throws: ``PortError/unsafeDirectory(_:)``, ``PortError/system(_:)``, with `EINVAL` if the path contains a
        ///   zero byte.
        public convenience init(making path: String) throws(RunLoop.PortError) {
            try self.init(making: try Self.checked(path))
        }

        private convenience init(making path: SystemText) throws(RunLoop.PortError) {
            let result = path.withCString { rl_port_make_directory($0, 0o700) }
            if result != -Errors.exists { try Errors.check("mkdir", result, of: path.decoded) }
            try self.init(opening: path, followsLinks: false)
            try requirePrivate()
        }

        private init(opening path: SystemText, followsLinks: Bool) throws(RunLoop.PortError) {
            let result = path.withCString { rl_port_open_directory($0, followsLinks) }
            if result == -ELOOP || result == -ENOTDIR {
                throw .unsafeDirectory("\(path.decoded) is no directory, or a link to one")
            }
            try Errors.check("open", result, of: path.decoded)
            self.path = path.decoded
            descriptor = Descriptor(adopting: result)
            var file = rl_file()
            try Errors.check("fstat", rl_port_describe(result, &file), of: path.decoded)
            identity = Identity(device: file.device, number: file.number)
        }

        private func describe() throws(RunLoop.PortError) -> rl_file {
            var file = rl_file()
            try Errors.check("fstat", rl_port_describe(descriptor.number, &file), of: path)
            return file
        }

        private func requirePrivate() throws(RunLoop.PortError) {
            let file = try describe()
            guard file.user == rl_port_user() else { throw .unsafeDirectory("\(path) belongs to user \(file.user)") }
            guard file.mode & 0o077 == 0 else {
                throw .unsafeDirectory("others may enter \(path); its mode must be 0700")
            }
        }

        /// A path to a file of this very directory, short enough for a socket's address however long the directory's
        /// own path is.
        func path(of file: String) -> String { "/proc/self/fd/\(descriptor.number)/\(file)" }
    }
}
