// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsPorts

/// Each operation of a port that fails leaves descriptors, connections and files as they were.
@Suite(.ownThread, .serialized) struct FailingCallProcessTests {
    @Test func `Requests that find no room leave no descriptor`() async {
        await #expect(processExitsWith: .success) {
            await letDispatchOpenItsTimers()
            let stage = try FullPort()
            try stage.expectNothingLeft("request") { try stage.sender.request(.init(), within: .zero) }
            try stage.expectNothingLeft("request with a limit") {
                try stage.sender.request(.init(), within: .milliseconds(1))
            }
            stage.end()
        }
    }

    @Test func `Messages with a reply port that find no room leave no descriptor and no connection`() async {
        await #expect(processExitsWith: .success) {
            await letDispatchOpenItsTimers()
            let stage = try FullPort()
            let replies = RunLoop.MessagePort.sendable { _ in nil }
            try stage.expectNothingLeft("send") {
                try stage.sender.send(.init(replyTo: replies.sender), within: .zero)
            }
            try stage.expectNothingLeft("send to a socket's port") {
                try stage.sender.send(.init(replyTo: stage.other), within: .zero)
            }
            #expect(replies.peers.isEmpty)
            stage.end()
        }
    }

    @Test func `Requests of tasks that find no room leave no descriptor`() async {
        await #expect(processExitsWith: .success) {
            await letDispatchOpenItsTimers()
            let stage = try FullPort()
            let client = Server(.sendable { _ in nil })
            func request() async {
                await #expect(throws: RunLoop.PortError.self) {
                    try await stage.sender.request(.init(), on: client.loop, within: .zero, in: .default)
                }
            }
            // Once, for what the loop opens with its first connection, and keeps.
            await request()
            let before = countOpenDescriptors()
            for _ in 0..<50 { await request() }
            // The loop of the client closes what the last of them has left.
            waitUntil { countOpenDescriptors() <= before }
            client.end()
            stage.end()
        }
    }

    @Test
    func `A reply port is introduced once, however often there is no room for the message behind the introduction`()
        async
    {
        await #expect(processExitsWith: .success) {
            await letDispatchOpenItsTimers()
            let stage = try FullPort(room: 1)
            let replies = RunLoop.MessagePort.sendable { _ in nil }
            let message = RunLoop.MessagePort.Message(replyTo: replies.sender)
            for _ in 0..<50 {
                #expect(throws: RunLoop.PortError.full) { try stage.sender.send(message, within: .zero) }
                #expect(replies.peers.count == 1)
            }
            stage.end()
        }
    }

    @Test func `A connection that ends before its first message with a reply port leaves no socket of the port`() async
    {
        await #expect(processExitsWith: .success) {
            await letDispatchOpenItsTimers()
            for sendsAgain in [true, false] {
                // Room for the introduction, and not for the message.
                var stage: FullPort? = try FullPort(room: 1)
                // In no loop, which would find the end of the socket.
                let replies = RunLoop.MessagePort.sendable { _ in nil }
                let message = RunLoop.MessagePort.Message(replyTo: replies.sender)
                #expect(throws: RunLoop.PortError.full) { try stage?.sender.send(message, within: .zero) }
                #expect(replies.peers.count == 1)
                stage?.end()
                if sendsAgain {
                    #expect(throws: RunLoop.PortError.dead) { try stage?.sender.send(message, within: .zero) }
                    #expect(replies.peers.isEmpty)
                }
                stage = nil
                #expect(replies.peers.isEmpty)
            }
        }
    }

    @Test func `A request that is over leaves no socket to its thread's port when its sender is released`() async {
        await #expect(processExitsWith: .success) {
            await letDispatchOpenItsTimers()
            let directory = try TestDirectory()
            let (isBusy, mayGoOn) = (Permit(), Permit())
            let server = Server(
                .sendable { message in
                    if message.id == 1 {
                        isBusy.signal()
                        mayGoOn.wait()
                    }
                    return nil
                })
            try server.port.publish(as: "busy", in: directory.ports)
            var sender: RunLoop.MessagePort.Sender? = try directory.sender("busy")
            #expect(throws: RunLoop.PortError.noReply) { try sender?.request(.init(), within: plenty) }
            try sender?.send(.init(id: 1), within: plenty)
            isBusy.wait()
            let before = countOpenDescriptors()
            #expect(throws: RunLoop.PortError.timedOut) { try sender?.request(.init(), within: .milliseconds(1)) }
            #expect(countOpenDescriptors() == before)
            sender = nil
            // The connection's end, and that of the thread's port; the busy thread still has its own two.
            #expect(countOpenDescriptors() == before - 2)
            mayGoOn.signal()
            server.end()
        }
    }

    @Test func `The thread that waits to send a request has released the sender when it reports its end`() throws {
        let directory = try TestDirectory()
        // In no loop: it accepts no connection.
        let silent = RunLoop.MessagePort.sendable { _ in nil }
        try silent.publish(as: "silent", in: directory.ports)
        let (ended, isHeld) = (Permit(), Locked(true))
        let reference = WeakSender()
        func ask() throws {
            let sender = try directory.sender("silent")
            reference.sender = sender
            let question = try Question(.init(), to: sender, on: .current, in: Requests.waitingMode) { _ in }
            let hasThread = try question.ask(until: Deadline.never) {
                isHeld.withLock { $0 = reference.sender != nil }
                ended.signal()
            }
            #expect(hasThread)
        }
        try ask()
        #expect(reference.sender != nil)
        // Only now the thread ends, since there is no such port.
        silent.invalidate()
        ended.wait()
        #expect(!isHeld.copy)
    }

    @Test func `Messages that the port does not take leave no descriptor and no connection`() async {
        await #expect(processExitsWith: .success) {
            await letDispatchOpenItsTimers()
            let directory = try TestDirectory()
            let server = Server(.sendable(limits: .init(messageSize: 100, descriptors: 1)) { _ in nil })
            try server.port.publish(as: "small", in: directory.ports)
            let sender = try directory.sender("small")
            try sender.send(.init(), within: plenty)
            let replies = RunLoop.MessagePort.sendable { _ in nil }
            let gone = try RunLoop.MessagePort.Descriptor(duplicating: 0)
            if let number = gone.take() { close(number) }
            let (open, more) = (
                try RunLoop.MessagePort.Descriptor(duplicating: 0), try RunLoop.MessagePort.Descriptor(duplicating: 0)
            )
            let before = countOpenDescriptors()
            func expect(_ error: RunLoop.PortError, _ message: RunLoop.MessagePort.Message) {
                for _ in 0..<20 {
                    #expect(throws: error) { try sender.send(message, within: plenty) }
                    #expect(throws: error) { try sender.request(message, within: plenty) }
                }
            }
            // Once, for what the first request of a thread opens and keeps.
            #expect(throws: RunLoop.PortError.invalidDescriptor) {
                try sender.request(.init(descriptors: [gone]), within: plenty)
            }
            let kept = countOpenDescriptors()
            #expect(kept <= before + 3)
            expect(.tooLarge(100), .init(bytes: [UInt8](repeating: 0, count: 101), replyTo: replies.sender))
            expect(.tooManyDescriptors(1), .init(descriptors: [open, more], replyTo: replies.sender))
            expect(.invalidDescriptor, .init(descriptors: [gone], replyTo: replies.sender))
            let ended = RunLoop.MessagePort.sendable { _ in nil }
            ended.invalidate()
            for _ in 0..<20 {
                #expect(throws: RunLoop.PortError.dead) {
                    try sender.send(.init(replyTo: ended.sender), within: plenty)
                }
            }
            #expect(countOpenDescriptors() == kept)
            #expect(replies.peers.isEmpty)
            server.end()
        }
    }

    @Test func `Names that cannot be published or found leave no file and no descriptor`() async {
        await #expect(processExitsWith: .success) {
            await letDispatchOpenItsTimers()
            let directory = try TestDirectory()
            let (owner, other) = (RunLoop.MessagePort.sendable { _ in nil }, RunLoop.MessagePort.sendable { _ in nil })
            try owner.publish(as: "taken", in: directory.ports)
            let server = Server(.sendable { _ in nil })
            let dead = RunLoop.MessagePort.sendable { _ in nil }
            dead.invalidate()
            // In the way of the socket's name, so that the last step fails.
            mkdir(directory.path + "/blocked.port", 0o700)
            let absent = try directory.sender("absent")
            let (before, files) = (countOpenDescriptors(), countEntries(directory.path))
            for _ in 0..<20 {
                #expect(throws: RunLoop.PortError.nameTaken("taken")) {
                    try other.publish(as: "taken", in: directory.ports)
                }
                #expect(throws: RunLoop.PortError.dead) { try dead.publish(as: "dead", in: directory.ports) }
                #expect(throws: RunLoop.PortError.self) { try other.publish(as: "blocked", in: directory.ports) }
                #expect(throws: RunLoop.PortError.noSuchPort("absent")) { try absent.send(.init(), within: plenty) }
            }
            for left in 0..<3 {
                let scarcity = Scarcity(left: left)
                #expect(throws: RunLoop.PortError.self) { try server.port.publish(as: "new", in: directory.ports) }
                scarcity.end()
            }
            #expect(countOpenDescriptors() == before)
            #expect(countEntries(directory.path) == files)
            #expect(other.publications.isEmpty && server.port.publications.isEmpty)
            rmdir(directory.path + "/blocked.port")
            server.end()
        }
    }

    @Test func `A port that a loop could not take can be added to another loop`() async {
        await #expect(processExitsWith: .success) {
            await letDispatchOpenItsTimers()
            let directory = try TestDirectory()
            let port = RunLoop.MessagePort.sendable { _ in nil }
            try port.publish(as: "moving", in: directory.ports)
            TestThread.run {
                let loop = RunLoop.current
                let before = countOpenDescriptors()
                let scarcity = Scarcity(left: 0)
                #expect(throws: RunLoop.SystemCallError.self) { try loop.add(port, in: .default) }
                scarcity.end()
                #expect(countOpenDescriptors() == before)
                #expect(!loop.contains(port, in: .default))
            }
            #expect(port.isValid)
            let server = Server(port)
            let sender = try directory.sender("moving")
            try sender.send(.init(), within: plenty)
            server.end()
        }
    }
}

