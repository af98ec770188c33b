// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import TerminalTestSupport
import Testing

/// The terminal is as before, whatever ends the program.
@Suite(.ownThread, .serialized) struct RestoreTests {
    private static let kitty = "\u{1B}[?2026;2$y\u{1B}[?2048;2$y\u{1B}[?1006;2$y\u{1B}[?0u\u{1B}[?62;22c"

    private func expectRestored(_ terminal: PseudoTerminal, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try terminal.now.flags == terminal.before.flags, sourceLocation: sourceLocation)
        #expect(terminal.screen.modes == [7, 25], sourceLocation: sourceLocation)
        #expect(terminal.screen.keyboardFlags == [], sourceLocation: sourceLocation)
        #expect(terminal.savedTitles == 0, sourceLocation: sourceLocation)
        #expect(terminal.screen.complaints == [], sourceLocation: sourceLocation)
        #expect(
            terminal.screen.everSet.isSuperset(of: [1049, 1002, 1006, 1004, 2004]), sourceLocation: sourceLocation)
    }

    /// Starts a scene and waits until it is shown and has the terminal.
    private func start(_ scene: String) throws -> PseudoTerminal {
        let terminal = try PseudoTerminal(scene, answers: Self.kitty)
        try terminal.wait(for: "keys 0, last none.")
        #expect(try terminal.now.flags != terminal.before.flags)
        try terminal.wait("modes that are offered") { $0.screen.modes.contains(2048) }
        #expect(terminal.screen.keyboardFlags == ["31"])
        return terminal
    }

    @Test(arguments: [SIGSEGV, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSYS])
    func `A fault's signal restores the terminal and ends the program`(signal: CInt) throws {
        let terminal = try start("\(signal)")
        terminal.send("x")
        #expect(terminal.waitForEnd() == .signal(signal))
        try expectRestored(terminal)
    }

    @Test(arguments: [SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGSEGV, SIGABRT])
    func `A signal from another process restores the terminal and ends the program`(signal: CInt) throws {
        let terminal = try start("keys")
        kill(terminal.process, signal)
        #expect(terminal.waitForEnd() == .signal(signal))
        try expectRestored(terminal)
    }

    @Test(arguments: [
        ("segv", SIGSEGV), ("overflow", SIGSEGV), ("abort", SIGABRT), ("trap", SIGILL), ("fatalError", SIGILL),
    ])
    func `A real fault in a callout restores the terminal`(scene: String, signal: CInt) throws {
        let terminal = try start(scene)
        terminal.send("x")
        let end = terminal.waitForEnd()
        // Traps are SIGILL on x86 and SIGTRAP on ARM.
        #expect(end == .signal(signal) || signal == SIGILL && end == .signal(SIGTRAP))
        try expectRestored(terminal)
        // On the screen that the user comes back to, and not on the one that is gone.
        if scene == "fatalError" { #expect(terminal.shell.contains("as asked")) }
    }

    @Test func `exit() in a callout restores the terminal`() throws {
        let terminal = try start("exit")
        terminal.send("x")
        #expect(terminal.waitForEnd() == .status(3))
        try expectRestored(terminal)
    }

    @Test func `Printed text does not disturb the screen and is shown at the end`() throws {
        let terminal = try start("print")
        terminal.send("x")
        try terminal.wait(for: "keys 1, last character(\"x\")")
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        try expectRestored(terminal)
        #expect(terminal.shell.contains("as printed"))
    }

    @Test(arguments: ["q", "\u{3}"])
    func `The end of the program restores the terminal`(key: String) throws {
        let terminal = try start("keys")
        terminal.send(key)
        #expect(terminal.waitForEnd() == .status(0))
        try expectRestored(terminal)
        #expect(terminal.screen.titles == ["Board"])
    }

    @Test func `Ctrl-Z stops the program and restores the terminal, and fg sets it up again`() throws {
        let report = Report()
        let terminal = try PseudoTerminal(
            commands: """
                set -m
                "$program" keys "$report"
                echo "stop 1"; read line; fg
                echo "stop 2"; read line; fg
                exit $?
                """, report: report.path, answers: Self.kitty)
        try terminal.wait(for: "keys 0, last none.")
        try terminal.wait("modes that are offered") { $0.screen.modes.contains(2048) }
        for round in 1...2 {
            if round == 1 { terminal.send("\u{1A}") } else { kill(-terminal.foreground, SIGTSTP) }
            try terminal.wait("a stop") { $0.shell.contains("stop \(round)") }
            try expectRestored(terminal)
            terminal.send("\n")
            try terminal.wait("modes again") { $0.screen.modes.isSuperset(of: [1049, 1002, 1006, 2004, 2048]) }
            terminal.send("a")
            try terminal.wait(for: "last character(\"a\")")
        }
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        try expectRestored(terminal)
        let round = "resign,background,foreground,active"
        #expect(report["states"] == "active,\(round),\(round),terminate")
    }

    @Test func `Ctrl-Z does not stop a program that no shell could continue`() throws {
        let report = Report()
        let terminal = try PseudoTerminal("keys", report: report.path)
        try terminal.wait(for: "keys 0, last none.")
        terminal.send("\u{1A}")
        try terminal.wait(for: "keys 1, last character(\"z\").")
        #expect(terminal.screen.modes.isSuperset(of: [1049, 1002, 1006, 2004]))
        terminal.send("a")
        try terminal.wait(for: "last character(\"a\")")
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        #expect(report["states"] == "active,resign,background,foreground,active,terminate")
    }

    @Test func `After SIGSTOP and SIGCONT the terminal is set up and drawn again`() throws {
        let terminal = try start("keys")
        kill(terminal.process, SIGSTOP)
        try terminal.wait("a stop") { _ in Self.isStopped(terminal.process) }
        var plain = terminal.before
        // What a shell does meanwhile.
        #expect(tcsetattr(terminal.slave, TCSANOW, &plain) == 0)
        terminal.useScreen(columns: 40, rows: 10)
        kill(terminal.process, SIGCONT)
        try terminal.wait(for: "keys 0, last none.")
        #expect(terminal.screen.modes.isSuperset(of: [1049, 1002, 1006]))
        #expect(try terminal.now.flags != terminal.before.flags)
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
    }

    @Test func `The keyboard mode and the title are saved once however often SIGSTOP stops the program`() throws {
        let terminal = try start("keys")
        for round in 1...3 {
            kill(terminal.process, SIGSTOP)
            try terminal.wait("a stop") { _ in Self.isStopped(terminal.process) }
            let written = terminal.written
            kill(terminal.process, SIGCONT)
            try terminal.wait("the modes again") { $0.written > written }
            terminal.send("a")
            try terminal.wait(for: "keys \(round), last character(\"a\")")
            #expect(terminal.screen.keyboardFlags == ["31"] && terminal.savedTitles == 1)
        }
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        try expectRestored(terminal)
    }

    @Test(arguments: ["", "trap '' HUP; "])
    func `A hang-up of the terminal ends the program even if SIGHUP is ignored`(before: String) throws {
        let report = Report()
        let terminal = try PseudoTerminal(commands: before + "exec \"$program\" keys \"$report\"", report: report.path)
        try terminal.wait(for: "keys 0, last none.")
        terminal.hangUp()
        #expect(terminal.waitForEnd() == .signal(SIGHUP))
        #expect(report["states"] == "active,terminate")
    }

    static func isStopped(_ process: pid_t) -> Bool {
        guard let file = fopen("/proc/\(process)/stat", "r") else { return false }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 512)
        guard fgets(&line, 512, file) != nil else { return false }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.drop { $0 != ")" }.dropFirst(2).first == "T"
    }
}

/// What the program has counted, in a file.
final class Report {
    let path: String

    init() {
        var name = Array("/tmp/loopui-report-XXXXXX".utf8CString)
        let descriptor = mkstemp(&name)
        close(descriptor)
        path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { unlink(path) }

    subscript(name: String) -> String? { lines(of: name).first }

    /// What stands behind a name, for each line that begins with it.
    func lines(of name: String) -> [String] {
        guard let file = fopen(path, "r") else { return [] }
        defer { fclose(file) }
        var found: [String] = []
        var line = [CChar](repeating: 0, count: 512)
        while fgets(&line, 512, file) != nil {
            let text = String(
                decoding: line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if text.hasPrefix(name + " ") { found.append(String(text.dropFirst(name.utf8.count + 1))) }
        }
        return found
    }

    func number(_ name: String) -> Int? { self[name].flatMap { Int($0) } }
}
