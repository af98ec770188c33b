// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsPorts
import RunLoopsTestSupport
import Testing

/// Ports between threads.
@Suite(.ownThread) struct ThreadPortTests {
    @Test func `Messages arrive once each and in order`() throws {
        let number = count(1_000_000, orElse: 50_000)
        let expected = Locked<Int32>(0)
        let disorder = Locked(0)
        let done = Permit()
        let server = Server(
            .sendable { message in
                expected.withLock {
                    if message.id != $0 { disorder.withLock { $0 += 1 } }
                    $0 += 1
                    if $0 == number { done.signal() }
                }
                return nil
            })
        defer { server.end() }
        let sender = server.port.sender
        let bytes: [UInt8] = [1, 2, 3, 4]
        for id in 0..<Int32(number) {
            try sender.send(RunLoop.MessagePort.Message(id: id, bytes: bytes), within: plenty)
        }
        done.wait()
        #expect(disorder.withLock { $0 } == 0)
        #expect(expected.withLock { $0 } == number)
    }

    @Test func `Messages of each of several threads keep their order`() throws {
        let number = count(100_000, orElse: 10_000)
        let next = Locked([Int32](repeating: 0, count: 4))
        let disorder = Locked(0)
        let server = Server(
            .sendable(limits: .init(queue: 100)) { message in
                let thread = Int(message.bytes[0])
                next.withLock {
                    if $0[thread] != message.id { disorder.withLock { $0 += 1 } }
                    $0[thread] += 1
                }
                return nil
            })
        let sender = server.port.sender
        let threads = (0..<4).map { thread in
            TestThread {
                for id in 0..<Int32(number) {
                    do {
                        try sender.send(RunLoop.MessagePort.Message(id: id, bytes: [UInt8(thread)]), within: plenty)
                    } catch {
                        disorder.withLock { $0 += 1 }
                    }
                }
            }
        }
        for thread in threads { thread.join() }
        waitUntil { next.withLock { $0.allSatisfy { $0 == number } } }
        #expect(disorder.withLock { $0 } == 0)
        server.end()
    }

    @Test func `The closure's reply is sent to the asker`() throws {
        let server = Server(.sendable { RunLoop.MessagePort.Message(id: $0.id + 1, bytes: $0.bytes.reversed()) })
        defer { server.end() }
        let reply = try TestThread.run { [sender = server.port.sender] in
            try sender.request(RunLoop.MessagePort.Message(id: 7, bytes: [1, 2, 3]), within: plenty)
        }
        #expect(reply.id == 8)
        #expect(reply.bytes == [3, 2, 1])
    }

    @Test func `A reply may be sent later and by another thread`() throws {
        let server = Server(
            .sendable { message in
                let replyTo = message.replyTo
                TestThread { try? replyTo?.send(RunLoop.MessagePort.Message(text: "late")) }.join()
                return nil
            })
        defer { server.end() }
        let reply = try TestThread.run { [sender = server.port.sender] in
            try sender.request(RunLoop.MessagePort.Message(), within: plenty)
        }
        #expect(reply.text == "late")
    }

    @Test func `A port on the asker's own loop can answer in a private mode`() throws {
        try TestThread.run {
            let port = RunLoop.MessagePort { RunLoop.MessagePort.Message(id: $0.id * 2) }
            try RunLoop.current.add(port, in: "work")
            let reply = try port.sender.request(RunLoop.MessagePort.Message(id: 21), within: plenty, in: "work")
            #expect(reply.id == 42)
            port.invalidate()
        }
    }

    @Test func `A request that waits runs the connection reply mode and serves its items`() throws {
        let server = Server(.sendable { RunLoop.MessagePort.Message(id: $0.id) })
        defer { server.end() }
        try TestThread.run { [sender = server.port.sender] in
            let loop = RunLoop.current
            var modes: [RunLoop.Mode] = []
            var fired = 0
            let observer = RunLoop.Observer(.entry) { _, _ in if let mode = loop.currentMode { modes.append(mode) } }
            loop.add(observer, in: .connectionReply)
            let timer = RunLoop.Timer(.every(.milliseconds(1))) { _ in fired += 1 }
            loop.add(timer, in: .default)
            #expect(try sender.request(RunLoop.MessagePort.Message(id: 3), within: plenty).id == 3)
            #expect(modes.first == .connectionReply)
            #expect(Set(modes).count == 1)
            #expect(fired == 0)
            timer.invalidate()
            observer.invalidate()
            // A port that the program adds to the mode is served during the wait.
            let own = RunLoop.MessagePort { RunLoop.MessagePort.Message(id: $0.id * 2) }
            try loop.add(own, in: .connectionReply)
            #expect(try own.sender.request(RunLoop.MessagePort.Message(id: 21), within: plenty).id == 42)
            own.invalidate()
        }
    }

