// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsTestSupport
import Testing

/// Lines that are answered with lines.
@Suite(.ownThread, .leavesNothing) struct AnswerTests {
    @Test func `answerLines answers each line in order, including a last one without a line feed, and ends the output`()
        throws
    {
        try withLoop { loop in
            let (input, output) = (try Pipe(), try Pipe())
            try loop.answerLines(of: input.reader, on: output.writer) { "\($0)!" }
            input.write("one\ntwo\r\n\nthree")
            input.closeWriter()
            output.writer.close()
            #expect(loop.runPlenty() == .finished)
            #expect(output.readToEnd() == "one!\ntwo!\n!\nthree!\n")
        }
    }

    @Test func `Only the lines before a line longer than the limit are answered`() throws {
        try withLoop { loop in
            let (input, output) = (try Pipe(), try Pipe())
            try loop.answerLines(of: input.reader, on: output.writer, limit: 4) { $0 }
            input.write("ab\ncd\nabcdefgh\nef\n")
            output.writer.close()
            #expect(loop.runPlenty() == .finished)
            #expect(output.readToEnd() == "ab\ncd\n")
        }
    }

    @Test func `answerLines reads no more lines from a client that does not read its answers`() throws {
        try withLoop { loop in
            let (input, output) = (try Pipe(), try Pipe())
            let long = String(repeating: "x", count: 99)
            let answered = Box(0)
            try loop.answerLines(of: input.reader, on: output.writer) { _ in
                answered.value += 1
                return long
            }
            output.writer.close()
            let asked = 100_000
            var left = Array(repeating: "?\n", count: asked).joined()[...].utf8
            // Until neither side takes anything more.
            var before = -1
            while answered.value + asked * 2 - left.count != before {
                before = answered.value + asked * 2 - left.count
                left = left.dropFirst(input.write(left))
                _ = loop.runUntilIdle()
            }
            // The lines of two portions: the answers to the first may have had room in the pipe.
            #expect(answered.value <= 2 * 32_768)
            var count = 0
            while count < asked * 100 {
                left = left.dropFirst(input.write(left))
                if left.isEmpty { input.closeWriter() }
                _ = loop.runUntilIdle()
                count += output.readSome()
            }
            #expect(answered.value == asked)
            #expect(loop.runPlenty() == .finished)
        }
    }

    @Test func `answerLines leaves nothing in the loop after its reader is closed or its writer is finished`() throws {
        try withLoop { loop in
            let (input, output) = (try Pipe(), try Pipe())
            let gone = Box(0)
            try loop.answerLines(of: input.reader, on: output.writer) { line in
                gone.value += 1
                return line
            }
            output.closeReader()
            input.write("one\n")
            #expect(loop.runPlenty() == .finished)
            #expect(gone.value == 1)

            let (other, answers) = (try Pipe(), try Pipe())
            let writer = try loop.answerLines(of: other.reader, on: answers.writer) { $0 }
            answers.writer.close()
            writer.write("unasked\n".utf8)
            loop.performLocally { writer.finish() }
            #expect(loop.runPlenty() == .finished)
            #expect(answers.readToEnd() == "unasked\n")
        }
    }

    @Test func `Answers keep their order and their end when a run nested in an answer reads more lines and the end`()
        throws
    {
        try withLoop { loop in
            let (input, output) = (try Pipe(), try Pipe())
            let asked = Box<[String]>([])
            try loop.answerLines(of: input.reader, on: output.writer) { line in
                asked.value.append(line)
                if line == "one" {
                    input.write("three\nfour")
                    input.closeWriter()
                    _ = loop.runUntilIdle()
                }
                return "\(line)!"
            }
            output.writer.close()
            input.write("one\ntwo\n")
            #expect(loop.runPlenty() == .finished)
            #expect(asked.value == ["one", "two", "three", "four"])
            #expect(output.readToEnd() == "one!\ntwo!\nthree!\nfour!\n")
        }
    }

    // MARK: By a socket

