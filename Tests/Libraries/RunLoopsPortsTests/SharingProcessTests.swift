// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsPorts

/// A port whose connections or descriptors other processes have used up.
@Suite(.ownThread, .serialized) struct SharingProcessTests {
    @Test func `A process that holds all connections of a port gives up half of them to another process`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TestDirectory()
            let server = Server(.sendable(limits: .init(peers: 8)) { RunLoop.MessagePort.Message(id: $0.id) })
            try server.port.publish(as: "shared", in: directory.ports)
            let greedy = try GreedyProcess(directory.ports.path(of: "shared.port"), connections: 20)
            // All eight, after twelve have made room for others of the same process.
            #expect(greedy.openConnections == 8)
            let first = try directory.sender("shared")
            #expect(try TestThread.run { try first.request(.init(id: 5), within: plenty) }.id == 5)
            #expect(greedy.openConnections == 7)
            let senders = try (0..<3).map { _ in try directory.sender("shared") }
            for sender in senders { try sender.send(.init(), within: plenty) }
            #expect(greedy.openConnections == 4)
            // From here on this process makes room for itself.
            let more = try (0..<10).map { _ in try directory.sender("shared") }
            for sender in more { try sender.send(.init(), within: plenty) }
            #expect(greedy.openConnections == 4)
            for sender in [first] + senders + more { #expect(!sender.isDead) }
            #expect(try TestThread.run { try first.request(.init(id: 6), within: plenty) }.id == 6)
            greedy.end()
            server.end()
        }
    }

    @Test func `A port without a reserve descriptor waits for one and does not spin`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TestDirectory()
            let server = Server(.sendable { RunLoop.MessagePort.Message(id: $0.id) })
            // The loop has all that it needs; a port with a name would have made the process's reserve.
            let pipe = DescriptorPair.pipe()
            try server.loop.add(.sendable(pipe.first) { _, _ in }, in: .default)
            let (socket, late) = (try PortSocket.make(), try PortSocket.make())
            // For the lock and the socket.
            let scarcity = Scarcity(left: 2)
            try server.port.publish(as: "poor", in: directory.ports)
            #expect((try? RunLoop.MessagePort.Descriptor(duplicating: 2)) == nil)
            let path = directory.ports.path(of: "poor.port")
            #expect(rl_port_connect(socket.number, path, .max) == 0)
            #expect(rl_port_connect(late.number, path, .max) == 0)
            let before = processorTime()
            usleep(500_000)
            #expect(processorTime() - before < .milliseconds(100))
            #expect(!socket.hasHungUp)
            scarcity.end()
            // The port looks again by itself.
            #expect(socket.wait(POLLIN, until: Deadline.never))
            #expect(late.wait(POLLIN, until: Deadline.never))
            let sender = try directory.sender("poor")
            #expect(try TestThread.run { try sender.request(.init(id: 6), within: plenty) }.id == 6)
            server.end()
        }
    }

    @Test func `Ports of two threads turn connections away with one reserve descriptor`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TestDirectory()
            let servers = (0..<2).map { _ in Server(.sendable { RunLoop.MessagePort.Message(id: $0.id) }) }
            for (number, server) in servers.enumerated() {
                try server.port.publish(as: "\(number)", in: directory.ports)
            }
            // By number of the port.
            let sockets = try (0..<40).map { _ in try PortSocket.make() }
            let scarcity = Scarcity(left: 0)
            #expect((try? RunLoop.MessagePort.Descriptor(duplicating: 2)) == nil)
            for (number, socket) in sockets.enumerated() {
                #expect(rl_port_connect(socket.number, directory.ports.path(of: "\(number % 2).port"), .max) == 0)
            }
            // Each has been accepted and closed while the process had no other descriptor.
            for socket in sockets {
                #expect(socket.wait(POLLIN, until: Deadline.never))
                waitUntil { socket.hasHungUp }
            }
            scarcity.end()
            for number in 0..<2 {
                let sender = try directory.sender("\(number)")
                #expect(try TestThread.run { try sender.request(.init(id: 6), within: plenty) }.id == 6)
            }
            for server in servers { server.end() }
        }
    }

    @Test func `A sender waits for a port without free descriptors and does not report it dead`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TestDirectory()
            let server = Server(.sendable { RunLoop.MessagePort.Message(id: $0.id) })
            try server.port.publish(as: "poor", in: directory.ports)
            let sender = try directory.sender("poor")
            // One for the sender's socket; the port turns it away with its reserve.
            let scarcity = Scarcity(left: 1)
            #expect(throws: RunLoop.PortError.timedOut) {
                try sender.send(RunLoop.MessagePort.Message(), within: .milliseconds(300))
            }
            let thread = TestThread {
                do { try sender.send(RunLoop.MessagePort.Message(), within: plenty) } catch {
                    Issue.record("\(error)")
                }
            }
            usleep(20_000)
            scarcity.end()
            thread.join()
            server.end()
        }
    }
}

