// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
public import RunLoops
internal import RunLoopsLibC
internal import RunLoopsSystem

extension RunLoop.MessagePort {
    /// Gives the port a name, under which senders of this process and others find it.
    ///
    /// Other processes connect once the port is in a loop that runs. ``invalidate()`` withdraws the name; when the
    /// process dies without that, the next process that publishes the name takes it over. A port may have several
    /// names.
    ///
    /// - Parameters:
    ///   - name: 1 to 64 of the characters `A–Z a–z 0–9 . - _`, the first of which is not a dot.
    ///   - directory: The directory; the user's own if `nil`. Other users need a directory that they can reach:
    ///     ``MessagePort/Directory/init(shared:)``.
    ///   - access: The users who may connect; checked for every connection.
    /// - Throws: ``PortError/invalidName(_:)``, ``PortError/nameTaken(_:)`` when a living port has it,
    ///   ``PortError/unsafeDirectory(_:)``, ``PortError/dead`` for an invalid port, ``PortError/system(_:)``.
    ///
    /// Corresponds to the name of `CFMessagePortCreateLocal`.
    /// - Complexity: about ten system calls.
    public func publish(
        as name: String, in directory: Directory? = nil, access: Access = .sameUser
    ) throws(RunLoop.PortError) {
        let name = try PortName(name)
        if generation.isInherited { throw .dead }
        let directory = if let directory { directory } else { try Directory.user() }
        let publication = try Publication(name, directory, access, queue) {
            [weak self] (socket, who) throws(RunLoop.PortError) in
            guard let self else { throw .dead }
            try admit(socket, of: who.process)
        } rests: { [weak self] in
            self?.rest($0)
        }
        let isKept = lock.withLock { () -> Bool in
            guard handler != nil else { return false }
            publications.append(publication)
            return true
        }
        guard isKept else {
            publication.withdraw()
            throw .dead
        }
        guard let source = publication.source else { return }
        do throws(RunLoop.SystemCallError) { try watch(source) } catch {
            publication.withdraw()
            lock.withLock { publications.removeAll { $0 === publication } }
            throw .system(error)
        }
    }
}

extension RunLoop.MessagePort.Directory {
    /// A name in a directory of ports.
    public struct Entry: Hashable, Sendable {
        /// The name.
        public let name: String
        /// The process that has the name; nil if that process has ended without withdrawing the name.
        public let process: Int32?
    }
}

extension RunLoop.MessagePort.Directory {
    /// Returns the names in the directory, in alphabetical order.
    ///
    /// - Throws: ``PortError/system(_:)``.
    ///
    /// - Complexity: O(n) in the files of the directory, and some system calls for each.
    public func publishedPorts() throws(RunLoop.PortError) -> [Entry] {
        // A second open file of the directory, with a read position of its own.
        let number = try Errors.check("open", rl_port_open_directory(path(of: "."), true), of: path)
        defer { _ = rl_close(number) }
        var found: [Entry] = []
        let result = DirectoryEntries.read(number) { file, _ in
            if let name = PortName(socketFile: file.decoded) {
                found.append(Entry(name: name.text, process: owner(of: name)))
            }
            return true
        }
        if result < 0 { throw .system(.init(call: "getdents", code: -result, subject: path)) }
        return found.sorted { $0.name < $1.name }
    }

    /// The process that holds the lock on a name.
    private func owner(of name: PortName) -> Int32? {
        let number = rl_port_open_lock(descriptor.number, name.lockFile, false, 0)
        guard number >= 0 else { return nil }
        let file = RunLoop.MessagePort.Descriptor(adopting: number)
        defer { withExtendedLifetime(file) {} }
        guard rl_port_lock(number) == -EWOULDBLOCK else { return nil }
        let text = [UInt8](unsafeUninitializedCapacity: 16) { space, count in
            count = max(0, rl_port_read_file(number, space.baseAddress, space.count))
        }
        return Int32(String(decoding: text.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)) ?? 0
    }
}