    @Test func `A listener answers each client, except a client that sends a line longer than the limit`()
        throws
    {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            let address = try RunLoop.SocketAddress.unix(directory.path("socket"))
            let listener = try loop.answerLines(
                at: address, limit: 8, label: "commands", in: .default,
                onRefusal: { error in _ = Issue.record(error) }, { "\($0)!" })
            #expect(listener.label == "commands" && listener.address == address)
            let told = Box<[String: String]>([:])
            for name in ["one", "two", "longer than the limit"] {
                let connector = try SocketConnector(to: address) { _, result in
                    let stream = try? SocketStream(result.get()) { stream, event in
                        switch event {
                        case .received(let bytes):
                            told.value[name, default: ""] += String(decoding: bytes, as: UTF8.self)
                        case .ended: stream.finish()
                        default: break
                        }
                        if told.value["one"] != nil && told.value["two"] != nil { listener.invalidate() }
                    }
                    guard let stream else { fatalError("not connected: \(name)") }
                    add(stream, to: loop)
                    stream.write("\(name)\n".utf8)
                    stream.finish()
                }
                add(connector, to: loop)
            }
            #expect(loop.runPlenty() == .finished)
            #expect(told.value == ["one": "one!\n", "two": "two!\n"])
        }
    }

    // MARK: Answers that come later

    @Test
    func `Answers that are sent in another order are written in the order of their lines, and then the output ends`()
        throws
    {
        try withLoop { loop in
            let (input, output) = (try Pipe(), try Pipe())
            let asked = Box<[(line: String, answer: LineAnswer)]>([])
            try loop.answerLines(of: input.reader, on: output.writer, later: { asked.value.append(($0, $1)) })
            output.writer.close()
            input.write("one\ntwo\nthree")
            input.closeWriter()
            _ = loop.runUntilIdle()
            #expect(asked.value.map(\.line) == ["one", "two", "three"])
            for (line, answer) in asked.value.reversed() {
                #expect(answer.isWanted)
                #expect(answer.send("\(line)!"))
                #expect(!answer.isWanted && !answer.send("again"))
            }
            #expect(loop.runPlenty() == .finished)
            #expect(output.readToEnd() == "one!\ntwo!\nthree!\n")
        }
    }

    @Test(arguments: [1, 3, 64])
    func `Each of many lines gets its own answer from other threads, with at most maxUnanswered lines at once`(
        maxUnanswered: Int
    ) throws {
        try withLoop { loop in
            let (input, output) = (try Pipe(), try Pipe())
            let lines = (0..<700).map { "\($0)" }
            let open = Locked(0)
            let most = Locked(0)
            let queues = (0..<3).map { _ in Locked<[(line: String, answer: LineAnswer)]>([]) }
            let isOver = Locked(false)
            let asked = Box(0)
            try loop.answerLines(
                of: input.reader, on: output.writer, maxUnanswered: maxUnanswered,
                later: { line, answer in
                    let now = open.withLock { count in
                        count += 1
                        return count
                    }
                    most.withLock { $0 = max($0, now) }
                    asked.value += 1
                    queues[asked.value % 3].withLock { $0.append((line, answer)) }
                })
            output.writer.close()
            input.write(lines.map { "\($0)\n" }.joined())
            input.closeWriter()
            let threads = queues.map { queue in
                TestThread {
                    while !isOver.copy {
                        // The last line first: the threads' answers are in another order than the lines.
                        guard let (line, answer) = queue.withLock({ $0.popLast() }) else {
                            sched_yield()
                            continue
                        }
                        open.withLock { $0 -= 1 }
                        precondition(answer.send("\(line)!"))
                    }
                }
            }
            #expect(loop.runPlenty() == .finished)
            isOver.withLock { $0 = true }
            for thread in threads { thread.join() }
            #expect(output.readToEnd() == lines.map { "\($0)!\n" }.joined())
            #expect(most.copy <= maxUnanswered)
        }
    }

    @Test func `A line that would exceed maxUnanswered waits until an earlier line has its answer`() throws {
        try withLoop { loop in
            let (input, output) = (try Pipe(), try Pipe())
            let asked = Box<[(line: String, answer: LineAnswer)]>([])
            try loop.answerLines(
                of: input.reader, on: output.writer, maxUnanswered: 2, later: { asked.value.append(($0, $1)) })
            output.writer.close()
            input.write("one\ntwo\nthree\nfour\n")
            _ = loop.runUntilIdle()
            #expect(asked.value.map(\.line) == ["one", "two"])
            // The first line still waits, and with it the answer to the second.
            asked.value[1].answer.send("2")
            _ = loop.runUntilIdle()
            #expect(asked.value.map(\.line) == ["one", "two"])
            asked.value[0].answer.send("1")
            _ = loop.runUntilIdle()
            #expect(asked.value.map(\.line) == ["one", "two", "three", "four"])
            asked.value[2].answer.send("3")
            asked.value[3].answer.send("4")
            input.write("five")
            input.closeWriter()
            _ = loop.runUntilIdle()
            asked.value[4].answer.send("5")
            #expect(loop.runPlenty() == .finished)
            #expect(output.readToEnd() == "1\n2\n3\n4\n5\n")
        }
    }

    @Test func `An answer that is released without send ends the dialogue after the answers before it`() throws {
        try withLoop { loop in
            let (input, output) = (try Pipe(), try Pipe())
            let kept = Box<[LineAnswer]>([])
            try loop.answerLines(
                of: input.reader, on: output.writer,
                later: { line, answer in if line != "two" { kept.value.append(answer) } })
            output.writer.close()
            input.write("one\ntwo\nthree\n")
            _ = loop.runUntilIdle()
            #expect(kept.value.count == 2)
            #expect(kept.value[1].send("3"))
            #expect(kept.value[0].send("1"))
            #expect(loop.runPlenty() == .finished)
            #expect(output.readToEnd() == "1\n")
        }
    }

    @Test
    func `A client that goes before its answer is ready leaves nothing behind, and another client gets its answer`()
        throws
    {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            let address = try RunLoop.SocketAddress.unix(directory.path("socket"))
            let asked = Box<[String: LineAnswer]>([:])
            let listener = try loop.answerLines(
                at: address, onRefusal: { error in _ = Issue.record(error) }, later: { asked.value[$0] = $1 })
            let told = Box("")
            let streams = Box<[String: SocketStream]>([:])
            for name in ["goes", "stays"] {
                let connector = try SocketConnector(to: address) { _, result in
                    let stream = try? SocketStream(result.get()) { stream, event in
                        switch event {
                        case .received(let bytes): told.value += String(decoding: bytes, as: UTF8.self)
                        case .ended: stream.finish()
                        default: break
                        }
                    }
                    guard let stream else { fatalError("not connected: \(name)") }
                    streams.value[name] = stream
                    add(stream, to: loop)
                    stream.write("\(name)\n".utf8)
                }
                add(connector, to: loop)
            }
            loop.run { asked.value.count == 2 }
            #expect(listener.connectionCount == 2)
            let goes = try #require(asked.value["goes"])
            streams.value["goes"]?.invalidate()
            streams.value["goes"] = nil
            // The client has gone, and nothing was written yet that could show it.
            goes.send("too late")
            loop.run { listener.connectionCount == 1 }
            #expect(!goes.isWanted && !goes.send("again"))
            let stays = try #require(asked.value["stays"])
            #expect(stays.send("in time"))
            streams.value["stays"]?.finish()
            listener.invalidate()
            #expect(loop.runPlenty() == .finished)
            #expect(told.value == "in time\n")
            #expect(listener.connectionCount == 0)
        }
    }
}

