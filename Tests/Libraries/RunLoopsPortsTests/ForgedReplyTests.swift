// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsPorts

/// A port that was asked once knows a way to the asker: it must not answer what others are asked.
@Suite(.ownThread) struct ForgedReplyTests {
    @Test(arguments: [false, true])
    func `A request of a thread accepts an answer only from the port it was sent to`(
        isInProcess: Bool
    ) throws {
        let directory = try TestDirectory()
        let (forger, honest) = (try Answerer("forger", directory), try Answerer("honest", directory))
        defer {
            forger.server.end()
            honest.server.end()
        }
        let (toForger, toHonest) = (try forger.sender(directory), try honest.sender(directory, isInProcess))
        let answers = try TestThread.run {
            _ = try toForger.request(RunLoop.MessagePort.Message(), within: plenty)
            return try (0..<5).map { _ in
                // Each is for a question that is still to come.
                try forger.forge()
                return try toHonest.request(RunLoop.MessagePort.Message(id: 1), within: plenty).text
            }
        }
        #expect(answers == Array(repeating: "honest", count: 5))
    }

    @Test(arguments: [false, true])
    func `A request of a task accepts an answer only from the port it was sent to`(
        isInProcess: Bool
    ) async throws {
        let directory = try TestDirectory()
        let (forger, honest) = (try Answerer("forger", directory), try Answerer("honest", directory))
        let asking = Server(.sendable { _ in nil })
        let loop = asking.loop
        let (toForger, toHonest) = (try forger.sender(directory), try honest.sender(directory, isInProcess))
        // Both wait at the same port of this process.
        let first = Task { try await toForger.request(RunLoop.MessagePort.Message(id: -1), on: loop, within: plenty) }
        while !forger.wasAsked { await Task.yield() }
        let second = Task { try await toHonest.request(RunLoop.MessagePort.Message(id: -1), on: loop, within: plenty) }
        while !honest.wasAsked { await Task.yield() }
        try forger.forge()
        // Behind the forged replies: when this one has come, they have been taken in.
        forger.answer()
        #expect(try await first.value.text == "forger")
        honest.answer()
        #expect(try await second.value.text == "honest")
        for server in [forger.server, honest.server, asking] { server.end() }
    }
}

/// A port that answers with its name: at once, or later where the message has the number -1.
private final class Answerer: Sendable {
    let server: Server
    private let name: String
    /// The right to answer that came last.
    private let askers: Locked<RunLoop.MessagePort.Sender?>

    init(_ name: String, _ directory: TestDirectory) throws {
        let askers = Locked<RunLoop.MessagePort.Sender?>(nil)
        (self.name, self.askers) = (name, askers)
        server = Server(
            .sendable { message in
                askers.withLock { $0 = message.replyTo }
                return message.id == -1 ? nil : RunLoop.MessagePort.Message(text: name)
            })
        try server.port.publish(as: name, in: directory.ports)
    }

    var wasAsked: Bool { askers.copy != nil }

    /// By a socket, as from another process, or within this process.
    func sender(_ directory: TestDirectory, _ isInProcess: Bool = false) throws -> RunLoop.MessagePort.Sender {
        isInProcess ? server.port.sender : try directory.sender(name)
    }

    func answer() { try? askers.copy?.send(RunLoop.MessagePort.Message(text: name)) }

    /// Sends replies with the numbers that questions after the one it knows would have if they were counted.
    func forge() throws {
        let known = try #require(askers.copy)
        for step in 1...8 {
            let reply = Delivery(
                kind: .reply, serial: known.serial &+ UInt64(step), isAnswer: true,
                message: RunLoop.MessagePort.Message(text: "forged"))
            try known.route.send(reply, until: Deadline.after(plenty))
        }
    }
}
