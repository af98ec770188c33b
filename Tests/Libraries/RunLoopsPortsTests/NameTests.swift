// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsPorts

/// Names, the directory they are in, and the process that has a name.
@Suite(.ownThread) struct NameTests {
    @Test func `A port name that is empty, too long or has a forbidden character is refused`() throws {
        for name in ["a", "clock", "org.example.Clock-2_x", String(repeating: "n", count: 64)] {
            #expect(try PortName(name).text == name)
        }
        let tooLong = String(repeating: "n", count: 65)
        let bad = ["", ".", "..", ".hidden", "a/b", "../a", "a b", "a\u{0}b", "é", "a\n", tooLong]
        for name in bad {
            #expect(throws: RunLoop.PortError.invalidName(name)) { try PortName(name) }
            #expect(throws: RunLoop.PortError.invalidName(name)) { try RunLoop.MessagePort.Sender(named: name) }
        }
    }

    @Test func `A private directory open to others and a shared directory writable by others are refused`() throws {
        let directory = try TestDirectory()
        #expect(try RunLoop.MessagePort.Directory(making: directory.path).path == directory.path)
        chmod(directory.path, 0o750)
        #expect(throws: RunLoop.PortError.self) { try RunLoop.MessagePort.Directory(making: directory.path) }
        #expect(throws: Never.self) { try RunLoop.MessagePort.Directory(shared: directory.path) }
        chmod(directory.path, 0o777)
        #expect(throws: RunLoop.PortError.unsafeDirectory("others may write to \(directory.path)")) {
            try RunLoop.MessagePort.Directory(shared: directory.path)
        }
    }

    @Test func `The error of a directory names its path`() {
        for (call, body) in [
            ("mkdir /nonexistent/ports", { try RunLoop.MessagePort.Directory(making: "/nonexistent/ports") }),
            ("open /nonexistent", { try RunLoop.MessagePort.Directory(shared: "/nonexistent") }),
        ] {
            do {
                _ = try body()
                Issue.record("no error")
            } catch { #expect("\(error)" == "\(call): No such file or directory (errno 2)") }
        }
    }

    @Test func `A directory path that contains a zero byte is refused`() throws {
        let directory = try TestDirectory()
        let path = directory.path + "\0other"
        let expected = RunLoop.PortError.system(RunLoop.SystemCallError(call: "open", code: EINVAL))
        #expect(throws: expected) { try RunLoop.MessagePort.Directory(making: path) }
        #expect(throws: expected) { try RunLoop.MessagePort.Directory(shared: path) }
    }

    @Test func `A symbolic link to a directory is refused`() throws {
        let directory = try TestDirectory()
        let link = directory.path + "-link"
        #expect(symlink(directory.path, link) == 0)
        defer { unlink(link) }
        #expect(throws: RunLoop.PortError.self) { try RunLoop.MessagePort.Directory(making: link) }
        #expect(throws: RunLoop.PortError.self) { try RunLoop.MessagePort.Directory(shared: link) }
    }

    // Only root can give a directory to somebody else.
    @Test(.enabled(if: geteuid() == 0)) func `A directory of another user is refused`() throws {
        let directory = try TestDirectory()
        #expect(chown(directory.path, 65534, 65534) == 0)
        #expect(throws: RunLoop.PortError.unsafeDirectory("\(directory.path) belongs to user 65534")) {
            try RunLoop.MessagePort.Directory(making: directory.path)
        }
    }

    @Test func `A name that a valid port has published cannot be published by another port`() throws {
        let directory = try TestDirectory()
        let first = RunLoop.MessagePort.sendable { _ in nil }
        try first.publish(as: "one", in: directory.ports)
        let second = RunLoop.MessagePort.sendable { _ in nil }
        #expect(throws: RunLoop.PortError.nameTaken("one")) { try second.publish(as: "one", in: directory.ports) }
        #expect(
            try directory.ports.publishedPorts() == [
                RunLoop.MessagePort.Directory.Entry(name: "one", process: getpid())
            ])
        first.invalidate()
        #expect(try directory.ports.publishedPorts().isEmpty)
        try second.publish(as: "one", in: directory.ports)
        #expect(throws: RunLoop.PortError.dead) { try first.publish(as: "two", in: directory.ports) }
        second.invalidate()
        #expect(access(directory.path + "/one.port", F_OK) != 0)
        #expect(access(directory.path + "/one.lock", F_OK) != 0)
    }

    @Test func `Files left by a dead process are replaced`() throws {
        let directory = try TestDirectory()
        // A socket's file that nobody listens to, a lock's file that nobody holds, and a half-made one.
        for file in ["one.port", "one.lock", "one.new2"] {
            close(open(directory.path + "/" + file, O_CREAT | O_RDWR, 0o600))
        }
        #expect(
            try directory.ports.publishedPorts() == [RunLoop.MessagePort.Directory.Entry(name: "one", process: nil)])
        let sender = try directory.sender("one")
        #expect(throws: RunLoop.PortError.noSuchPort("one")) {
            try sender.send(RunLoop.MessagePort.Message(), within: plenty)
        }
        let received = Permit()
        let server = Server(
            .sendable { _ in
                received.signal()
                return nil
            })
        try server.port.publish(as: "one", in: directory.ports)
        try sender.send(RunLoop.MessagePort.Message(), within: plenty)
        received.wait()
        server.end()
    }

    @Test func `A lock file that is a symbolic link is not followed`() throws {
        let directory = try TestDirectory()
        #expect(symlink("/etc/passwd", directory.path + "/one.lock") == 0)
        let port = RunLoop.MessagePort.sendable { _ in nil }
        #expect(throws: RunLoop.PortError.system(.init(call: "openat", code: ELOOP))) {
            try port.publish(as: "one", in: directory.ports)
        }
    }

    @Test func `A socket file that is a symbolic link is replaced and its target is kept`() throws {
        let directory = try TestDirectory()
        let victim = directory.path + "/victim"
        close(open(victim, O_CREAT | O_RDWR, 0o600))
        #expect(symlink(victim, directory.path + "/one.port") == 0)
        #expect(symlink(victim, directory.path + "/one.new2") == 0)
        let port = RunLoop.MessagePort.sendable { _ in nil }
        try port.publish(as: "one", in: directory.ports)
        #expect(access(victim, F_OK) == 0)
        var status = stat()
        #expect(lstat(directory.path + "/one.port", &status) == 0)
        #expect(status.st_mode & S_IFMT == S_IFSOCK)
        #expect(status.st_mode & 0o777 == 0o600)
        port.invalidate()
    }

    @Test func `A sender in the same process needs no socket`() throws {
        let directory = try TestDirectory()
        let sender = try RunLoop.MessagePort.Sender(named: "near", in: directory.ports)
        #expect(throws: RunLoop.PortError.noSuchPort("near")) {
            try sender.send(RunLoop.MessagePort.Message(), within: .zero)
        }
        let port = RunLoop.MessagePort.sendable(limits: .init(queue: 1)) { _ in nil }
        try port.publish(as: "near", in: directory.ports)
        // No loop runs, and nobody accepts a connection.
        try sender.send(RunLoop.MessagePort.Message(), within: .zero)
        #expect(throws: RunLoop.PortError.full) { try sender.send(RunLoop.MessagePort.Message(), within: .zero) }
        port.invalidate()
        #expect(throws: RunLoop.PortError.noSuchPort("near")) {
            try sender.send(RunLoop.MessagePort.Message(), within: .zero)
        }
    }
}
