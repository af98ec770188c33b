// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsConcurrency
import RunLoopsEvents
import RunLoopsKit
import RunLoopsTestSupport
import Testing

/// Lines and bytes of any descriptor, by closure and by sequence.
@Suite(.ownThread, .leavesNothing) struct InputReaderTests {
    // MARK: By closure

    @Test(arguments: ["pipe", "socket", "file", "terminal", "null"])
    func `Any kind of descriptor is read to its end`(_ kind: String) throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            let text = "eins\nzwei\näöü"
            var expected = ["eins", "zwei", "äöü"]
            var other: CInt = -1
            let file: RunLoop.File
            switch kind {
            case "pipe":
                let pair = DescriptorPair.pipe()
                pair.send(text)
                file = try RunLoop.File(adopting: dup(pair.first))
            case "socket":
                let (here, there) = try RunLoop.Socket.pair()
                _ = text.withCString { write(there.descriptor, $0, strlen($0)) }
                file = RunLoop.File(here)
            case "file":
                directory.write("text", text)
                file = try RunLoop.File(adopting: open(directory.path("text"), O_RDONLY))
            case "terminal":
                // The other side of a terminal that has gone gives EIO, not an end.
                let terminal = Terminal()
                _ = "eins\nzwei\näöü".withCString { write(terminal.program, $0, strlen($0)) }
                file = try RunLoop.File(adopting: dup(terminal.person))
                other = dup(terminal.person)
            default:
                file = try RunLoop.File(adopting: open("/dev/null", O_RDONLY))
                expected = []
            }
            let told = Box<[String]>([])
            let end = Box("")
            add(
                InputReader(file, as: .lines) { reader, event in
                    switch event {
                    case .received(let lines): told.value += lines
                    case .ended: end.value = "ended"
                    case .failed(let error): end.value = "\(error)"
                    }
                    if end.value != "" { #expect(!reader.isValid) }
                }, to: loop)
            #expect(loop.runPlenty() == .finished)
            #expect(told.value == expected)
            #expect(end.value == "ended")
            if other >= 0 { close(other) }
        }
    }

    @Test func `A paused reader reads nothing, and no byte is lost when it resumes`() throws {
        try withLoop { loop in
            let pair = DescriptorPair.pipe()
            let file = RunLoop.File(borrowing: pair.first)
            let count = Box(0)
            let reader = InputReader(file, as: .bytes) { reader, event in
                if case .received(let bytes) = event { count.value += bytes.count }
                reader.isReadingPaused = true
            }
            add(reader, to: loop)
            let portion = [UInt8](repeating: 1, count: 4096)
            func fill() -> Int {
                var total = 0
                while case let written = write(pair.second, portion, portion.count), written > 0 { total += written }
                return total
            }
            var written = fill()
            #expect(written > 0)
            for _ in 0..<5 { loop.runTurn() }
            #expect(count.value > 0)
            #expect(count.value <= 65536)
            written += fill()
            let read = count.value
            for _ in 0..<5 { loop.runTurn() }
            #expect(count.value == read)
            pair.closeSecond()
            while reader.isValid {
                reader.isReadingPaused = false
                loop.runTurn()
            }
            #expect(count.value == written)
        }
    }

    @Test(.disabled(if: Sanitizer.isAny, "a sanitizer has memory of its own for each byte"))
    func `A line longer than the limit is reported as an error after the earlier lines, with little memory used`() async
    {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                // A gibibyte of zeros without an end of line, in a file that takes no room.
                let directory = TemporaryDirectory()
                directory.write("huge", "short\n")
                #expect(truncate(directory.path("huge"), 1 << 30) == 0)
                let before = residentBytes()
                let events = Box<[String]>([])
                let file = try RunLoop.File(adopting: open(directory.path("huge"), O_RDONLY))
                add(
                    InputReader(file, as: .lines(limit: 8 << 20)) { _, event in events.value.append("\(event)") },
                    to: loop)
                #expect(loop.runPlenty() == .finished)
                #expect(
                    events.value == [#"received(["short"])"#, "failed(A line has more than \(8 << 20) bytes.)"])
                // Twice while an array grows, and what the allocator keeps.
                #expect(residentBytes() - before < 64 << 20)
            }
        }
    }

    @Test func `A descriptor that cannot be read is reported with its error`() throws {
        try withLoop { loop in
            let said = Box("")
            let directory = RunLoop.File(borrowing: open("/tmp", O_RDONLY | O_CLOEXEC))
            add(InputReader(directory, as: .bytes) { _, event in said.value = "\(event)" }, to: loop)
            #expect(loop.runPlenty() == .finished)
            #expect(said.value.hasPrefix("failed(read: "))
            #expect(said.value.contains("errno \(EISDIR)"))
            close(try #require(directory.descriptor))
            let number = duplicateFarAway(0)
            close(number)
            let closed = InputReader(RunLoop.File(borrowing: number), as: .bytes) { _, _ in }
            #expect(throws: RunLoop.SystemCallError(call: "epoll_ctl", code: EBADF)) {
                try loop.add(closed, in: .default)
            }
            #expect(throws: RunLoop.SystemCallError(call: "fcntl", code: EBADF)) { try RunLoop.File(adopting: -1) }
        }
    }

    @Test func `A reader can be invalidated in its callout and by another thread`() throws {
        try withLoop { loop in
            let pair = DescriptorPair.pipe()
            pair.send("one\ntwo\nthree")
            pair.closeSecond()
            let calls = Box(0)
            add(
                InputReader(RunLoop.File(borrowing: pair.first), as: .lines) { reader, _ in
                    calls.value += 1
                    reader.invalidate()
                }, to: loop)
            #expect(loop.runPlenty() == .finished)
            #expect(calls.value == 1)
            let silent = DescriptorPair.pipe()
            let reader = InputReader.sendable(RunLoop.File(borrowing: silent.first), as: .lines) { _, _ in
                Issue.record("called")
            }
            add(reader, to: loop)
            let thread = TestThread {
                reader.invalidate()
                loop.perform { RunLoop.current.stop() }
                loop.wakeUp()
            }
            _ = loop.runPlenty()
            thread.join()
            #expect(!loop.contains(reader, in: .default))
        }
    }

    @Test(.needsDescriptors(2000), .disabled(if: Sanitizer.isAny, "a sanitizer has memory of its own for each byte"))
    func `A reader without input does not wake its loop and uses little memory`() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let pair = DescriptorPair.pipe()
                let wakeUps = Box(0)
                loop.add(RunLoop.Observer(.afterWaiting) { _, _ in wakeUps.value += 1 }, in: .default)
                raiseDescriptorLimit()
                let files = try (0..<2000).map { _ in try RunLoop.File(adopting: dup(pair.first)) }
                func read(_ files: ArraySlice<RunLoop.File>) {
                    for file in files { add(InputReader(file, as: .lines) { _, _ in }, to: loop) }
                }
                // Without the tables of the loop, which grow by doubling.
                read(files[..<1100])
                let before = residentBytes()
                read(files[1100...])
                let bytes = (residentBytes() - before) / 900
                // In a debug build.
                #expect(bytes < 1536, "\(bytes) bytes")
                loop.run(in: .default, for: .milliseconds(200))
                // The end of the time.
                #expect(wakeUps.value == 1)
            }
        }
    }

    // MARK: By sequence

    @Test func `A sequence of lines has every line and ends with the input`() async throws {
        let thread = try RunLoopThread(name: "lines")
        let pair = DescriptorPair.pipe()
        let text = (0..<20_000).map { "line \($0)\n" }
        let sender = TestThread {
            _ = fcntl(pair.second, F_SETFL, 0)
            for line in text { pair.send(line) }
            pair.closeSecond()
        }
        var seen = 0
        for try await line in try thread.loop.lines(of: RunLoop.File(borrowing: pair.first)) {
            #expect(line + "\n" == text[seen])
            seen += 1
        }
        #expect(seen == text.count)
        end(thread, sender)
    }

    @Test func `A sequence reads at most one batch ahead of its task`() async throws {
        let thread = try RunLoopThread(name: "slow")
        let pair = DescriptorPair.pipe()
        let portion = [UInt8](repeating: 7, count: 4096)
        let bytes = try thread.loop.bytes(of: RunLoop.File(borrowing: pair.first)).batches
        func fill() -> Int {
            var total = 0
            while case let written = write(pair.second, portion, portion.count), written > 0 { total += written }
            return total
        }
        var written = fill()
        // The reader takes a first batch on its own, and then waits for the task.
        while try await thread.loop.result(of: { waiting(pair.first) }) > 0, written < 1 << 20 {
            let more = fill()
            if more == 0 { break }
            written += more
        }
        #expect(written <= 65536 + 65536)
        pair.closeSecond()
        var read = 0
        for try await batch in bytes { read += batch.count }
        #expect(read == written)
        end(thread)
    }

    @Test func `A sequence throws its reader's error after the lines before the error`() async throws {
        let thread = try RunLoopThread(name: "bad")
        for (input, error) in [
            ("good\ntoo long\n", RunLoop.InputError.lineTooLong(limit: 4)),
            ("good\n\u{FFFD}\n", .lineTooLong(limit: 2)),
        ] {
            let pair = DescriptorPair.pipe()
            pair.send(input)
            let limit = input.contains("too") ? 4 : 2
            var seen: [String] = []
            await #expect(throws: error) {
                for try await line in try thread.loop.lines(of: RunLoop.File(borrowing: pair.first), limit: limit) {
                    seen.append(line)
                }
            }
            #expect(seen == (limit == 4 ? ["good"] : []))
        }
        let pair = DescriptorPair.pipe()
        var wrong: [UInt8] = [0x61, 10, 0xFF, 10]
        #expect(write(pair.second, &wrong, 4) == 4)
        await #expect(throws: RunLoop.InputError.invalidUTF8) {
            for try await line in try thread.loop.lines(of: RunLoop.File(borrowing: pair.first), isValidated: true) {
                #expect(line == "a")
            }
        }
        end(thread)
    }

    @Test
    func `A loop over a sequence ends when it is invalidated or the task is cancelled, and throws if the thread ends`()
        async throws
    {
        let thread = try RunLoopThread(name: "ends")
        let pair = DescriptorPair.pipe()
        let loop = thread.loop
        let file = try RunLoop.File(adopting: dup(pair.first))
        let started = try loop.lines(of: file)
        let task = Task {
            for try await line in started { Issue.record("\(line)") }
            return Task.isCancelled
        }
        task.cancel()
        #expect(try await task.value)
        started.invalidate()
        let second = try loop.lines(of: file)
        second.invalidate()
        for try await line in second { Issue.record("\(line)") }
        let third = try loop.lines(of: file)
        let waiting = Task { for try await line in third { Issue.record("\(line)") } }
        end(thread)
        await #expect(throws: RunLoop.InputError.threadEnded) { try await waiting.value }
        // Nobody reads any more: the file is closed with its last reference.
        file.close()
        pair.closeFirst()
        // A child that another thread has just forked may hold a copy of the end until it calls exec, and a pipe has no shutdown.
        waitUntil { rl_write_ready(pair.second, "x", 1) == -EPIPE }
    }
}

