// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsPorts

/// Ports between processes, and what needs a process of its own.
@Suite(.ownThread, .serialized) struct PortProcessTests {
    @Test func `Messages from another process arrive once each and in order`() async throws {
        await #expect(processExitsWith: .success) {
            let directory = UserDirectory()
            let number = count(100_000, orElse: 10_000)
            let next = Locked<Int32>(0)
            let disorder = Locked(0)
            let server = Server(
                .sendable { message in
                    next.withLock {
                        if message.id != $0 || message.text != "hello world" { disorder.withLock { $0 += 1 } }
                        $0 += 1
                    }
                    return nil
                })
            try server.port.publish(as: "sink")
            #expect(try Tool.run("port send sink hello world --count \(number) --within 30s").status == 0)
            waitUntil { next.withLock { $0 == number } }
            #expect(disorder.withLock { $0 } == 0)
            #expect(next.withLock { $0 } == number)
            server.end()
            withExtendedLifetime(directory) {}
        }
    }

    @Test func `The port commands of the tool can listen, send, request and list`() async throws {
        await #expect(processExitsWith: .success) {
            let directory = UserDirectory()
            let listener = try Tool.start("port listen clock --echo --count 3")
            let sender = try RunLoop.MessagePort.Sender(named: "clock")
            // The listener may not have its name yet.
            waitUntil {
                (try? sender.send(RunLoop.MessagePort.Message(id: 4, text: "first\u{1B}"), within: plenty)) != nil
            }
            let list = try Tool.run("port ls")
            #expect(list.text.hasPrefix("clock\tprocess "))
            let asked = try Tool.run("port send clock how are you --reply")
            #expect(asked.text == "how are you\n")
            #expect(try Tool.run("port send clock bye --id 9").status == 0)
            let heard = Tool.end(listener)
            #expect(heard.status == 0)
            #expect(heard.text == "listening as clock\nid 4: first\\u{1b}\nid 0: how are you\nid 9: bye\n")
            #expect(try Tool.run("port ls").text == "")
            let nobody = try Tool.run("port send clock hello")
            #expect(nobody.status == 256)
            #expect(nobody.text == "Error: there is no port 'clock'\n")
            withExtendedLifetime(directory) {}
        }
    }

    @Test func `A name that a killed process has published can be published by another process`() async throws {
        await #expect(processExitsWith: .success) {
            let directory = UserDirectory()
            let sender = try RunLoop.MessagePort.Sender(named: "mortal")
            for _ in 0..<3 {
                let listener = try Tool.start("port listen mortal --echo")
                // Written again and again until the name is there; the last round's listener is dead.
                waitUntil { (try? sender.send(RunLoop.MessagePort.Message(), within: plenty)) != nil }
                let reply = try TestThread.run {
                    try sender.request(RunLoop.MessagePort.Message(text: "alive"), within: plenty)
                }
                #expect(reply.text == "alive")
                let owner = try #require(try RunLoop.MessagePort.Directory.user().publishedPorts().first?.process)
                kill(owner, SIGKILL)
                _ = Tool.end(listener)
                #expect(
                    try RunLoop.MessagePort.Directory.user().publishedPorts() == [
                        RunLoop.MessagePort.Directory.Entry(name: "mortal", process: nil)
                    ])
            }
            withExtendedLifetime(directory) {}
        }
    }

    @Test func `A request throws if the process dies before it answers`() async throws {
        await #expect(processExitsWith: .success) {
            let directory = UserDirectory()
            let listener = try Tool.start("port listen deaf --echo")
            let sender = try RunLoop.MessagePort.Sender(named: "deaf")
            waitUntil { (try? sender.send(RunLoop.MessagePort.Message(), within: plenty)) != nil }
            let owner = try #require(try RunLoop.MessagePort.Directory.user().publishedPorts().first?.process)
            // Stopped: it takes the question into its socket, and will never see it.
            kill(owner, SIGSTOP)
            let asker = TestThread {
                do {
                    _ = try sender.request(RunLoop.MessagePort.Message(), within: plenty)
                    Issue.record("there was an answer")
                } catch {
                    let told = error as? RunLoop.PortError
                    #expect(told == .dead || told == .noReply, "\(error)")
                }
            }
            usleep(20_000)
            kill(owner, SIGKILL)
            asker.join()
            _ = Tool.end(listener)
            withExtendedLifetime(directory) {}
        }
    }

    @Test func `Messages that pass descriptors leave no descriptor open`() async {
        await #expect(processExitsWith: .success) {
            await letDispatchOpenItsTimers()
            // What is made once for the process is made before the count.
            try descriptorsTravel(rounds: 1)
            let before = countOpenDescriptors()
            try descriptorsTravel(rounds: 50)
            #expect(countOpenDescriptors() == before)
        }
    }

    @Test func `Peers that send malformed frames or are refused leave no descriptor open`() async {
        await #expect(processExitsWith: .success) {
            await letDispatchOpenItsTimers()
            let tests = SocketPortTests()
            try tests.`A malformed frame disconnects its peer and no other`()
            let before = countOpenDescriptors()
            try tests.`A malformed frame disconnects its peer and no other`()
            try tests.`A sender without permission gets notPermitted and other senders work`()
            try tests.`A sender finds a republished port again`()
            try tests.`A request throws if its message is dropped or the port ends`()
            #expect(countOpenDescriptors() == before)
        }
    }

    @Test func `A process without free descriptors refuses peers and does not spin`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TestDirectory()
            let server = Server(.sendable { RunLoop.MessagePort.Message(id: $0.id) })
            try server.port.publish(as: "poor", in: directory.ports)
            let socket = try PortSocket.make()
            var filler: [RunLoop.MessagePort.Descriptor] = []
            var limit = rlimit(rlim_cur: 64, rlim_max: 64)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            while let one = try? RunLoop.MessagePort.Descriptor(duplicating: 2) { filler.append(one) }
            #expect(rl_port_connect(socket.number, directory.ports.path(of: "poor.port"), .max) == 0)
            waitUntil { socket.hasHungUp }
            filler = []
            let sender = try directory.sender("poor")
            #expect(
                try TestThread.run { try sender.request(RunLoop.MessagePort.Message(id: 6), within: plenty) }.id == 6)
            server.end()
        }
    }

    // Only root can become somebody else.
    @Test(.enabled(if: geteuid() == 0)) func `Another user is refused by the kernel and by the port's access list`()
        async
    {
        await #expect(processExitsWith: .success) {
            let directory = try TestDirectory()
            chmod(directory.path, 0o755)
            let shared = try RunLoop.MessagePort.Directory(shared: directory.path)
            let server = Server(.sendable { RunLoop.MessagePort.Message(id: $0.id) })
            try server.port.publish(as: "mine", in: shared)
            try server.port.publish(as: "ours", in: shared, access: .users([0]))
            try server.port.publish(as: "all", in: shared, access: .everybody)
            // Of the whole process; the port's access names its users, and does not ask for the present user.
            #expect(seteuid(65534) == 0)
            defer { seteuid(0) }
            for name in ["mine", "ours"] {
                let sender = try RunLoop.MessagePort.Sender(
                    named: name, in: shared, owner: .users([0]), looksInProcess: false)
                #expect(throws: RunLoop.PortError.notPermitted) {
                    try sender.send(RunLoop.MessagePort.Message(), within: plenty)
                }
            }
            let sender = try RunLoop.MessagePort.Sender(
                named: "all", in: shared, owner: .users([0]), looksInProcess: false)
            #expect(
                try TestThread.run { try sender.request(RunLoop.MessagePort.Message(id: 2), within: plenty) }.id == 2)
            server.end()
        }
    }
}