/// A pipe with a non-blocking end for a loop at each side.
private final class Pipe {
    let reader, writer: RunLoop.File
    private var ends: (reader: CInt, writer: CInt)

    init() throws {
        var made: [CInt] = [-1, -1]
        #expect(rl_blocking_pipe(&made) == 0)
        for end in made { _ = rl_make_nonblocking(end) }
        ends = (made[0], made[1])
        reader = try RunLoop.File(adopting: fcntl(made[0], F_DUPFD_CLOEXEC, 0))
        writer = try RunLoop.File(adopting: fcntl(made[1], F_DUPFD_CLOEXEC, 0))
    }

    deinit {
        closeReader()
        closeWriter()
    }

    func closeReader() {
        if ends.reader >= 0 { close(ends.reader) }
        ends.reader = -1
        reader.close()
    }

    /// Closes the writing end; returns when the reading end is at its end.
    ///
    /// Until it executes its program, a child that another test starts has copies of this process's descriptors.
    func closeWriter() {
        if ends.writer >= 0 { close(ends.writer) }
        ends.writer = -1
        writer.close()
        guard ends.reader >= 0 else { return }
        var end = pollfd(fd: ends.reader, events: 0, revents: 0)
        #expect(poll(&end, 1, 120_000) == 1 && end.revents & Int16(POLLHUP) != 0)
    }

    func write(_ text: String) { #expect(write(text.utf8[...]) == text.utf8.count) }

    /// How many bytes there was room for.
    func write(_ bytes: Substring.UTF8View) -> Int {
        if bytes.isEmpty || ends.writer < 0 { return 0 }
        let portion = Array(bytes.prefix(1 << 16))
        return max(0, Glibc.write(ends.writer, portion, portion.count))
    }

    func readSome() -> Int {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        return max(0, read(ends.reader, &bytes, bytes.count))
    }

    /// What is there, when all writing ends but the test's own are closed.
    func readToEnd() -> String {
        closeWriter()
        return readText(ends.reader)
    }
}
