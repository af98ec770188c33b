// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CLinuxKernel
import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsTestSupport
import Testing

/// Writes to descriptors that block, as the standard streams of most programs do.
@Suite(.ownThread, .timeLimit(.minutes(10)), .leavesNothing) struct BlockingOutputTests {
    @Test func `A client that does not read its answers does not block a loop that writes to a blocking pipe`()
        throws
    {
        let (input, output) = (try BlockingPipe(), try BlockingPipe())
        try withLoop { loop in
            let ticks = Box(0)
            let answer = String(repeating: "x", count: 999)
            let writer = try loop.answerLines(
                of: RunLoop.File(borrowing: input.reader), on: RunLoop.File(borrowing: output.writer)
            ) { _ in answer }
            for _ in 0..<4 {
                // The input holds more lines than the output has room for answers.
                _ = write(input.writer, String(repeating: "?\n", count: 100), 200)
                #expect(loop.run(mode: .default, for: .milliseconds(1)) != .stopped)
            }
            loop.add(
                RunLoop.Timer(.every(.milliseconds(1))) { timer in
                    ticks.value += 1
                    if ticks.value == 20 { loop.stop() }
                }, in: .default)
            #expect(loop.runPlenty() == .stopped)
            #expect(ticks.value == 20)
            #expect(writer.unsentCount > 0)
            writer.invalidate()
        }
    }

    @Test func `rl_write_ready fills a blocking pipe and then returns -EAGAIN`() throws {
        let pipe = try BlockingPipe()
        let bytes = [UInt8](repeating: 1, count: 1 << 20)
        var count = 0
        while case let written = rl_write_ready(pipe.writer, bytes, bytes.count), written > 0 { count += Int(written) }
        #expect(rl_write_ready(pipe.writer, bytes, bytes.count) == -EAGAIN)
        // All of a pipe's room but the part of a page that a portion does not fill.
        #expect(count > 1 << 15)
        close(pipe.takeReader())
        #expect(rl_write_ready(pipe.writer, bytes, 1) == -EPIPE)
    }

    @Test func `rl_write_ready fills a blocking socket and then returns -EAGAIN`() {
        let pair = DescriptorPair.sockets()
        _ = fcntl(pair.second, F_SETFL, 0)
        let bytes = [UInt8](repeating: 1, count: 1 << 22)
        #expect(rl_write_ready(pair.second, bytes, bytes.count) > 0)
        while rl_write_ready(pair.second, bytes, bytes.count) > 0 {}
        #expect(rl_write_ready(pair.second, bytes, bytes.count) == -EAGAIN)
    }

    @Test(arguments: [false, true])
    func `rl_write_ready returns -EAGAIN for a full or stopped terminal and does not wait`(isStopped: Bool) throws {
        var (master, terminal): (CInt, CInt) = (-1, -1)
        #expect(openpty(&master, &terminal, nil, nil, nil) == 0)
        defer {
            close(terminal)
            close(master)
        }
        if isStopped { tcflow(terminal, CInt(TCOOFF)) }
        // Each becomes two bytes on the way.
        let lines = [UInt8](repeating: 0x0A, count: 1 << 20)
        var count = 0
        while case let written = rl_write_ready(terminal, lines, lines.count), written > 0 { count += Int(written) }
        #expect(isStopped ? count == 0 : count > 128)
        #expect(rl_write_ready(terminal, lines, lines.count) == -EAGAIN)
        tcflow(terminal, CInt(TCOON))
    }

    @Test func `All bytes arrive through a blocking pipe that is read slowly`() throws {
        let pipe = try BlockingPipe()
        try withLoop { loop in
            let sent = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 251) }
            let writer = OutputWriter(RunLoop.File(borrowing: pipe.writer)) { _, event in
                if event == .finished { loop.stop() }
            }
            writer.write(sent)
            writer.finish()
            try loop.add(writer, in: .default)
            var received: [UInt8] = []
            var portion = [UInt8](repeating: 0, count: 10_000)
            while received.count < sent.count {
                _ = loop.runUntilIdle()
                received += portion[..<read(pipe.reader, &portion, portion.count)]
            }
            #expect(received == sent)
        }
    }
}

private final class BlockingPipe: Sendable {
    let reader, writer: CInt
    private let isTaken = Locked(false)

    init() throws {
        var ends: [CInt] = [-1, -1]
        try #require(rl_blocking_pipe(&ends) == 0)
        (reader, writer) = (ends[0], ends[1])
    }

    deinit {
        if !isTaken.copy { close(reader) }
        close(writer)
    }

    func takeReader() -> CInt {
        isTaken.withLock { $0 = true }
        return reader
    }
}
