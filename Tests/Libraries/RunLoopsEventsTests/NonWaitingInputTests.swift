// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsEvents

/// Reads of blocking descriptors whose bytes another reader may take first.
@Suite(.ownThread, .leavesNothing) struct NonWaitingInputTests {
    @Test(arguments: BlockingInput.Kind.allCases)
    func `A read of an empty blocking descriptor returns -EAGAIN and leaves the flags as they are`(
        kind: BlockingInput.Kind
    ) throws {
        let pair = try BlockingInput(kind)
        let input = NonWaitingInput()
        var bytes = [UInt8](repeating: 0, count: 16)
        for _ in 0..<3 {
            #expect(input.read(pair.reader, &bytes, 16) == -Int(EAGAIN))
            pair.send("abc\n")
            // A terminal hands its line over to another thread of the kernel.
            waitUntil { rl_wait_readable(pair.reader, 100) == 1 }
            #expect(input.read(pair.reader, &bytes, 16) == 4)
            #expect(bytes.prefix(4) == [0x61, 0x62, 0x63, 0x0A])
        }
        #expect(fcntl(pair.reader, F_GETFL) & O_NONBLOCK == 0)
    }

    @Test(arguments: BlockingInput.Kind.allCases)
    func `Two readers of duplicates of a blocking descriptor do not keep their loop from its timers`(
        kind: BlockingInput.Kind
    ) throws {
        let pair = try BlockingInput(kind)
        let files = try (0..<2).map { _ in try RunLoop.File(adopting: dup(pair.reader)) }
        try withLoop { loop in
            let received = Box("")
            let readers = files.map { file in
                InputReader(file, as: .lines) { _, event in
                    if case .received(let lines) = event { received.value += lines.joined() }
                }
            }
            for reader in readers { add(reader, to: loop) }
            pair.send("a\n")
            let ticks = Box(0)
            loop.add(
                RunLoop.Timer(.every(.milliseconds(1))) { timer in
                    ticks.value += 1
                    if ticks.value % 10 == 0 { pair.send("a\n") }
                    if ticks.value >= 100, received.value.count == 1 + ticks.value / 10 {
                        timer.invalidate()
                        loop.stop()
                    }
                }, in: .default)
            #expect(loop.runPlenty() == .stopped)
            #expect(ticks.value >= 100)
            for reader in readers { reader.invalidate() }
        }
    }

    @Test(arguments: [BlockingInput.Kind.pipe, .fifo, .socket])
    func `A thread that takes the input first does not make a reader wait, and no byte is lost`(
        kind: BlockingInput.Kind
    ) throws {
        let pair = try BlockingInput(kind)
        let count = 20_000
        let stolen = Locked(0)
        let end = Locked(false)
        let thief = TestThread {
            var byte: UInt8 = 0
            while !end.copy {
                // With a time limit, so that the thread ends.
                guard rl_wait_readable(pair.reader, 10) == 1 else { continue }
                let input = NonWaitingInput()
                if input.read(pair.reader, &byte, 1) == 1 { stolen.increment() }
            }
        }
        let sender = TestThread {
            for _ in 0..<count / 20 { pair.send(String(repeating: "x", count: 20)) }
        }
        try withLoop { loop in
            let received = Box(0)
            let reader = InputReader(RunLoop.File(borrowing: pair.reader), as: .bytes) { _, event in
                if case .received(let bytes) = event { received.value += bytes.count }
            }
            add(reader, to: loop)
            loop.add(
                RunLoop.Timer(.every(.milliseconds(1))) { timer in
                    guard received.value + stolen.copy == count else { return }
                    timer.invalidate()
                    loop.stop()
                }, in: .default)
            #expect(loop.runPlenty() == .stopped)
            reader.invalidate()
        }
        end.withLock { $0 = true }
        sender.join()
        thief.join()
    }

    @Test func `A pipe and a terminal are opened again as non-blocking, and other descriptors are not`() throws {
        for kind in BlockingInput.Kind.allCases {
            let pair = try BlockingInput(kind)
            let number = NonWaitingInput.reopen(pair.reader, O_RDONLY)
            #expect((number == nil) == (kind == .socket))
            guard let number else { continue }
            #expect(fcntl(number, F_GETFL) & O_NONBLOCK != 0)
            #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0)
            var bytes = [UInt8](repeating: 0, count: 16)
            #expect(rl_read(number, &bytes, 16) == -EAGAIN)
            close(number)
        }
        // To open the other side of a terminal is to make another terminal.
        let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
        #expect(NonWaitingInput.reopen(terminal, O_RDONLY) == nil)
        #expect(NonWaitingInput.reopen(null, O_RDONLY) == nil)
        var byte: UInt8 = 0
        #expect(NonWaitingInput().read(terminal, &byte, 1) == -Int(EAGAIN))
        #expect(NonWaitingInput().read(null, &byte, 1) == 0)
        close(terminal)
        close(null)
    }

    @Test func `A second reader of a descriptor in one loop traps and names both readers`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try withLoop { loop in
                for label in ["commands", "settings"] {
                    let reader = InputReader(.standardInput, as: .lines, label: label) { _, _ in }
                    try loop.add(reader, in: .default)
                }
            }
        }
        expectText(result, "The input readers commands and settings in one loop read descriptor 0")
        expectText(result, "Invalidate the first one before the second is added")
    }

    @Test func `A reader follows another one that was invalidated, removed or released, or that is in another loop`()
        throws
    {
        let pair = try BlockingInput(.pipe)
        @Sendable func reader() -> InputReader<String> {
            InputReader.sendable(RunLoop.File(borrowing: pair.reader), as: .lines) { _, _ in }
        }
        try withLoop { loop in
            let invalidated = reader()
            add(invalidated, to: loop)
            invalidated.invalidate()
            let removed = reader()
            add(removed, to: loop)
            loop.remove(removed, from: .default)
            add(reader(), to: loop)
        }
        // The loop of another thread may have the address of the first one.
        try withLoop { loop in
            let kept = reader()
            add(kept, to: loop)
            add(kept, to: loop)
            try withLoop { other in
                let second = reader()
                add(second, to: other)
                second.invalidate()
            }
            kept.invalidate()
        }
    }
}

/// A blocking descriptor that can be read, and the other side of it.
final class BlockingInput: Sendable {
    enum Kind: CaseIterable, Sendable {
        case pipe, fifo, terminal, socket
    }

    let reader: CInt
    private let writer: CInt

    init(_ kind: Kind) throws {
        var ends: [CInt] = [-1, -1]
        switch kind {
        case .pipe: try #require(rl_blocking_pipe(&ends) == 0)
        case .fifo:
            let directory = TemporaryDirectory()
            try #require(mkfifo(directory.path("fifo"), 0o600) == 0)
            // For reading and writing: neither open waits for the other.
            ends[1] = open(directory.path("fifo"), O_RDWR | O_CLOEXEC)
            ends[0] = open(directory.path("fifo"), O_RDONLY | O_CLOEXEC)
        case .terminal:
            var (master, terminal): (CInt, CInt) = (-1, -1)
            try #require(openpty(&master, &terminal, nil, nil, nil) == 0)
            ends = [terminal, master]
            for number in ends { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
        case .socket: try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
        }
        (reader, writer) = (ends[0], ends[1])
    }

    deinit {
        close(reader)
        close(writer)
    }

    func send(_ text: String) {
        let count = text.withCString { write(writer, $0, strlen($0)) }
        precondition(count == text.utf8.count, "errno \(errno)")
    }
}