    @Test func `A full queue still accepts replies`() throws {
        try TestThread.run {
            var replies: [Int32] = []
            let asker = RunLoop.MessagePort(limits: .init(queue: 1)) { reply in
                replies.append(reply.id)
                return nil
            }
            let port = RunLoop.MessagePort { RunLoop.MessagePort.Message(id: $0.id) }
            try RunLoop.current.add(asker, in: "ask")
            try RunLoop.current.add(port, in: "answer")
            for id in 0..<Int32(5) { try port.sender.send(RunLoop.MessagePort.Message(id: id, replyTo: asker.sender)) }
            RunLoop.current.runTurn(in: "answer")
            #expect(throws: RunLoop.PortError.full) { try asker.sender.send(RunLoop.MessagePort.Message()) }
            while replies.count < 5 { RunLoop.current.runTurn(in: "ask") }
            #expect(replies == [0, 1, 2, 3, 4])
            asker.invalidate()
            port.invalidate()
        }
    }

    @Test func `A request throws noReply if its message is dropped`() throws {
        let server = Server(.sendable { _ in nil })
        defer { server.end() }
        #expect(throws: RunLoop.PortError.noReply) {
            try TestThread.run { [sender = server.port.sender] in
                try sender.request(RunLoop.MessagePort.Message(), within: plenty)
            }
        }
    }

    @Test func `Pending requests and later sends throw dead if the port is invalidated`() throws {
        let port = RunLoop.MessagePort.sendable { _ in nil }
        let sender = port.sender
        let asked = Locked(false)
        let asker = TestThread {
            asked.withLock { $0 = true }
            do {
                _ = try sender.request(RunLoop.MessagePort.Message(), within: plenty)
                Issue.record("there was an answer")
            } catch {
                #expect(error as? RunLoop.PortError == .dead)
            }
        }
        waitUntil { asked.withLock { $0 } }
        port.invalidate()
        asker.join()
        #expect(sender.isDead)
        #expect(throws: RunLoop.PortError.dead) { try sender.send(RunLoop.MessagePort.Message(), within: .zero) }
    }

    @Test func `A port ends with the thread of its loop`() throws {
        let sender = try TestThread.run { () -> RunLoop.MessagePort.Sender in
            let port = RunLoop.MessagePort { _ in nil }
            try RunLoop.current.add(port, in: .common)
            #expect(!port.sender.isDead)
            return port.sender
        }
        #expect(throws: RunLoop.PortError.dead) { try sender.send(RunLoop.MessagePort.Message(), within: plenty) }
    }

    @Test func `add returns whether the port is in the mode`() throws {
        let ended = TestThread.run { RunLoop.current }
        weak var late: RunLoop.MessagePort?
        do {
            let port = RunLoop.MessagePort.sendable { _ in nil }
            late = port
            #expect(try !ended.add(port, in: .default))
        }
        // No mode keeps it.
        #expect(late == nil)
        try TestThread.run { () throws in
            let port = RunLoop.MessagePort.sendable { _ in nil }
            #expect(try RunLoop.current.add(port, in: .default))
            #expect(try RunLoop.current.add(port, in: .common))
            port.invalidate()
            #expect(try !RunLoop.current.add(port, in: .default))
        }
    }

    @Test func `A sender is dead after its port is released, and a mode retains its ports`() throws {
        try TestThread.run {
            let sender = RunLoop.MessagePort { _ in nil }.sender
            #expect(sender.isDead)
            let kept = try { () throws -> RunLoop.MessagePort.Sender in
                let port = RunLoop.MessagePort { _ in nil }
                try RunLoop.current.add(port, in: .default)
                return port.sender
            }()
            #expect(!kept.isDead)
        }
    }

    @Test func `A send to a full queue waits for room or its timeout`() throws {
        let port = RunLoop.MessagePort.sendable(limits: .init(queue: 2)) { _ in nil }
        let sender = port.sender
        try sender.send(RunLoop.MessagePort.Message(), within: .zero)
        try sender.send(RunLoop.MessagePort.Message(), within: .zero)
        #expect(throws: RunLoop.PortError.full) { try sender.send(RunLoop.MessagePort.Message(), within: .zero) }
        let start = RunLoop.Instant.now
        #expect(throws: RunLoop.PortError.timedOut) {
            try sender.send(RunLoop.MessagePort.Message(), within: .milliseconds(20))
        }
        #expect(RunLoop.Instant.now - start >= .milliseconds(20))
        let waiter = TestThread {
            do { try sender.send(RunLoop.MessagePort.Message(), within: plenty) } catch { Issue.record("\(error)") }
        }
        let server = Server(port)
        waiter.join()
        server.end()
    }

    @Test func `A send on the port's own loop thread does not wait`() throws {
        try TestThread.run {
            let port = RunLoop.MessagePort(limits: .init(queue: 1)) { _ in nil }
            try RunLoop.current.add(port, in: .default)
            try port.sender.send(RunLoop.MessagePort.Message())
            #expect(throws: RunLoop.PortError.full) { try port.sender.send(RunLoop.MessagePort.Message()) }
            port.invalidate()
        }
    }

    @Test func `Messages that are too large are refused`() throws {
        let port = RunLoop.MessagePort.sendable(limits: .init(messageSize: 4, descriptors: 0)) { _ in nil }
        #expect(throws: RunLoop.PortError.tooLarge(4)) {
            try port.sender.send(RunLoop.MessagePort.Message(bytes: [1, 2, 3, 4, 5]))
        }
        let descriptor = try RunLoop.MessagePort.Descriptor(duplicating: 2)
        #expect(throws: RunLoop.PortError.tooManyDescriptors(0)) {
            try port.sender.send(RunLoop.MessagePort.Message(descriptors: [descriptor]))
        }
    }

    @Test func `A batch has at most the given number of messages and ends when the run is stopped`() throws {
        try TestThread.run {
            let loop = RunLoop.current
            var order: [String] = []
            let port = RunLoop.MessagePort(limits: .init(batch: 4)) { message in
                order.append("\(message.id)")
                if message.id == 9 { loop.stop() }
                return nil
            }
            let source = RunLoop.Source(order: 1) { source in
                order.append("source")
                source.signal()
            }
            try loop.add(port, in: .default)
            loop.add(source, in: .default)
            for id in 0..<12 { try port.sender.send(RunLoop.MessagePort.Message(id: Int32(id))) }
            source.signal()
            #expect(loop.run(in: .default, for: plenty) == .stopped)
            #expect(order.prefix(10) == ["0", "1", "2", "3", "source", "4", "5", "6", "7", "source"])
            #expect(order.contains("9"))
            #expect(!order.contains("10"))
            source.invalidate()
            loop.perform {}
            while !order.contains("11") { loop.runTurn() }
            port.invalidate()
        }
    }

    @Test func `A run inside the closure delivers the next messages`() throws {
        try TestThread.run {
            let loop = RunLoop.current
            var order: [String] = []
            let port = RunLoop.MessagePort { message in
                order.append("begin \(message.id)")
                if message.id == 0 {
                    while order.count < 5 { loop.run(in: .default, for: plenty, returnsAfterSource: true) }
                }
                order.append("end \(message.id)")
                return nil
            }
            try loop.add(port, in: .default)
            for id in 0..<3 { try port.sender.send(RunLoop.MessagePort.Message(id: Int32(id))) }
            while order.count < 6 { loop.run(in: .default, for: plenty, returnsAfterSource: true) }
            #expect(order == ["begin 0", "begin 1", "end 1", "begin 2", "end 2", "end 0"])
            port.invalidate()
        }
    }

    @Test func `A port invalidated in its closure delivers no further message`() throws {
        try TestThread.run {
            var delivered = 0
            var itself: RunLoop.MessagePort?
            let port = RunLoop.MessagePort { _ in
                delivered += 1
                itself?.invalidate()
                return nil
            }
            itself = port
            try RunLoop.current.add(port, in: .default)
            for _ in 0..<5 { try port.sender.send(RunLoop.MessagePort.Message()) }
            RunLoop.current.run(in: .default, for: .zero)
            #expect(delivered == 1)
            itself = nil
        }
    }

    @Test func `Each of a thousand ports on one loop gets its own messages`() throws {
        try TestThread.run {
            let loop = RunLoop.current
            var received = [Int](repeating: 0, count: 1000)
            var total = 0
            let ports = (0..<1000).map { index in
                RunLoop.MessagePort { message in
                    #expect(message.id == Int32(index))
                    received[index] += 1
                    total += 1
                    return nil
                }
            }
            for port in ports { try loop.add(port, in: .default) }
            let senders = ports.map(\.sender)
            let thread = TestThread {
                for _ in 0..<10 {
                    for (index, sender) in senders.enumerated() {
                        try? sender.send(RunLoop.MessagePort.Message(id: Int32(index)))
                    }
                }
            }
            while total < 10_000 { loop.run(in: .default, for: plenty, returnsAfterSource: true) }
            thread.join()
            #expect(received.allSatisfy { $0 == 10 })
            for port in ports { port.invalidate() }
        }
    }
}
