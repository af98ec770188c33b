// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import TerminalTestSupport
import Testing

/// Much input, a slow reader, and nothing at all.
@Suite(.ownThread, .serialized) struct LoadTests {
    /// Frames that a program may draw in a time: one at the beginning, and one each sixtieth of a second.
    private func maxFrames(in time: Duration) -> Int {
        let milliseconds = time.components.seconds * 1000 + time.components.attoseconds / 1_000_000_000_000_000
        return 2 + Int(milliseconds) * 60 / 1000
    }

    private func start(_ scene: String, _ report: Report, columns: UInt16 = 80) throws -> PseudoTerminal {
        let terminal = try PseudoTerminal(scene, report: report.path, columns: columns, rows: 24)
        try terminal.wait(for: "keys 0, last none.")
        return terminal
    }

    @Test func `A hundred thousand moves reach the last place and make a limited number of frames`() throws {
        let report = Report()
        let terminal = try start("keys", report)
        let begin = ContinuousClock.now
        var bytes = Array("\u{1B}[<0;1;1M".utf8)
        for move in 0..<100_000 { bytes += Array("\u{1B}[<32;\(move % 77 + 2);\(move % 20 + 2)M".utf8) }
        bytes += Array("\u{1B}[<32;45;13M".utf8)
        terminal.send(bytes)
        try terminal.wait(for: "touch moved 44 12.")
        let time = ContinuousClock.now - begin
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        let frames = try #require(report.number("frames"))
        #expect(frames <= maxFrames(in: time) + 1)
        #expect(report["touch"] == "moved 44 12")
        if isFull { print("drag: 100,000 moves in \(time), \(frames) frames") }
    }

    @Test func `A thousand size changes reach the last size and make a limited number of layouts`() throws {
        let report = Report()
        let terminal = try start("keys", report)
        let begin = ContinuousClock.now
        for step in 0..<1000 {
            terminal.resize(columns: 60 + step % 20, rows: 12 + step % 10)
            if step % 50 == 0 { terminal.read(waiting: 0) }
        }
        terminal.useScreen(columns: 72, rows: 14)
        terminal.resize(columns: 72, rows: 14)
        try terminal.wait(for: "size 72 14.")
        let time = ContinuousClock.now - begin
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        let layouts = try #require(report.number("layouts"))
        #expect(layouts <= maxFrames(in: time) + 1)
        if isFull { print("resize: 1,000 sizes in \(time), \(layouts) layouts") }
    }

    /// Without another size here: the kernel sends the signal, and the program reads the size when it has changed back.
    @Test func `A size that has changed and changed back before the program reads it is drawn anew`() throws {
        let report = Report()
        let terminal = try start("keys", report)
        terminal.useScreen(columns: 80, rows: 24)
        kill(terminal.process, SIGWINCH)
        try terminal.wait(for: "size 80 24.")
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        #expect(terminal.screen.complaints == [])
    }

    @Test func `The size of a terminal is limited to 1000 columns and 400 rows`() throws {
        let terminal = try PseudoTerminal("keys", columns: 65_535, rows: 65_535)
        try terminal.wait("the size") { $0.screen.text(row: 5).contains("size 1000 400.") }
        terminal.resize(columns: 65_534, rows: 300)
        try terminal.wait("another size") { $0.screen.text(row: 5).contains("size 1000 300.") }
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        #expect(terminal.screen.complaints == [])
    }

