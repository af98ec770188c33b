// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsKit
import RunLoopsTestSupport
import Testing

@testable import RunLoopsEvents

/// Children that write to their pipes without a pause: none of them makes the parent's loop wait.
@Suite(.ownThread, .serialized, .leavesNothing) struct FloodingChildProcessTests {
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

    @Test func `A portion of input grows while it is quick and shrinks to what 5 ms are enough for`() {
        var size = InputPortion.first
        for _ in 0..<10 { size = InputPortion.next(after: size, thatTook: 100_000) }
        #expect(size == 65_536)
        // 65,536 lines that took 200 ms.
        size = InputPortion.next(after: size, thatTook: 200_000_000)
        #expect(size == 1638)
        #expect(InputPortion.next(after: size, thatTook: 4_000_000) == size)
        #expect(InputPortion.next(after: size, thatTook: .max) == InputPortion.least)
        #expect(InputPortion.next(after: size, thatTook: 0) == 6552)
    }

    @Test func `A reader of many short lines reads less at a time`() throws {
        try withLoop { loop in
            let pipe = DescriptorPair.pipe()
            _ = fcntl(pipe.second, F_SETFL, O_NONBLOCK)
            let counts = Box<[Int]>([])
            let reader = InputReader(RunLoop.File(borrowing: pipe.first), as: .lines) { _, event in
                guard case .received(let lines) = event else { return }
                counts.value.append(lines.count)
                // As long as a line of a busy program takes.
                let end = SystemCalls.now(.monotonic) + Int64(lines.count) * 20_000
                while SystemCalls.now(.monotonic) < end {}
            }
            try loop.add(reader, in: .default)
            let lines = [UInt8](repeating: UInt8(ascii: "\n"), count: 10_000)
            #expect(write(pipe.second, lines, lines.count) == lines.count)
            while counts.value.reduce(0, +) < lines.count {
                _ = loop.run(in: .default, for: plenty, returnsAfterSource: true)
            }
            #expect(counts.value.first == InputPortion.first)
            // 5 ms are enough for 250 lines at most.
            #expect(counts.value.dropFirst().allSatisfy { $0 <= InputPortion.least })
            reader.invalidate()
        }
    }

    /// A group of two processes that write lines of so many bytes to standard output and standard error.
    private func flood(_ length: Int) throws -> Child {
        let line = String(repeating: "x", count: length)
        return try Child.spawn(
            .name("sh"), arguments: ["-c", "yes '\(line)' >&2 & exec yes '\(line)'"], input: .null, output: .pipe,
            error: .pipe, group: .new)
    }
}