/// What the whole process has used of processors.
func processorTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}

/// A process that has connected many times, and counts its connections that are open.
// Unchecked: a test uses it from one thread.
private final class GreedyProcess: @unchecked Sendable {
    private let child: pid_t
    private let questions = DescriptorPair.pipe()
    private let answers = DescriptorPair.pipe()

    /// - Parameter connections: How many; each waits for the greeting of the one before.
    init(_ path: String, connections: CInt) throws {
        let sockets = UnsafeMutablePointer<CInt>.allocate(capacity: Int(connections))
        guard let path = strdup(path) else { preconditionFailure("out of memory") }
        defer {
            sockets.deallocate()
            free(path)
        }
        // Once in this process: the child has none of the threads that may hold a lock of Swift's runtime, and must not
        // need that lock for anything new.
        try #require(Self.connect(path, sockets, 1))
        try #require(Self.countOpen(sockets, 1) == 1)
        close(sockets[0])
        questions.send("?")
        try #require(Self.hear(questions.first))
        child = fork()
        if child == 0 {
            if !Self.connect(path, sockets, connections) { _exit(1) }
            while Self.tell(answers.second, Self.countOpen(sockets, connections)), Self.hear(questions.first) {}
            _exit(0)
        }
        try #require(child > 0)
        #expect(readAnswer() > 0)
    }

    // MARK: The child: system calls alone, and no loop

    private static func connect(
        _ path: UnsafePointer<CChar>, _ sockets: UnsafeMutablePointer<CInt>, _ count: CInt
    ) -> Bool {
        var index: CInt = 0
        while index < count {
            let socket = rl_port_socket()
            sockets[Int(index)] = socket
            guard rl_port_connect(socket, path, .max) == 0, rl_port_wait(socket, 1, .max) == 1 else { return false }
            index += 1
        }
        return true
    }

    private static func countOpen(_ sockets: UnsafeMutablePointer<CInt>, _ count: CInt) -> CInt {
        var (index, open): (CInt, CInt) = (0, 0)
        while index < count {
            if rl_port_wait(sockets[Int(index)], 0, 0) == 0 { open += 1 }
            index += 1
        }
        return open
    }

    private static func tell(_ pipe: CInt, _ number: CInt) -> Bool {
        var byte = UInt8(truncatingIfNeeded: number)
        return write(pipe, &byte, 1) == 1
    }

    private static func hear(_ pipe: CInt) -> Bool {
        var byte: UInt8 = 0
        return rl_port_wait(pipe, 1, .max) == 1 && read(pipe, &byte, 1) == 1
    }

    // MARK: The parent

    var openConnections: Int {
        questions.send("?")
        return readAnswer()
    }

    private func readAnswer() -> Int {
        var byte: UInt8 = 0
        guard rl_port_wait(answers.first, 1, .max) == 1, read(answers.first, &byte, 1) == 1 else { return -1 }
        return Int(byte)
    }

    func end() {
        kill(child, SIGKILL)
        var status: CInt = 0
        waitpid(child, &status, 0)
    }
}