extension InputReaderTests {
    @Test func `finish() reports the begun line and the end, also of a paused reader, and reads nothing more`() throws {
        for isPaused in [false, true] {
            try withLoop { loop in
                let pipe = DescriptorPair.pipe()
                let told = Box<[String]>([])
                let reader = InputReader(RunLoop.File(borrowing: pipe.first), as: .lines) { _, event in
                    told.value.append("\(event)")
                }
                add(reader, to: loop)
                pipe.send("one\ntwo")
                loop.runTurn()
                #expect(told.value == [#"received(["one"])"#])
                reader.isReadingPaused = isPaused
                pipe.send(" and more\n")
                reader.finish()
                for _ in 0..<4 { loop.runTurn() }
                #expect(told.value == [#"received(["one"])"#, #"received(["two"])"#, "ended"])
                #expect(!reader.isValid)
                reader.finish()
                // Added to its loop later.
                let late = InputReader(RunLoop.File(borrowing: pipe.first), as: .lines) { _, event in
                    told.value.append("\(event)")
                }
                late.finish()
                told.value = []
                add(late, to: loop)
                for _ in 0..<4 { loop.runTurn() }
                #expect(told.value == ["ended"])
            }
        }
    }

    @Test func `The line that has begun is reported before the error of a read`() throws {
        try withLoop { loop in
            let pair = DescriptorPair.sockets()
            let told = Box<[String]>([])
            let reader = InputReader(RunLoop.File(borrowing: pair.first), as: .lines) { _, event in
                switch event {
                case .received(let lines): told.value += lines
                case .ended: told.value.append("ended")
                case .failed(let error):
                    told.value.append("failed \(error == .system(.init(call: "read", code: ECONNRESET)))")
                }
            }
            add(reader, to: loop)
            pair.send("one\ntwo")
            // Bytes that the other side never reads make its end a reset.
            #expect(write(pair.first, "x", 1) == 1)
            pair.closeSecond()
            #expect(loop.runPlenty() == .finished)
            #expect(told.value == ["one", "two", "failed true"])
        }
    }