/// Sends both ends of pipes there and back, in every way a message can end: taken, dropped, and never received.
private func descriptorsTravel(rounds: Int) throws {
    let directory = try TestDirectory()
    let server = Server(
        .sendable { message in
            // The first is written to and dropped, the others go back.
            if let end = message.descriptors.first?.number { _ = write(end, "x", 1) }
            return RunLoop.MessagePort.Message(id: message.id, descriptors: Array(message.descriptors.dropFirst()))
        })
    try server.port.publish(as: "pipes", in: directory.ports)
    let senders = [try directory.sender("pipes"), server.port.sender]
    try TestThread.run {
        for round in 0..<rounds {
            for sender in senders {
                let (first, second) = try PortSocket.pair()
                let ends = try [first, second, second].map {
                    try RunLoop.MessagePort.Descriptor(duplicating: $0.number)
                }
                let reply = try sender.request(
                    RunLoop.MessagePort.Message(id: Int32(round), descriptors: ends), within: plenty)
                #expect(reply.descriptors.count == 2)
                var byte: UInt8 = 0
                #expect(read(reply.descriptors[0].number, &byte, 1) == 1)
                #expect(byte == UInt8(ascii: "x"))
                let taken = try #require(reply.descriptors[1].take())
                #expect(reply.descriptors[1].take() == nil)
                #expect(close(taken) == 0)
                #expect(throws: RunLoop.PortError.invalidDescriptor) {
                    try senders[0].send(
                        RunLoop.MessagePort.Message(descriptors: [reply.descriptors[1]]), within: plenty)
                }
            }
        }
    }
    // Some that are never received.
    for _ in 0..<rounds {
        for sender in senders {
            try? sender.send(
                RunLoop.MessagePort.Message(descriptors: [RunLoop.MessagePort.Descriptor(duplicating: 2)]),
                within: .zero)
        }
    }
    server.end()
}

/// The user's directory of ports, for this process and those it starts, gone with the value.
private final class UserDirectory {
    private let outer = TemporaryDirectory()

    init() { setVariable("XDG_RUNTIME_DIR", outer.path) }
}

/// The command-line tool, which was built beside the tests.
private enum Tool {
    struct Output {
        let status: CInt
        let text: String
    }

    /// Starts it; both its streams are read by ``end(_:)``.
    static func start(_ arguments: String) throws -> UnsafeMutablePointer<FILE> {
        let own = try #require(realpath("/proc/self/exe", nil))
        defer { free(own) }
        let path = String(cString: own)
        let slash = try #require(path.lastIndex(of: "/"))
        // Instead of the shell, so that the number of the process is the tool's.
        let command = "exec '\(path[..<slash])/runloop' \(arguments) 2>&1"
        return try #require(popen(command, "r"))
    }

    static func end(_ stream: UnsafeMutablePointer<FILE>) -> Output {
        var text: [UInt8] = []
        while true {
            let byte = fgetc(stream)
            if byte == EOF { break }
            text.append(UInt8(truncatingIfNeeded: byte))
        }
        let status = pclose(stream)
        return Output(status: status, text: String(decoding: text, as: UTF8.self))
    }

    static func run(_ arguments: String) throws -> Output { end(try start(arguments)) }
}
