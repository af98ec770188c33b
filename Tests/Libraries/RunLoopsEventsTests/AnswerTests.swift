// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsTestSupport
import Testing

/// Lines that are answered with lines.
@Suite(.ownThread, .timeLimit(.minutes(10)), .leavesNothing) struct AnswerTests {
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

    func closeWriter() {
        if ends.writer >= 0 { close(ends.writer) }
        ends.writer = -1
        writer.close()
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
