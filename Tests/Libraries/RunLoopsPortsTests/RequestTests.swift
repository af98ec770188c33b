// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsConcurrency
import RunLoopsKit
import RunLoopsPorts
import RunLoopsTestSupport
import Testing

/// Messages and the answers to questions, which tasks wait for.
@Suite(.ownThread) struct RequestTests {
    @Test func `A port's messages arrive in order as a sequence, which ends when the port ends`() async throws {
        let thread = try RunLoopThread(name: "messages")
        let (port, messages) = try thread.loop.messages()
        let sender = port.sender
        for id in 0..<100 { try sender.send(RunLoop.MessagePort.Message(id: Int32(id), bytes: [])) }
        var seen: [Int32] = []
        for await message in messages {
            seen.append(message.id)
            if seen.count == 100 { port.invalidate() }
        }
        #expect(seen == Array(0..<100))
        thread.end()
    }

    @Test func `A task gets the answer to its request, even from a port on the task's own loop`() async throws {
        try await withLoop { loop in
            let port = try echo(on: loop)
            let reply = try await port.sender.request(RunLoop.MessagePort.Message(id: 3, text: "hello"), on: loop)
            #expect(reply.id == 4)
            #expect(reply.text == "hello")
            // The same loop answers and takes the answer in, and a task of that loop asks.
            let own = Task(executorPreference: loop.executor) {
                try await port.sender.request(RunLoop.MessagePort.Message(id: 7), on: loop, within: plenty).id
            }
            #expect(try await own.value == 8)
            port.invalidate()
            #expect(await hasNoDesk(loop))
        }
    }

    @Test func `Each of many concurrent requests gets its own answer`() async throws {
        try await withLoop { server in
            try await withLoop { loop in
                let port = try echo(on: server)
                let sum = try await withThrowingTaskGroup(of: Int.self) { group in
                    for id in 0..<500 {
                        group.addTask {
                            let reply = try await port.sender.request(
                                RunLoop.MessagePort.Message(id: Int32(id)), on: loop, within: plenty)
                            return reply.id == Int32(id) + 1 ? 1 : 0
                        }
                    }
                    return try await group.reduce(0, +)
                }
                #expect(sum == 500)
                port.invalidate()
                #expect(await hasNoDesk(loop))
            }
        }
    }

