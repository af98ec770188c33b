// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsKit
import RunLoopsTestSupport
import Testing

@testable import RunLoopsPorts

/// The priority of a sending thread of another process, which the receiver looks up and takes from no peer.
@Suite(.ownThread, .serialized, .enabled(if: mayIdentify, "needs CAP_SYS_NICE and Linux 6.5"))
struct PriorityProcessTests {
    @Test func `A callout runs at the priority of the thread of another process that has sent the message`() async {
        await #expect(processExitsWith: .success) {
            let (directory, receiver) = (try TestDirectory(), try Receiver())
            try receiver.port.publish(as: "port", in: directory.ports)
            let child = ForkedChild {
                let sender = try directory.sender("port")
                // The first of a connection, which a separate thread of the sender makes.
                try TestThread.run {
                    setNice(-5)
                    _ = try sender.request(.init(id: 1), within: plenty)
                }
                try TestThread.run {
                    setNice(-4)
                    _ = try sender.request(.init(id: 2), within: plenty)
                }
                try TestThread.run {
                    setNice(15)
                    _ = try sender.request(.init(id: 3), within: plenty)
                }
                _ = try TestThread.run { try sender.request(.init(id: 4), within: plenty) }
                // More than a batch of one connection.
                for _ in 0..<100 { try sender.send(.init(id: 5), within: plenty) }
                _ = try TestThread.run { try sender.request(.init(id: 6), within: plenty) }
                return true
            }
            #expect(child.end() == .good)
            #expect(receiver.seen.copy == [1: -5, 2: -4, 3: 10, 4: 0, 5: 0, 6: 0])
            #expect(receiver.niceNow == 10)
            #expect(openProcessDescriptors() == 0)
            receiver.end()
        }
    }

    @Test func `A callout runs in the real-time class of a thread of another process`() async {
        await #expect(processExitsWith: .success) {
            let (directory, receiver) = (try TestDirectory(), try Receiver())
            try receiver.port.publish(as: "port", in: directory.ports)
            let child = ForkedChild {
                let sender = try directory.sender("port")
                return try TestThread.run {
                    // A system without real-time scheduling for this process shows nothing.
                    guard rl_thread_set_schedule(CInt(RL_SCHEDULE_FIFO), 3) == 0 else { return true }
                    let reply = try sender.request(.init(id: 1), within: plenty)
                    return reply.text == "class \(SCHED_FIFO), priority 3"
                }
            }
            #expect(child.end() == .good)
            receiver.end()
        }
    }

    @Test func `A port lends its thread nothing until carriesPriority is set, also for a connection that exists`() async
    {
        await #expect(processExitsWith: .success) {
            let (directory, receiver) = (try TestDirectory(), try Receiver(carries: false))
            receiver.called = { [port = receiver.port] message in port.carriesPriority = message.id != 2 }
            try receiver.port.publish(as: "port", in: directory.ports)
            let child = ForkedChild {
                let sender = try directory.sender("port")
                return try TestThread.run {
                    setNice(-5)
                    for id in Int32(1)...3 { _ = try sender.request(.init(id: id), within: plenty) }
                    return true
                }
            }
            #expect(child.end() == .good)
            #expect(receiver.seen.copy == [1: 10, 2: -5, 3: 10])
            receiver.end()
        }
    }

    @Test func `A peer that names a thread of another process gives no priority`() async {
        await #expect(processExitsWith: .success) {
            let (directory, receiver) = (try TestDirectory(), try Receiver())
            try receiver.port.publish(as: "port", in: directory.ports)
            let better = try RunLoopThread(RunLoopThread.Attributes(name: "better", nice: -10))
            let betterThread = better.loop.threadID
            let path = directory.ports.path(of: "port.port")
            let (own, ownID) = try RawPeer.fork(path, id: 1, nice: -5) { SystemCalls.threadID }
            var liars: [ForkedChild] = []
            for (index, lie) in [betterThread, getpid(), 1, .max, own.process].enumerated() {
                liars.append(try RawPeer.fork(path, id: Int32(index) + 2, nice: -5) { lie }.child)
            }
            waitUntil { receiver.seen.copy.count == 6 }
            #expect(ownID == 1)
            #expect(receiver.seen.copy == [1: -5, 2: 10, 3: 10, 4: 10, 5: 10, 6: 10])
            for child in [own] + liars {
                kill(child.process, SIGKILL)
                _ = child.end()
            }
            better.stop()
            try await better.ended()
            receiver.end()
        }
    }

    @Test func `A thread that has ended gives no priority`() async {
        await #expect(processExitsWith: .success) {
            let (directory, receiver) = (try TestDirectory(), try Receiver())
            let permit = Permit()
            receiver.called = { message in if message.id == 1 { permit.wait() } }
            try receiver.port.publish(as: "port", in: directory.ports)
            var ends: [CInt] = [-1, -1]
            #expect(pipe(&ends) == 0)
            let child = ForkedChild {
                let sender = try directory.sender("port")
                try TestThread.run {
                    setNice(-5)
                    for id in Int32(1)...2 { try sender.send(.init(id: id), within: plenty) }
                }
                _ = write(ends[1], "x", 1)
                while true { pause() }
            }
            var byte: UInt8 = 0
            #expect(read(ends[0], &byte, 1) == 1)
            permit.signal()
            waitUntil { receiver.seen.copy.count == 2 }
            // The thread of the first message may have ended before it was received.
            #expect(receiver.seen.copy[2] == 10)
            kill(child.process, SIGKILL)
            _ = child.end()
            receiver.end()
        }
    }

    @Test func `A process that has the number of a sender that has ended gives no priority`() async {
        await #expect(processExitsWith: .success) {
            let (directory, receiver) = (try TestDirectory(), try Receiver())
            let permit = Permit()
            receiver.called = { message in if message.id == 1 { permit.wait() } }
            try receiver.port.publish(as: "port", in: directory.ports)
            let sending = ForkedChild {
                let sender = try directory.sender("port")
                setNice(-5)
                for id in Int32(1)...2 { try sender.send(.init(id: id), within: plenty) }
                return true
            }
            let number = sending.process
            #expect(sending.end() == .good)
            waitUntil { receiver.isCalled.copy }
            let successor = processWithNumber(number)
            permit.signal()
            waitUntil { receiver.seen.copy.count == 2 }
            #expect(receiver.seen.copy[2] == 10)
            if let successor {
                kill(successor, SIGKILL)
                var status: CInt = 0
                waitpid(successor, &status, 0)
            }
            receiver.end()
        }
    }

    // Only root can become somebody else.
    @Test(.enabled(if: geteuid() == 0)) func `A process of another user gives no priority`() async {
        await #expect(processExitsWith: .success) {
            let (directory, receiver) = (try TestDirectory(), try Receiver())
            chmod(directory.path, 0o755)
            let shared = try RunLoop.MessagePort.Directory(shared: directory.path)
            try receiver.port.publish(as: "all", in: shared, access: .everybody)
            let child = ForkedChild {
                setNice(-5)
                guard setgid(65534) == 0, setuid(65534) == 0 else { return false }
                let sender = try RunLoop.MessagePort.Sender(
                    named: "all", in: shared, owner: .users([0]), looksInProcess: false)
                try sender.send(.init(id: 1), within: plenty)
                while true { pause() }
            }
            waitUntil { receiver.seen.copy.count == 1 }
            #expect(receiver.seen.copy == [1: 10])
            kill(child.process, SIGKILL)
            _ = child.end()
            receiver.end()
        }
    }

    @Test func `A message to a reply port of another process carries the priority of its thread`() async {
        await #expect(processExitsWith: .success) {
            let (directory, receiver) = (try TestDirectory(), try Receiver())
            let replyTo = Locked<RunLoop.MessagePort.Sender?>(nil)
            receiver.called = { message in replyTo.withLock { $0 = message.replyTo } }
            try receiver.port.publish(as: "port", in: directory.ports)
            let child = ForkedChild {
                setNice(10)
                let seen = Locked<Int32?>(nil)
                let port = RunLoop.MessagePort.sendable { _ in
                    seen.withLock { $0 = niceHere() }
                    return nil
                }
                port.carriesPriority = true
                try RunLoop.current.add(port, in: .default)
                try directory.sender("port").send(.init(id: 0, replyTo: port.sender), within: plenty)
                while seen.copy == nil {
                    _ = RunLoop.current.run(in: .default, for: .seconds(1), returnsAfterSource: true)
                }
                return seen.copy == -5
            }
            waitUntil { replyTo.copy != nil }
            let end = try TestThread.run {
                setNice(-5)
                try replyTo.copy?.send(.init(), within: plenty)
                // The thread lives until the message was received.
                return child.end()
            }
            #expect(end == .good)
            receiver.end()
        }
    }

    @Test func `A message of an older sender is received and carries no priority`() async {
        await #expect(processExitsWith: .success) {
            let (directory, receiver) = (try TestDirectory(), try Receiver())
            try receiver.port.publish(as: "port", in: directory.ports)
            let (child, _) = try RawPeer.fork(directory.ports.path(of: "port.port"), id: 7, nice: -5) { nil }
            waitUntil { receiver.seen.copy.count == 1 }
            #expect(receiver.seen.copy == [7: 10])
            kill(child.process, SIGKILL)
            _ = child.end()
            receiver.end()
        }
    }

    @Test(arguments: [("port.new", 32), (PortName.newSuffix, 36)])
    func `An older port receives frames of its own version`(_ boundTo: String, _ size: Int) throws {
        let directory = try TestDirectory()
        let listener = try PortSocket.make()
        let path = directory.ports.path(of: boundTo)
        #expect(rl_port_bind(listener.number, path) == 0)
        #expect(rl_port_listen(listener.number, 5) == 0)
        #expect(rename(path, directory.ports.path(of: "old.port")) == 0)
        let sender = try directory.sender("old")
        let thread = TestThread {
            do { try sender.send(.init(id: 3, text: "hello"), within: plenty) } catch { Issue.record("\(error)") }
        }
        #expect(listener.wait(CInt(POLLIN), until: Deadline.never))
        let connection = PortSocket(adopting: rl_port_accept(listener.number))
        _ = try connection.send(Frame(.welcome, serial: 16, handle: 65536))
        #expect(connection.wait(CInt(POLLIN), until: Deadline.never))
        var bytes = [UInt8](repeating: 0, count: 200)
        var (packet, passed) = (rl_packet(), [CInt](repeating: -1, count: Int(RL_MAX_PASSED)))
        #expect(rl_port_receive(connection.number, &bytes, bytes.count, &passed, &packet) == 1)
        thread.join()
        #expect(packet.length == size + 5)
        #expect(String(decoding: bytes[..<4], as: UTF8.self) == (size == 32 ? "RPL1" : "RPL2"))
    }
}

