// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop.MessagePort.Sender {
    /// Makes a sender to the port that is published as `name`.
    ///
    /// The sender looks for the port at the first send, and again whenever the port has ended. So the port may be
    /// published later, and by another process than before. A port of this process is found too, and reached without a
    /// socket.
    ///
    /// - Parameters:
    ///   - name: 1 to 64 of the characters `A–Z a–z 0–9 . - _`, the first of which is not a dot.
    ///   - directory: Where the name is looked up; the user's own directory if `nil`.
    ///   - owner: Which users' ports are accepted.
    /// - Throws: ``PortError/invalidName(_:)``, ``PortError/unsafeDirectory(_:)``, ``PortError/system(_:)``.
    ///
    /// Corresponds to `CFMessagePortCreateRemote`.
    public convenience init(
        named name: String, in directory: RunLoop.MessagePort.Directory? = nil,
        owner: RunLoop.MessagePort.Access = .sameUser
    ) throws(RunLoop.PortError) {
        try self.init(named: name, in: directory, owner: owner, looksInProcess: true)
    }

    /// Makes a sender to the port that is published as `name`, with the choice of a socket even to a port of this
    /// process.
    package convenience init(
        named name: String, in directory: RunLoop.MessagePort.Directory? = nil,
        owner: RunLoop.MessagePort.Access = .sameUser, looksInProcess: Bool
    ) throws(RunLoop.PortError) {
        let name = try PortName(name)
        let directory = if let directory { directory } else { try RunLoop.MessagePort.Directory.user() }
        self.init(NamedRoute(name, directory, owner, looksInProcess: looksInProcess))
    }
}
