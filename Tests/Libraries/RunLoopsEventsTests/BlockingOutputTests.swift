// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsTestSupport
import Testing

/// Writes to descriptors that block, as the standard streams of most programs do.
@Suite(.ownThread, .leavesNothing) struct BlockingOutputTests {
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
                #expect(loop.run(in: .default, for: .milliseconds(1)) != .stopped)
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

    @Test func `A writer to a blocking pipe does not wait when another writer takes the room`() throws {
        let pipe = try BlockingPipe()
        let server = WritingThread(pipe.writer)
        let isOver = Locked(false)
        let other = TestThread {
            let page = [UInt8](repeating: 2, count: 4096)
            while !isOver.copy { _ = write(pipe.writer, page, page.count) }
        }
        var page = [UInt8](repeating: 0, count: 4096)
        // Whenever there is room for a page, both want it; one of them gets it, and then nobody reads for a while.
        for _ in 0..<50 {
            #expect(read(pipe.reader, &page, page.count) > 0)
            #expect(server.heartbeat.goesOn(beats: 2))
        }
        isOver.withLock { $0 = true }
        server.writer.invalidate()
        server.heartbeat.end("takes the room in a shared pipe")
        let flags = fcntl(pipe.reader, F_GETFL)
        _ = fcntl(pipe.reader, F_SETFL, flags | O_NONBLOCK)
        let isGone = Locked(false)
        let drain = TestThread {
            var page = [UInt8](repeating: 0, count: 4096)
            while !isGone.copy { if read(pipe.reader, &page, page.count) <= 0 { usleep(200) } }
        }
        other.join()
        server.end()
        isGone.withLock { $0 = true }
        drain.join()
    }

    @Test func `A writer to a blocking descriptor that cannot be opened again does not block its loop`() throws {
        var (master, terminal): (CInt, CInt) = (-1, -1)
        #expect(openpty(&master, &terminal, nil, nil, nil) == 0)
        defer {
            close(terminal)
            close(master)
        }
        var settings = termios()
        tcgetattr(terminal, &settings)
        cfmakeraw(&settings)
        tcsetattr(terminal, TCSANOW, &settings)
        #expect(rl_write_ready(master, "x", 1) == -EOPNOTSUPP)
        let server = WritingThread(master)
        // Nobody reads yet.
        #expect(server.heartbeat.goesOn())
        #expect(server.writer.unsentCount > 0)
        var count = 0
        var space = [UInt8](repeating: 0, count: 4096)
        while count < WritingThread.sent.count {
            let got = read(terminal, &space, space.count)
            if got <= 0 { break }
            #expect(space[..<got].elementsEqual(WritingThread.sent[count..<count + got]))
            count += got
        }
        #expect(count == WritingThread.sent.count)
        server.heartbeat.end("does not read a terminal")
        server.isFinished.wait()
        server.end()
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

/// A thread whose loop writes more than a pipe holds, and then finishes.
private final class WritingThread: @unchecked Sendable {
    static let sent = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 251) }

    let writer: OutputWriter
    let heartbeat: Heartbeat
    let isFinished = Permit()
    private let thread: TestThread
    private let loop: RunLoop

    init(_ descriptor: CInt) {
        let isFinished = isFinished
        let found = Locked<RunLoop?>(nil)
        let isThere = Permit()
        writer = .sendable(RunLoop.File(borrowing: descriptor)) { _, event in
            if event == .finished { isFinished.signal() }
        }
        thread = TestThread { [writer] in
            let loop = RunLoop.current
            do { try loop.add(writer, in: .default) } catch { Issue.record("\(error)") }
            loop.perform {
                found.withLock { $0 = loop }
                isThere.signal()
            }
            let keeper = RunLoop.Source { _ in }
            loop.add(keeper, in: .default)
            #expect(loop.runPlenty() == .stopped)
            keeper.invalidate()
        }
        // Computed here, and not on the loop's thread.
        precondition(!Self.sent.isEmpty)
        isThere.wait()
        guard let loop = found.copy else { preconditionFailure("the thread has left its loop") }
        self.loop = loop
        heartbeat = Heartbeat(on: loop)
        #expect(heartbeat.goesOn(beats: 1))
        // On the loop's thread, as a program does.
        loop.perform { [writer] in
            writer.write(Self.sent)
            writer.finish()
        }
        loop.wakeUp()
    }

    func end() {
        loop.perform { RunLoop.current.stop() }
        loop.wakeUp()
        thread.join()
    }
}