// Unchecked: set before the other thread looks.
private final class WeakSender: @unchecked Sendable {
    weak var sender: RunLoop.MessagePort.Sender?
}

/// A port whose loop is busy, and a sender whose socket to the port has no room, or little.
// Unchecked: a test uses it from one thread.
private final class FullPort: @unchecked Sendable {
    let sender: RunLoop.MessagePort.Sender
    /// A sender by socket to the same port, with room.
    let other: RunLoop.MessagePort.Sender
    private let directory: TestDirectory
    private let server: Server
    private let mayGoOn = Permit()

    /// - Parameter room: How many packets the sender's socket has room for.
    init(room: Int = 0) throws {
        directory = try TestDirectory()
        let (isBusy, mayGoOn, received) = (Permit(), self.mayGoOn, Locked(0))
        server = Server(
            .sendable { message in
                received.withLock { $0 += 1 }
                if message.id == 1 {
                    isBusy.signal()
                    mayGoOn.wait()
                }
                return nil
            })
        try server.port.publish(as: "full", in: directory.ports)
        sender = try directory.sender("full")
        other = try directory.sender("full")
        let measure = try directory.sender("full")
        for one in [other, measure] { try one.send(.init(), within: plenty) }
        waitUntil { received.copy == 2 }
        try sender.send(.init(id: 1), within: plenty)
        isBusy.wait()
        // Both sockets are empty, and have room for as many packets without contents.
        var count = 0
        #expect(throws: RunLoop.PortError.full) {
            while true {
                try measure.send(.init(), within: .zero)
                count += 1
            }
        }
        for _ in 0..<count - room { try sender.send(.init(), within: .zero) }
        // Once, for what the first request of a thread opens and keeps.
        if room == 0 { #expect(throws: RunLoop.PortError.full) { try sender.request(.init(), within: .zero) } }
    }

    func expectNothingLeft(_ name: String, _ call: () throws -> some Any) throws {
        let before = countOpenDescriptors()
        for _ in 0..<50 { #expect(throws: RunLoop.PortError.self) { try call() } }
        #expect(countOpenDescriptors() == before, "\(name)")
    }

    func end() {
        server.port.invalidate()
        mayGoOn.signal()
        server.end()
    }
}