/// A port on a thread of nice value 10, and the nice value of each callout.
private final class Receiver: @unchecked Sendable {
    let port: RunLoop.MessagePort
    private let thread: RunLoopThread
    /// The nice value of the callout for each message's number.
    let seen = Locked<[Int32: Int32]>([:])
    let isCalled = Locked(false)
    /// Called in the callout, before the nice value is noted; set before the port is published.
    var called: (RunLoop.MessagePort.Message) -> Void = { _ in }

    init(carries: Bool = true) throws {
        thread = try RunLoopThread(RunLoopThread.Attributes(name: "receiver", nice: 10))
        let owner = Owner()
        port = .sendable { owner.receiver?.receive($0) }
        port.carriesPriority = carries
        owner.receiver = self
        _ = try thread.performAndWait { [port, loop = thread.loop] in try loop.add(port, in: .default) }
    }

    private func receive(_ message: RunLoop.MessagePort.Message) -> RunLoop.MessagePort.Message? {
        let nice = niceHere()
        isCalled.withLock { $0 = true }
        called(message)
        seen.withLock { $0[message.id] = nice }
        // No reply: the test itself sends to the reply port.
        if message.id == 0 { return nil }
        var schedule = rl_schedule()
        _ = rl_schedule_read(0, &schedule)
        return RunLoop.MessagePort.Message(text: "class \(schedule.policy), priority \(schedule.priority)")
    }