    @Test func `A timeout around one line leaves the next line, and the rest of a begun line, to a later call`()
        async throws
    {
        let pipe = DescriptorPair.pipe()
        let thread = try RunLoopThread(name: "limit")
        let lines = try thread.loop.lines(of: RunLoop.File(borrowing: pipe.first))
        pipe.send("one\ntw")
        var first = lines.makeAsyncIterator()
        #expect(try await first.next() == "one")
        await #expect(throws: RunLoop.TimeoutError.self) {
            try await RunLoop.withTimeout(.milliseconds(1)) {
                var iterator = lines.makeAsyncIterator()
                let line = try await iterator.next()
                // The task was cancelled: the operation may end before the timeout is thrown.
                if line == nil { throw RunLoop.TimeoutError() }
            }
        }
        pipe.send("o\nthree\n")
        #expect(try await first.next() == "two")
        var second = lines.batches.makeAsyncIterator()
        #expect(try await second.next() == ["three"])
        pipe.closeSecond()
        #expect(try await first.next() == nil)
        end(thread)
    }
}

/// A pseudo-terminal whose program has gone at the end of the value's life.
private final class Terminal {
    let person: CInt
    let program: CInt

    init() {
        person = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        // TIOCSPTLCK and TIOCGPTN, which Swift does not import.
        var (unlocked, number): (CInt, CUnsignedInt) = (0, 0)
        let isThere =
            person >= 0 && ioctl(person, 0x4004_5431, &unlocked) == 0 && ioctl(person, 0x8004_5430, &number) == 0
        precondition(isThere, "a terminal: errno \(errno)")
        program = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        precondition(program >= 0, "the other side: errno \(errno)")
        var settings = termios()
        tcgetattr(program, &settings)
        cfmakeraw(&settings)
        tcsetattr(program, TCSANOW, &settings)
    }

    deinit {
        close(person)
        close(program)
    }
}

private func waiting(_ descriptor: CInt) -> CInt {
    var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&wanted, 1, 0)
}