    /// 100 MiB with `RUNLOOPS_FULL=1`.
    @Test func `A long pasted text arrives complete, and memory grows by at most 20 MiB`() throws {
        let report = Report()
        let terminal = try start("keys", report)
        let block = Array("0123456789abcde\u{1B}[31m\u{3}q\r".utf8)
        let blocks = (isFull ? 100 << 20 : 10 << 20) / block.count
        var part: [UInt8] = []
        for _ in 0..<2000 { part += block }
        terminal.send("\u{1B}[200~")
        let begin = ContinuousClock.now
        for _ in 0..<blocks / 2000 { terminal.send(part) }
        terminal.send("\u{1B}[201~")
        let count = blocks / 2000 * part.count
        try terminal.wait(for: "pasted \(count).")
        let time = ContinuousClock.now - begin
        #expect(terminal.screen.text.contains("keys 0, last none."))
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        let grown = try #require(report.number("grown"))
        #expect(grown <= 20 * 1024)
        var sum: UInt64 = 0
        for _ in 0..<blocks / 2000 {
            for byte in part { sum = sum &* 31 &+ UInt64(byte == 0x0D ? 0x0A : byte) }
        }
        #expect(report["sum"] == "\(sum)")
        #expect(report["keys"] == "1")
        if isFull { print("paste: \(count) bytes in \(time), \(grown) KiB grown") }
    }

    @Test func `Frames are refused while the terminal reads nothing, and memory grows by at most 20 MiB`() throws {
        let report = Report()
        // Each tick another picture, as fast as frames may come.
        let terminal = try start("tick", report, columns: 200)
        try terminal.wait(for: "ticks ")
        let before = try #require(Self.ticks(of: terminal))
        // Nothing is read until the line is full, and a frame was refused.
        let limit = ContinuousClock.now + plenty
        while report.number("refusals") ?? 0 == 0, ContinuousClock.now < limit { _ = poll(nil, 0, 20) }
        terminal.send(Array("z".utf8), isReading: false)
        try terminal.wait(for: "last character(\"z\").")
        #expect(try #require(Self.ticks(of: terminal)) > before)
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        #expect(try #require(report.number("refusals")) > 0)
        #expect(try #require(report.number("grown")) <= 20 * 1024)
    }

    private static func ticks(of terminal: PseudoTerminal) -> Int? {
        terminal.screen.text.split(separator: "\n").first { $0.contains("ticks ") }
            .flatMap { Int($0.filter(\.isNumber)) }
    }

    /// Five seconds with `RUNLOOPS_FULL=1`.
    @Test(.disabled(if: Sanitizer.isThread, "the thread sanitizer has a thread that wakes ten times a second"))
    func `An idle program does not wake`() throws {
        let report = Report()
        let terminal = try start("keys", report)
        terminal.send("a\u{1B}[<0;3;3M\u{1B}[<0;3;3m\u{1B}")
        try terminal.wait(for: "last escape.")
        // The frame's time passes, and the turn that ends with it.
        try terminal.wait("a sleep") { terminal in
            guard let sleeps = Self.sleeps(of: terminal.process) else { return false }
            terminal.read(waiting: 200)
            return Self.sleeps(of: terminal.process) == sleeps
        }
        let before = Self.sleeps(of: terminal.process)
        let written = terminal.written
        let end = ContinuousClock.now + (isFull ? .seconds(5) : .milliseconds(500))
        while ContinuousClock.now < end { terminal.read(waiting: 50) }
        #expect(before != nil && Self.sleeps(of: terminal.process) == before)
        #expect(terminal.written == written)
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
    }

    /// Returns how often the threads of a process have slept; `nil` if one of them does not sleep now.
    ///
    /// On a loaded machine, a thread may be awake for long without being given a processor.
    private static func sleeps(of process: pid_t) -> Int? {
        guard let folder = opendir("/proc/\(process)/task") else { return nil }
        defer { closedir(folder) }
        var count = 0
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard let file = fopen("/proc/\(process)/task/\(name)/status", "r") else { continue }
            defer { fclose(file) }
            var line = [CChar](repeating: 0, count: 256)
            while fgets(&line, 256, file) != nil {
                let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                if text.hasPrefix("State:"), !text.contains("S (") { return nil }
                if text.hasPrefix("voluntary_ctxt_switches:") { count += Int(text.filter(\.isNumber)) ?? 0 }
            }
        }
        return count
    }
}