    @Test func `A request that is not answered in time is withdrawn`() async throws {
        try await withLoop { loop in
            let kept = Locked<[RunLoop.MessagePort.Sender?]>([])
            let port = try keeper(of: kept, on: loop)
            await #expect(throws: RunLoop.PortError.timedOut) {
                try await port.sender.request(RunLoop.MessagePort.Message(), on: loop, within: .milliseconds(5))
            }
            #expect(await hasNoDesk(loop))
            // The late answer is dropped, and its sender gets an error.
            #expect(throws: RunLoop.PortError.dead) {
                try kept.withLock { $0 }.first??.send(RunLoop.MessagePort.Message())
            }
            port.invalidate()
        }
    }

    @Test func `A cancelled request leaves nothing in the loop`() async throws {
        try await withLoop { loop in
            let kept = Locked<[RunLoop.MessagePort.Sender?]>([])
            let port = try keeper(of: kept, on: loop)
            let task = Task {
                try await port.sender.request(RunLoop.MessagePort.Message(), on: loop, within: .seconds(3600))
            }
            while kept.withLock({ $0.isEmpty }) { await Task.yield() }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(await hasNoDesk(loop))
            let text = loop.detailedDescription()
            #expect(!text.contains("request"))
            port.invalidate()
            let late = Task {
                while !Task.isCancelled { await Task.yield() }
                return try await port.sender.request(RunLoop.MessagePort.Message(), on: loop)
            }
            late.cancel()
            await #expect(throws: CancellationError.self) { try await late.value }
        }
    }

    @Test func `A request throws noReply if its message is dropped and dead if the port has ended`() async throws {
        try await withLoop { loop in
            let silent = RunLoop.MessagePort.sendable { _ in nil }
            try loop.add(silent, in: .common)
            await #expect(throws: RunLoop.PortError.noReply) {
                try await silent.sender.request(RunLoop.MessagePort.Message(), on: loop)
            }
            let kept = Locked<[RunLoop.MessagePort.Sender?]>([])
            let dying = try keeper(of: kept, on: loop)
            let task = Task { try await dying.sender.request(RunLoop.MessagePort.Message(), on: loop) }
            while kept.withLock({ $0.isEmpty }) { await Task.yield() }
            dying.invalidate()
            // Whoever could still answer gives up the right to answer.
            kept.withLock { $0 = [] }
            await #expect(throws: RunLoop.PortError.dead) { try await task.value }
            await #expect(throws: RunLoop.PortError.dead) {
                try await dying.sender.request(RunLoop.MessagePort.Message(), on: loop)
            }
            await #expect(throws: RunLoop.PortError.tooLarge(16)) {
                let small = RunLoop.MessagePort.sendable(limits: .init(messageSize: 16)) { _ in nil }
                try loop.add(small, in: .common)
                defer { small.invalidate() }
                _ = try await small.sender.request(
                    RunLoop.MessagePort.Message(text: "more than sixteen bytes"), on: loop)
            }
            silent.invalidate()
            #expect(await hasNoDesk(loop))
        }
    }

    @Test func `A request throws ThreadEndedError if the loop's thread ends or has ended`() async throws {
        try await withLoop { server in
            let kept = Locked<[RunLoop.MessagePort.Sender?]>([])
            let port = try keeper(of: kept, on: server)
            let thread = try RunLoopThread(name: "ends")
            let loop = thread.loop
            let task = Task { try await port.sender.request(RunLoop.MessagePort.Message(), on: loop) }
            while kept.withLock({ $0.isEmpty }) { await Task.yield() }
            thread.end()
            await #expect(throws: RunLoop.ThreadEndedError.self) { try await task.value }
            await #expect(throws: RunLoop.ThreadEndedError.self) {
                try await port.sender.request(RunLoop.MessagePort.Message(), on: loop)
            }
            port.invalidate()
        }
    }

    @Test func `A request to a full queue waits for room, at most for its timeout`() async throws {
        try await withLoop { loop in
            // The port is in no loop yet, so nothing takes messages out.
            let port = RunLoop.MessagePort.sendable(limits: .init(queue: 1)) {
                RunLoop.MessagePort.Message(id: $0.id + 1)
            }
            let sender = port.sender
            try sender.send(RunLoop.MessagePort.Message())
            await #expect(throws: RunLoop.PortError.full) {
                try await sender.request(RunLoop.MessagePort.Message(), on: loop, within: .zero)
            }
            await #expect(throws: RunLoop.PortError.timedOut) {
                try await sender.request(RunLoop.MessagePort.Message(), on: loop, within: .milliseconds(5))
            }
            let task = Task {
                try await sender.request(RunLoop.MessagePort.Message(id: 1), on: loop, within: plenty).id
            }
            try await Task.sleep(for: .milliseconds(1))
            try loop.add(port, in: .common)
            #expect(try await task.value == 2)
            port.invalidate()
            #expect(await hasNoDesk(loop))
        }
    }

    @Test func `Each of many sequential requests gets its own answer`() async throws {
        try await withLoop { server in
            try await withLoop { loop in
                let port = try echo(on: server)
                for id in 0..<Int32(count(50_000, orElse: 500)) {
                    let reply = try await port.sender.request(RunLoop.MessagePort.Message(id: id), on: loop)
                    if reply.id != id + 1 { Issue.record("question \(id) got answer \(reply.id)") }
                }
                port.invalidate()
                #expect(await hasNoDesk(loop))
            }
        }
    }
}

/// Gives `body` the loop of a thread of its own.
private func withLoop(_ body: (RunLoop) async throws -> Void) async throws {
    let thread = try RunLoopThread(name: "loop of a test")
    defer {
        thread.end()
    }
    try await body(thread.loop)
}

/// A port that answers with the next number.
private func echo(on loop: RunLoop) throws -> RunLoop.MessagePort {
    let port = RunLoop.MessagePort.sendable { RunLoop.MessagePort.Message(id: $0.id + 1, bytes: $0.bytes) }
    try loop.add(port, in: .common)
    return port
}

/// A port that puts off the answer.
private func keeper(of kept: Locked<[RunLoop.MessagePort.Sender?]>, on loop: RunLoop) throws -> RunLoop.MessagePort {
    let port = RunLoop.MessagePort.sendable { message in
        kept.withLock { $0.append(message.replyTo) }
        return nil
    }
    try loop.add(port, in: .common)
    return port
}

/// Whether nothing takes answers in, once the loop's thread has done what was left to it.
private func hasNoDesk(_ loop: RunLoop) async -> Bool {
    _ = try? await loop.result {}
    return !loop.detailedDescription().contains("answers")
}

extension RunLoopThread {
    /// Stops the thread and waits for its end: a function of its own, because tasks may not wait so.
    fileprivate func end() {
        stop()
        join()
    }
}
