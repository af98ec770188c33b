// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport
import TerminalTestSupport
import Testing

@testable import LoopUITerminal

/// A terminal that takes nothing more: after Ctrl-S, or behind a connection that is dead.
@Suite(.ownThread, .serialized) struct StalledTerminalTests {
    private func start(_ scene: String) throws -> PseudoTerminal {
        let terminal = try PseudoTerminal(scene)
        try terminal.wait(for: "keys 0, last none.")
        terminal.send("x")
        try terminal.wait(for: "keys 1, last character(\"x\")")
        return terminal
    }

    @Test(arguments: ["print", "flood", "buffer"], [SIGTERM, SIGHUP, SIGSEGV])
    func `A stalled terminal does not delay the end of a program by a signal`(scene: String, signal: CInt) throws {
        let terminal = try start(scene)
        #expect(tcflow(terminal.slave, TCOOFF) == 0)
        kill(terminal.process, signal)
        #expect(terminal.waitForEnd() == .signal(signal))
        #expect(try terminal.now.flags == terminal.before.flags)
    }

    @Test(arguments: ["print", "flood", "buffer"])
    func `A stalled terminal does not delay the normal end of a program`(scene: String) throws {
        let terminal = try start(scene)
        #expect(tcflow(terminal.slave, TCOOFF) == 0)
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        #expect(try terminal.now.flags == terminal.before.flags)
    }

    @Test func `Long printed output takes limited memory and its last part is shown at the end`() throws {
        let report = Report()
        let terminal = try PseudoTerminal("flood", report: report.path)
        try terminal.wait(for: "keys 0, last none.")
        terminal.send("x")
        try terminal.wait(for: "keys 1, last character(\"x\")")
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        #expect(try #require(report.number("grown")) <= 20 * 1024)
        #expect(try #require(report.number("kept")) <= 64)
        #expect(terminal.shell.contains("the last line"))
        #expect(terminal.shell.utf8.count <= 20 * 1024 && terminal.shell.utf8.count > 12 * 1024)
    }

    @Test func `A child that writes more than a pipe holds is not blocked by a busy program`() throws {
        let terminal = try start("child")
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        #expect(terminal.shell.contains("the child's last line"))
    }

    @Test func `Writing to a full pipe fails with EAGAIN and does not block`() throws {
        var ends: [CInt] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let bytes = [UInt8](repeating: 1, count: 1 << 16)
        var written = 0
        while true {
            let count = bytes.withUnsafeBytes { Device.send($0, to: ends[1], isBlocking: Device.isBlocking(ends[1])) }
            if count < 0 { break }
            written += count
        }
        #expect(errno == EAGAIN && written > 0)
    }

    @Test func `An eventfd or epoll descriptor is not accepted as a stream`() throws {
        // Functions that the module of the C library does not have.
        let eventfd = unsafeBitCast(
            try #require(dlsym(nil, "eventfd")), to: (@convention(c) (CUnsignedInt, CInt) -> CInt).self)
        let epollCreate = unsafeBitCast(
            try #require(dlsym(nil, "epoll_create1")), to: (@convention(c) (CInt) -> CInt).self)
        for descriptor in [eventfd(0, O_CLOEXEC), epollCreate(O_CLOEXEC)] {
            defer { close(descriptor) }
            #expect(throws: RunLoop.SystemCallError(call: "fstat", code: EBADF)) {
                _ = try Device.reopen(descriptor, O_RDONLY)
            }
        }
        let reading = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(reading) }
        #expect(throws: RunLoop.SystemCallError.self) { _ = try Device.reopen(reading, O_WRONLY) }
        let again = try Device.reopen(reading, O_RDONLY)
        #expect(again > STDERR_FILENO)
        close(again)
    }

    @Test(arguments: [
        "\"$program\" keys <&- 2>&1 | cat; echo end.", "\"$program\" keys < /dev/null >&-; echo end.",
        "\"$program\" keys < /dev/null >&- 2>&-; echo end.",
    ]) func `A program whose standard input or output is closed ends without showing its screen`(commands: String)
        throws
    {
        let terminal = try PseudoTerminal(commands: commands, columns: 100, rows: 60, answers: "")
        try terminal.wait(for: "end.")
        #expect(terminal.waitForEnd() == .status(0))
        #expect(!terminal.screen.text.contains("keys"))
    }
}
