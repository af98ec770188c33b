// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import FoundationRunLoop
import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

import class FoundationRunLoop.MessagePort
import class FoundationRunLoop.Port
import protocol FoundationRunLoop.PortDelegate
import class FoundationRunLoop.PortMessage
import class FoundationRunLoop.RunLoop

/// Writes down what arrives.
final class PortNotes: PortDelegate {
    var messages: [PortMessage] = []
    var onMessage: (PortMessage) -> Void = { _ in }

    func handle(_ message: PortMessage) {
        messages.append(message)
        onMessage(message)
    }

    /// The data of the messages, as text.
    var texts: [String] {
        messages.map { message in
            (message.components ?? []).compactMap {
                ($0 as? NSData).map { String(decoding: $0 as Data, as: UTF8.self) }
            }
            .joined(separator: " ")
        }
    }
}

/// The parts of a message.
func parts(_ elements: Any...) -> NSMutableArray { NSMutableArray(array: elements) }

@Suite(.ownThread) struct MessagePortTests {
    @Test func `A message is delivered in a mode of its port, with its components and sender`() throws {
        try ManualRunLoop.with { manual in
            let (port, answers, notes) = (MessagePort(), MessagePort(), PortNotes())
            port.setDelegate(notes)
            #expect(port.delegate() === notes)
            RunLoop.current.add(port, forMode: .default)
            let message = PortMessage(
                sendPort: port, receivePort: answers, components: [NSData(data: Data("one".utf8)), answers])
            message.msgid = 0xFFFF_FFF0
            #expect(message.send(before: Date()))
            manual.advance(by: .zero, in: .tracking)
            #expect(notes.messages.isEmpty)
            manual.advance(by: .zero)
            let received = try #require(notes.messages.first)
            #expect(received.msgid == 0xFFFF_FFF0)
            #expect(received.sendPort === answers)
            #expect(received.receivePort === port)
            #expect(notes.texts == ["one"])
            #expect(received.components?.last === answers)
            port.invalidate()
            answers.invalidate()
        }
    }

    @Test func `Messages keep their order and are not affected by later changes of their data`() {
        ManualRunLoop.with { manual in
            let (port, notes) = (MessagePort(), PortNotes())
            port.setDelegate(notes)
            RunLoop.current.add(port, forMode: .default)
            let data = NSMutableData(data: Data("a".utf8))
            for text in ["a", "b", "c"] {
                data.setData(Data(text.utf8))
                let sent = port.send(before: Date(), components: parts(data), from: nil, reserved: 0)
                #expect(sent)
            }
            manual.advance(by: .zero)
            #expect(notes.texts == ["a", "b", "c"])
            #expect(notes.messages.allSatisfy { $0.sendPort == nil })
            port.invalidate()
        }
    }

    @Test func `A send to a full port waits until its date`() {
        ManualRunLoop.with { manual in
            let (port, notes) = (MessagePort(), PortNotes())
            port.setDelegate(notes)
            RunLoop.current.add(port, forMode: .default)
            var sent = 0
            while port.send(before: .distantPast, components: nil, from: nil, reserved: 0) { sent += 1 }
            #expect(sent == 1024)
            // Only this thread could make room.
            #expect(!port.send(before: .distantFuture, components: nil, from: nil, reserved: 0))
            manual.loop.runUntilIdle()
            #expect(notes.messages.count == 1024)
            port.invalidate()
        }
    }

    @Test func `A port refuses components that are not data or ports`() {
        let port = MessagePort()
        #expect(!port.send(before: .distantFuture, components: parts("text"), from: nil, reserved: 0))
        #expect(!port.send(before: .distantFuture, components: parts(Data(), 7), from: nil, reserved: 0))
    }

