// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops
internal import RunLoopsLibC
internal import RunLoopsSystem

/// The directory with the sockets of this user's inspected processes, checked once and then held open.
///
/// `PID-RANDOM` is a socket, `PID-RANDOM.new` a socket that does not listen yet. No name is used twice, so that a
/// process that removes the sockets of dead processes cannot remove the socket of a living process.
final class InspectorDirectory: Sendable {
    private let descriptor: PrivateDescriptor

    /// The possible paths of this user's directory, in order of preference.
    static var candidates: [SystemText] {
        let user = rl_port_user()
        var parents: [SystemText] = []
        // Relative paths are to be ignored, says the specification of the variable.
        if let named = ProcessEnvironment.value(of: "XDG_RUNTIME_DIR"), named.isAbsolute {
            parents = [named]
        }
        let run = SystemText(prefixOf: "/run/user/\(user)".utf8)
        if parents != [run] { parents.append(run) }
        return parents.filter { isPrivate($0) }.map { $0.entry(SystemText(prefixOf: "run-loop-inspect".utf8)) }
            + [SystemText(prefixOf: "/tmp/run-loop-inspect-\(user)".utf8)]
    }

    /// Whether the directory belongs to this user alone: another user who may write to it could replace a socket after
    /// the check.
    private static func isPrivate(_ path: SystemText) -> Bool {
        let number = path.withCString { rl_port_open_directory($0, true) }
        return number >= 0 && complaint(PrivateDescriptor(adopting: number), path) == nil
    }

    private static func complaint(_ directory: PrivateDescriptor, _ path: SystemText) -> String? {
        let path = path.decoded
        var file = rl_file()
        let result = rl_port_describe(directory.number, &file)
        if result < 0 { return "\(path) cannot be looked at: \(RunLoop.SystemCallError(call: "fstat", code: -result))" }
        if file.user != rl_port_user() { return "\(path) belongs to user \(file.user)" }
        if file.mode & 0o077 != 0 { return "others may enter \(path); its mode must be 0700" }
        return nil
    }

    /// Opens a directory; with `makes`, creates it if it does not exist.
    init(_ path: SystemText, makes: Bool) throws(RunLoop.Inspector.StartError) {
        if makes {
            let made = path.withCString { rl_port_make_directory($0, 0o700) }
            if made < 0, made != -EEXIST { throw .system(.init(call: "mkdir", code: -made, subject: path.decoded)) }
        }
        let number = path.withCString { rl_port_open_directory($0, false) }
        if number == -ELOOP || number == -ENOTDIR {
            throw .unsafeDirectory("\(path.decoded) is no directory, or a link to one")
        }
        if number < 0 { throw .system(.init(call: "open", code: -number, subject: path.decoded)) }
        descriptor = PrivateDescriptor(adopting: number)
        if let complaint = Self.complaint(descriptor, path) { throw .unsafeDirectory(complaint) }
    }

    /// Returns a path of a socket that fits into a socket's address, however long the directory's own path is.
    private func address(_ name: String) -> String { "/proc/self/fd/\(descriptor.number)/\(name)" }

    // MARK: Who listens

    /// Makes a socket of this process that listens under a new name.
    func listen() throws(RunLoop.SystemCallError) -> (socket: PrivateDescriptor, name: String) {
        let socket = PrivateDescriptor(adopting: try check("socket", rl_inspect_socket()))
        let name = "\(getpid())-\(String(rl_port_random(), radix: 16))"
        // Under another name first: a client that finds the name finds a listener, or a process that has died.
        let new = name + ".new"
        try check("bind", rl_port_bind(socket.number, address(new)))
        do {
            try check("fchmodat", rl_port_set_mode(descriptor.number, new, 0o600))
            try check("listen", rl_port_listen(socket.number, 16))
            try check("renameat", rl_port_rename(descriptor.number, new, name))
        } catch {
            remove(new)
            throw error
        }
        return (socket, name)
    }

    func remove(_ name: String) { _ = rl_port_remove(descriptor.number, name) }

    // MARK: Who asks

    /// The names of all sockets in the directory, each with the process number in the name.
    func names() -> [(process: pid_t, name: String)] {
        // A socket that does not listen yet looks like a dead process's socket.
        everyName().filter { !$0.name.hasSuffix(".new") }
    }

    private func everyName() -> [(process: pid_t, name: String)] {
        // A descriptor of its own: reading moves on.
        let directory = rl_port_open_directory("/proc/self/fd/\(descriptor.number)", true)
        guard directory >= 0 else { return [] }
        defer { _ = rl_close(directory) }
        var names: [(process: pid_t, name: String)] = []
        _ = DirectoryEntries.read(directory) { file, _ in
            let name = file.decoded
            if let digits = name.split(separator: "-").first, let process = pid_t(digits), process > 0 {
                names.append((process, name))
            }
            return true
        }
        return names.sorted { $0 < $1 }
    }

    /// Connects to a socket; removes the socket's name if its process has died.
    func connect(_ name: String) throws(RunLoop.SystemCallError) -> PrivateDescriptor {
        let socket = PrivateDescriptor(adopting: try check("socket", rl_inspect_socket()))
        // Without waiting: when its queue is full, the process has been busy or stopped for long.
        let result = rl_port_connect(socket.number, address(name), 0)
        if result == -ECONNREFUSED { remove(name) }
        try check("connect", result)
        return socket
    }

    /// Removes the sockets of dead processes, without a request to living ones.
    func tidy() {
        for (process, name) in everyName() where kill(process, 0) != 0 && errno == ESRCH {
            _ = try? connect(name)
        }
    }
}
