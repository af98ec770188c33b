// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsConcurrency
import RunLoopsPorts
import RunLoopsTestSupport
import Testing

/// Questions to another process.
@Suite(.limited, .serialized) struct RequestProcessTests {
    @Test func `Another process answers many requests, sent at the same time or one after the other`() async throws {
        try await withServer { sender, loop in
            // The first contact is made by a thread of its own.
            #expect(try await sender.request(RunLoop.MessagePort.Message(id: 1), on: loop, within: plenty).id == 2)
            // More than a process may introduce ports to another at a time, if each question had one.
            let sum = try await withThrowingTaskGroup(of: Int.self) { group in
                for id in 1...600 {
                    group.addTask {
                        try await sender.request(RunLoop.MessagePort.Message(id: Int32(id)), on: loop, within: plenty)
                            .id == id + 1 ? 1 : 0
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(sum == 600)
            // And those of a sequence come and go.
            for id in 1...600 {
                #expect(
                    try await sender.request(RunLoop.MessagePort.Message(id: Int32(id)), on: loop, within: plenty).id
                        == id + 1)
            }
        }
    }

    @Test func `A request without an answer throws noReply, timedOut, dead or CancellationError`() async throws {
        try await withServer { sender, loop in
            await #expect(throws: RunLoop.PortError.noReply) {
                try await sender.request(RunLoop.MessagePort.Message(id: 0), on: loop, within: plenty)
            }
            await #expect(throws: RunLoop.PortError.timedOut) {
                try await sender.request(RunLoop.MessagePort.Message(id: -1), on: loop, within: .milliseconds(20))
            }
            let cancelled = Task { try await sender.request(RunLoop.MessagePort.Message(id: -1), on: loop) }
            // Behind it in the queue: it has arrived.
            _ = try await sender.request(RunLoop.MessagePort.Message(id: 1), on: loop, within: plenty)
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
            // Asked before the other process ends, and known to have arrived.
            let kept = Task { try await sender.request(RunLoop.MessagePort.Message(id: -1), on: loop) }
            _ = try await sender.request(RunLoop.MessagePort.Message(id: 1), on: loop, within: plenty)
            try sender.send(RunLoop.MessagePort.Message(id: -2))
            await #expect(throws: RunLoop.PortError.dead) { try await kept.value }
        }
    }

    @Test func `A random mixture of requests and cancellations leaves no descriptor open`() async {
        // In a process without other tests, whose descriptors come and go.
        await #expect(processExitsWith: .success) {
            try await withServer { sender, loop in
                _ = try await sender.request(RunLoop.MessagePort.Message(id: 1), on: loop, within: plenty)
                // What the loop's thread still holds of the last question is closed when this is done.
                _ = try? await loop.result {}
                let before = openDescriptors()
                var random = SeededRandom(26)
                for _ in 0..<(isFull ? 2000 : 10) { await askAtRandom(sender, loop, &random) }
                _ = try? await loop.result {}
                #expect(openDescriptors() == before)
                #expect(!loop.detailedDescription().contains("answers"))
            }
        }
    }
}

/// Some questions at a time, of all kinds, with short limits, half of them cancelled.
private func askAtRandom(_ sender: RunLoop.MessagePort.Sender, _ loop: RunLoop, _ random: inout SeededRandom) async {
    await withTaskGroup(of: Void.self) { group in
        for _ in 0..<50 {
            let (number, isCancelled) = (Int32(random.next() % 3) - 1, random.oneIn(2))
            let limit = Duration.microseconds(Int64(random.next() % 2000))
            group.addTask {
                let task = Task {
                    try await sender.request(RunLoop.MessagePort.Message(id: number), on: loop, within: limit)
                }
                if isCancelled { task.cancel() }
                _ = await task.result
            }
        }
    }
}

/// The loop of a thread, and a sender to a port of a program that answers.
private func withServer(_ body: (RunLoop.MessagePort.Sender, RunLoop) async throws -> Void) async throws {
    let folder = TemporaryDirectory()
    let program = try #require(Programs.start("serve", folder.path))
    let names = try RunLoop.MessagePort.Directory(shared: folder.path)
    let sender = try RunLoop.MessagePort.Sender(named: "numbers", in: names)
    defer {
        // Behind all the questions, which the program may still have to answer.
        try? sender.send(RunLoop.MessagePort.Message(id: -2), within: plenty)
        pclose(program)
    }
    try await LoopThread.with { loop in try await body(sender, loop) }
}

private func openDescriptors() -> Int { (0..<1024).count { fcntl($0, F_GETFD) != -1 } }