    @Test func `An invalidated port refuses messages, drops pending ones and posts one notification`() {
        ManualRunLoop.with { manual in
            let (port, notes, posts) = (MessagePort(), PortNotes(), Locked<Int>())
            port.setDelegate(notes)
            RunLoop.current.add(port, forMode: .default)
            let observer = NotificationCenter.default.addObserver(
                forName: Port.didBecomeInvalidNotification, object: port, queue: nil
            ) { _ in posts.increment() }
            let witness = Witness()
            do {
                let carried = MessagePort()
                witness.watch(carried)
                port.send(before: Date(), components: parts(carried), from: nil, reserved: 0)
            }
            #expect(!witness.isGone)
            port.invalidate()
            port.invalidate()
            #expect(posts.count == 1)
            #expect(witness.isGone)
            #expect(!port.isValid)
            #expect(!port.send(before: .distantFuture, components: nil, from: nil, reserved: 0))
            manual.advance(by: .zero)
            #expect(notes.messages.isEmpty)
            RunLoop.current.add(port, forMode: .default)
            #expect(!RunLoop.current.run(mode: .default, before: .distantFuture))
            NotificationCenter.default.removeObserver(observer)
        }
    }

    @Test func `A port removed from its mode keeps its messages`() {
        ManualRunLoop.with { manual in
            let (port, notes) = (MessagePort(), PortNotes())
            port.setDelegate(notes)
            RunLoop.current.add(port, forMode: .default)
            RunLoop.current.remove(port, forMode: .default)
            port.send(before: Date(), components: nil, from: nil, reserved: 0)
            manual.advance(by: .zero)
            #expect(notes.messages.isEmpty)
            RunLoop.current.add(port, forMode: .default)
            manual.advance(by: .zero)
            #expect(notes.messages.count == 1)
            port.invalidate()
        }
    }

    @Test func `Threads send requests and answers through ports`() throws {
        // The thread's port adds one to each number that it is sent.
        try RunLoops.RunLoop.TestThread.with { thread in
            let server = Locked<Kept?>(nil)
            try thread.sync { loop in
                let (port, notes) = (MessagePort(), PortNotes())
                notes.onMessage = { message in
                    let answer = PortMessage(sendPort: message.sendPort, receivePort: nil, components: nil)
                    answer.msgid = message.msgid + 1
                    answer.send(before: .distantFuture)
                }
                port.setDelegate(notes)
                loop.foundation.add(port, forMode: .default)
                server.withLock { $0 = Kept(port, notes) }
            }
            nonisolated(unsafe) let port = try #require(server.copy).port
            let sum = TestThread.run {
                let (answers, notes) = (MessagePort(), PortNotes())
                answers.setDelegate(notes)
                RunLoop.current.add(answers, forMode: .default)
                for number in 0..<1000 {
                    port.send(before: .distantFuture, msgid: number, components: nil, from: answers, reserved: 0)
                }
                while notes.messages.count < 1000 { RunLoop.current.run(mode: .default, before: .distantFuture) }
                answers.invalidate()
                return notes.messages.reduce(0) { $0 + Int($1.msgid) }
            }
            #expect(sum == 500_500)
            port.invalidate()
        }
    }

    /// Ports that threads share, as Foundation allows it and its types do not say.
    private struct Kept: @unchecked Sendable {
        let port: MessagePort
        let notes: PortNotes
        init(_ port: MessagePort, _ notes: PortNotes) { (self.port, self.notes) = (port, notes) }
    }

    // MARK: Memory

    @Test func `The loop retains a port until it is invalidated or removed`() {
        ManualRunLoop.with { _ in
            weak var invalidated: MessagePort?
            weak var removed: MessagePort?
            do {
                let (first, second) = (MessagePort(), MessagePort())
                (invalidated, removed) = (first, second)
                for port in [first, second] {
                    RunLoop.current.add(port, forMode: .default)
                    RunLoop.current.add(port, forMode: .tracking)
                }
            }
            #expect(invalidated != nil && removed != nil)
            invalidated?.invalidate()
            #expect(invalidated == nil)
            if let removed { RunLoop.current.remove(removed, forMode: .tracking) }
            #expect(removed != nil)
            if let removed { RunLoop.current.remove(removed, forMode: .default) }
            #expect(removed == nil)
        }
    }

    @Test func `A port is released when its thread ends`() {
        let witness = Witness()
        TestThread.run {
            let port = MessagePort()
            witness.watch(port)
            RunLoop.current.add(port, forMode: .default)
        }
        #expect(witness.isGone)
    }
}