    /// The nice value of the thread outside callouts.
    var niceNow: Int32? {
        let nice = Locked<Int32?>(nil)
        thread.post { nice.withLock { $0 = niceHere() } }
        waitUntil { nice.copy != nil }
        return nice.copy
    }

    func end() {
        port.invalidate()
        thread.stop()
        thread.join()
    }
}

private final class Owner: @unchecked Sendable {
    // Set once, before the port is in a loop.
    weak var receiver: Receiver?
}

/// A peer that writes its frames itself.
private enum RawPeer {
    /// Forks a process of this nice value that sends one message, with the thread that `thread` names there, and lives until it
    /// is killed.
    static func fork(
        _ path: String, id: Int32, nice: Int32, thread: () -> Int32?
    ) throws -> (child: ForkedChild, id: Int32) {
        let child = ForkedChild {
            setNice(nice)
            let socket = try PortSocket.make()
            guard rl_port_connect(socket.number, path, .max) == 0 else { return false }
            guard socket.wait(CInt(POLLIN), until: Deadline.never) else { return false }
            _ = try socket.send(Frame(.message, id: id, thread: thread()))
            while true { pause() }
        }
        return (child, id)
    }
}

/// Forks until a process has this number, whose nice value is -10; `nil` if this process may not choose numbers.
private func processWithNumber(_ number: pid_t) -> pid_t? {
    for _ in 0..<1000 {
        let file = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        let text = Array("\(number - 1)".utf8)
        let written = write(file, text, text.count)
        close(file)
        guard written == text.count else { return nil }
        let child = ForkedChild {
            setNice(-10)
            while true { pause() }
        }
        if child.process == number { return number }
        kill(child.process, SIGKILL)
        _ = child.end()
    }
    Issue.record("no process got the number \(number)")
    return nil
}

/// How many descriptors of processes this process has open.
private func openProcessDescriptors() -> Int {
    (0..<1024).count { number in
        var link = [CChar](repeating: 0, count: 100)
        guard readlink("/proc/self/fd/\(number)", &link, link.count - 1) > 0 else { return false }
        return strstr(link, "pidfd") != nil
    }
}

/// The nice value of the calling thread.
private func niceHere() -> Int32 { getpriority(__priority_which_t(0), 0) }

private func setNice(_ nice: Int32) { setpriority(__priority_which_t(0), 0, nice) }

/// Whether this process may give a thread a better nice value, and the kernel says which process has sent a packet.
private let mayIdentify: Bool = TestThread.run {
    setNice(5)
    guard setpriority(__priority_which_t(0), 0, -5) == 0, let (here, there) = try? PortSocket.pair() else {
        return false
    }
    return withExtendedLifetime(there) { rl_port_identify_senders(here.number, true) == 0 }
}
