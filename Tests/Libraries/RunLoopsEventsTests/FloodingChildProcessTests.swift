// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsEvents
import RunLoopsKit
import RunLoopsTestSupport
import Testing

/// Children that write to their pipes without a pause: none of them makes the parent's loop wait.
@Suite(.ownThread, .timeLimit(.minutes(10)), .serialized, .leavesNothing) struct FloodingChildProcessTests {
    @Test(arguments: [0, 1, 1000])
    func `A child that floods both pipes with lines does not stop the loop of its completion`(length: Int) throws {
        let thread = try RunLoopThread(name: "parent")
        let heartbeat = Heartbeat(on: thread.loop)
        let child = try flood(length)
        let count = Locked(0)
        let isDone = Permit()
        let completion = ChildCompletion.sendable(
            child, onLine: { _, _ in count.increment() }, handler: { _, _ in isDone.signal() })
        add(completion, to: thread.loop)
        waitUntil { count.copy > 0 }
        #expect(heartbeat.goesOn())
        child.terminate()
        isDone.wait()
        heartbeat.end("floods both pipes with lines of \(length) bytes")
        end(thread)
    }

    @Test func `A child that floods its pipes does not stop the loop of readers of bytes and of lines`() throws {
        let thread = try RunLoopThread(name: "parent")
        let heartbeat = Heartbeat(on: thread.loop)
        let child = try flood(0)
        let (bytes, lines) = (Locked(0), Locked(0))
        let readers: [EventSource] = [
            InputReader.sendable(try #require(child.standardOutput), as: .bytes) { _, event in
                if case .received(let all) = event { bytes.withLock { $0 += all.count } }
            },
            InputReader.sendable(try #require(child.standardError), as: .lines) { _, event in
                if case .received(let all) = event { lines.withLock { $0 += all.count } }
            },
        ]
        for reader in readers { add(reader, to: thread.loop) }
        waitUntil { bytes.copy > 0 && lines.copy > 0 }
        #expect(heartbeat.goesOn())
        for reader in readers { reader.invalidate() }
        child.terminate()
        _ = waitForEnd(child)
        heartbeat.end("floods its pipes")
        end(thread)
    }

    /// A group of two processes that write lines of so many bytes to standard output and standard error.
    private func flood(_ length: Int) throws -> Child {
        let line = String(repeating: "x", count: length)
        return try Child.spawn(
            .name("sh"), arguments: ["-c", "yes '\(line)' >&2 & exec yes '\(line)'"], input: .null, output: .pipe,
            error: .pipe, group: .new)
    }
}
