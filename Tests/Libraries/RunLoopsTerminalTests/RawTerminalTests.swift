// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import TerminalTestSupport
import Testing

/// A program that links RunLoopsTerminal alone.
@Suite(.ownThread, .serialized) struct RawTerminalTests {
    private static let kitty = "\u{1B}[?0u\u{1B}[?62;22c"
    private static let program = BuiltPrograms.path("RunLoopsTerminalPrograms")

    /// Starts the program, or a shell's commands in which `$program` is the program, on a new terminal.
    private func open(
        _ arguments: String..., commands: String? = nil, term: String = "xterm-256color",
        answers: String = "\u{1B}[?62;22c"
    ) throws -> PseudoTerminal {
        let program = try #require(Self.program)
        return try PseudoTerminal(
            commands.map { ["/bin/sh", "-c", $0] } ?? [program] + arguments, columns: 80, rows: 20, term: term,
            environment: ["program=\(program)"], answers: answers)
    }

    private func start(_ arguments: String..., answers: String = "\u{1B}[?62;22c") throws -> PseudoTerminal {
        let program = try #require(Self.program)
        let terminal = try PseudoTerminal(
            [program] + arguments, columns: 80, rows: 20, environment: [], answers: answers)
        try terminal.wait(for: "ready 80 20.")
        #expect(try terminal.now.flags != terminal.before.flags)
        return terminal
    }

    private func expectRestored(_ terminal: PseudoTerminal, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try terminal.now.flags == terminal.before.flags, sourceLocation: sourceLocation)
        #expect(terminal.screen.modes == [7, 25], sourceLocation: sourceLocation)
        #expect(terminal.screen.keyboardFlags == [], sourceLocation: sourceLocation)
        #expect(terminal.savedTitles == 0, sourceLocation: sourceLocation)
    }

    private func quit(_ terminal: PseudoTerminal) throws {
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        try expectRestored(terminal)
    }

    // MARK: Restoring

    private static let everything = ["control", "screen", "mouse", "paste", "focus", "releases"]

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGABRT], [[], everything])
    func `A signal at any moment leaves the terminal as it was`(signal: CInt, options: [String]) throws {
        let program = try #require(Self.program)
        // From before main to the reading of events.
        for moment in 0..<12 {
            let terminal = try PseudoTerminal(
                [program] + options, columns: 80, rows: 20, environment: [], answers: Self.kitty)
            terminal.send("ab\u{1B}[200~c")
            let limit = ContinuousClock.now + .milliseconds(moment * 4)
            while ContinuousClock.now < limit { _ = terminal.read(waiting: 1) }
            kill(terminal.process, signal)
            #expect(terminal.waitForEnd() == .signal(signal))
            try expectRestored(terminal)
        }
    }

    @Test(
        arguments: [
            ("abort", SIGABRT), ("trap", SIGILL), ("fatalError", SIGILL), ("segv", SIGSEGV),
        ], [[], everything])
    func `A fault restores the terminal`(scene: (String, CInt), options: [String]) throws {
        let terminal = try open(commands: "exec \"$program\" \(options.joined(separator: " ")) \(scene.0)")
        try terminal.wait(for: "ready 80 20.")
        terminal.send("x")
        let end = terminal.waitForEnd()
        // Traps are SIGILL on x86 and SIGTRAP on ARM.
        #expect(end == .signal(scene.1) || scene.1 == SIGILL && end == .signal(SIGTRAP))
        try expectRestored(terminal)
        if scene.0 == "fatalError" { #expect((terminal.shell + terminal.screen.history).contains("as asked")) }
    }

    @Test(arguments: [[], everything]) func `close() and exit() restore the terminal`(options: [String]) throws {
        for (key, end) in [("q", 0), ("x", 3)] as [(String, CInt)] {
            let terminal = try open(commands: "exec \"$program\" \(options.joined(separator: " ")) exit")
            try terminal.wait(for: "ready 80 20.")
            terminal.send(key)
            #expect(terminal.waitForEnd() == .status(end))
            try expectRestored(terminal)
        }
    }

    @Test(arguments: [("", "\u{1A}"), ("control suspend", "x"), ("control screen mouse paste suspend", "x"), ("", nil)])
    func `A program that is stopped restores the terminal, and fg sets it up again`(options: String, key: String?)
        throws
    {
        let terminal = try open(
            commands: "set -m; \"$program\" \(options); echo stopped.; read line; fg; exit $?")
        try terminal.wait(for: "ready 80 20.")
        let modes = terminal.screen.modes
        if let key { terminal.send(key) } else { kill(-terminal.foreground, SIGTSTP) }
        try terminal.wait("a stop") { ($0.shell + $0.screen.text).contains("stopped.") }
        try expectRestored(terminal)
        terminal.send("\n")
        try terminal.wait(for: "size 80 20.")
        #expect(try terminal.now.flags != terminal.before.flags)
        #expect(terminal.screen.modes == modes)
        terminal.send("a")
        try terminal.wait(for: "key character(\"a\") began.")
        try quit(terminal)
    }

    @Test func `A program that is ended while it is stopped leaves the terminal to the shell`() throws {
        let terminal = try open(
            commands: "set -m; \"$program\" & fg; kill -TERM %1; fg; echo code $?.")
        try terminal.wait(for: "ready 80 20.")
        terminal.send("\u{1A}")
        try terminal.wait(for: "code 143.")
        #expect(terminal.waitForEnd() == .status(0))
        try expectRestored(terminal)
    }

    @Test func `After SIGSTOP and SIGCONT the terminal is set up again`() throws {
        let terminal = try start("mouse")
        kill(terminal.process, SIGSTOP)
        var status: CInt = 0
        #expect(waitpid(terminal.process, &status, WUNTRACED) == terminal.process)
        var plain = terminal.before
        // As a shell does meanwhile.
        #expect(tcsetattr(terminal.slave, TCSANOW, &plain) == 0)
        kill(terminal.process, SIGCONT)
        try terminal.wait(for: "size 80 20.")
        #expect(try terminal.now.flags != terminal.before.flags)
        try quit(terminal)
    }

    @Test func `A terminal that takes nothing does not delay the end of the program`() throws {
        let terminal = try start("flood")
        terminal.send("x")
        try terminal.wait(for: "unwritten true.")
        #expect(tcflow(terminal.slave, TCOOFF) == 0)
        terminal.send("x")
        kill(terminal.process, SIGTERM)
        #expect(terminal.waitForEnd() == .signal(SIGTERM))
        #expect(try terminal.now.flags == terminal.before.flags)
    }

    @Test func `Printed text does not disturb an alternate screen and is shown at the end`() throws {
        let terminal = try start("screen", "print")
        terminal.send("x")
        try terminal.wait(for: "key character(\"x\") began.")
        #expect(!terminal.screen.text.contains("as printed"))
        try quit(terminal)
        #expect(terminal.shell.contains("as printed"))
    }

    // MARK: Signals

    @Test func `Ctrl-C ends the program, and is a key with controlKeys`() throws {
        let plain = try start()
        plain.send("\u{3}")
        #expect(plain.waitForEnd() == .signal(SIGINT))
        try expectRestored(plain)
        let raw = try start("control")
        raw.send("\u{3}\u{1A}")
        try raw.wait(for: "key character(\"c\") 4 began.")
        try raw.wait(for: "key character(\"z\") 4 began.")
        try quit(raw)
    }

    @Test func `A termination handler receives the signal in place of the end`() throws {
        let terminal = try start("handled")
        kill(terminal.process, SIGTERM)
        #expect(terminal.waitForEnd() == .status(0))
        #expect(terminal.screen.text.contains("signal 15."))
        try expectRestored(terminal)
    }

    @Test(arguments: [("", 7), ("task", 7)])
    func `A terminal that is gone is an event`(action: String, status: CInt) throws {
        let terminal = try open(commands: "trap '' HUP; exec \"$program\" \(action)")
        try terminal.wait(for: "ready 80 20.")
        terminal.hangUp()
        #expect(terminal.waitForEnd() == .status(status))
    }

    // MARK: Events

    @Test(arguments: ["", "task"])
    func `Keys, paste, mouse, focus, size and replies are events of a handler and of a task`(action: String) throws {
        let terminal = try start("control", "mouse", "paste", "focus", "releases", action, answers: Self.kitty)
        try terminal.wait("the keyboard's protocol") { $0.screen.keyboardFlags == ["31"] }
        for (bytes, text) in [
            ("é", "key character(\"é\") began."), ("\u{1B}[1;5A", "key up 4 began."),
            ("\u{1B}[97;1:3u", "key character(\"a\") ended."), ("\u{1B}", "key escape began."),
            ("\u{1B}[200~two q\u{1B}[201~", "paste two q true."),
            ("\u{1B}[<0;3;4M", "mouse pressed 0 2 3."),
            ("\u{1B}[<65;3;4M", "mouse wheel(columns: 0, rows: 1) 0 2 3."),
            ("\u{1B}[I", "focus true."), ("\u{1B}[?6;7R", "reply cursor(column: 6, row: 5)."),
        ] {
            terminal.send(bytes)
            try terminal.wait(for: text)
        }
        terminal.resize(columns: 50, rows: 10)
        try terminal.wait(for: "size 50 10.")
        // As after two changes, of which the second takes the first back.
        terminal.useScreen(columns: 50, rows: 10)
        kill(terminal.process, SIGWINCH)
        try terminal.wait(for: "size 50 10.")
        try quit(terminal)
    }

    @Test func `The answer to a question does not reach the shell`() throws {
        let terminal = try open(commands: "\"$program\" ask; echo code $?.; cat", answers: "")
        try terminal.wait(for: "ready 80 20.")
        terminal.send("xq\u{1B}[3;4R\u{1B}[?62;22c")
        try terminal.wait(for: "code 0.")
        terminal.send("\u{4}")
        #expect(terminal.waitForEnd() == .status(0))
        #expect(terminal.screen.text.contains("reply cursor(column: 3, row: 2)."))
        #expect(terminal.screen.text.contains("reply deviceAttributes([62, 22])."))
        #expect(!terminal.screen.text.contains("^["))
    }

    @Test func `A task that is late receives every event`() throws {
        let terminal = try start("late")
        terminal.send(String(repeating: "a", count: 3000))
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        #expect(terminal.screen.text.contains("events 3001."))
        try expectRestored(terminal)
    }

    @Test func `Another program has the terminal while it is released`() throws {
        let terminal = try start("cat")
        terminal.send("x")
        try terminal.wait("plain settings") { (try? $0.now.flags) == $0.before.flags }
        terminal.send("one\n")
        try terminal.wait(for: "read one.")
        try terminal.wait(for: "child 0.")
        #expect(try terminal.now.flags != terminal.before.flags)
        terminal.send("a")
        try terminal.wait(for: "key character(\"a\") began.")
        try quit(terminal)
    }

    // MARK: The example

    @Test(.enabled(if: BuiltPrograms.path("TerminalRerun") != nil))
    func `The example runs its command again at a key and at a change, and leaves the terminal to an editor`() throws {
        let directory = TemporaryDirectory()
        let folder = directory.path
        try #require(mkdir("\(folder)/watched", 0o700) == 0)
        let example = try #require(BuiltPrograms.path("TerminalRerun"))
        let command = "echo run >> \(folder)/runs; echo run $(wc -l < \(folder)/runs)."
        let terminal = try PseudoTerminal(
            [example, "\(folder)/watched", "sh", "-c", command], columns: 80, rows: 20,
            environment: ["EDITOR=ls"])
        try terminal.wait(for: "run 1.")
        terminal.send(" ")
        try terminal.wait(for: "run 2.")
        let file = Glibc.open("\(folder)/watched/file", O_WRONLY | O_CREAT, 0o600)
        close(file)
        try terminal.wait(for: "run 3.")
        terminal.send("e")
        try terminal.wait("what the editor prints") { $0.screen.text.split(separator: "\n").contains("file") }
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        try expectRestored(terminal)
    }

    // MARK: Refusals

    @Test func `A program without a terminal is refused with a sentence`() throws {
        let program = try #require(Self.program)
        let pipe = try #require(popen("setsid -w '\(program)' < /dev/null 2>&1", "r"))
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = fread(&bytes, 1, bytes.count, pipe)
        #expect(pclose(pipe) >> 8 == 4)
        let text = String(decoding: bytes.prefix(count), as: UTF8.self)
        #expect(text == "refused: There is no terminal: read lines of standard input instead.\n")
    }

    @Test func `A dumb terminal has keys, and is refused with options that need sequences`() throws {
        let refused = try open("mouse", term: "dumb")
        #expect(refused.waitForEnd() == .status(4))
        #expect(refused.screen.text.contains("refused: A terminal with TERM=dumb has no control sequences"))
        try expectRestored(refused)
        let terminal = try open(term: "dumb")
        try terminal.wait(for: "ready 80 20.")
        terminal.send("a")
        try terminal.wait(for: "key character(\"a\") began.")
        try quit(terminal)
        #expect(terminal.screen.complaints == [] && terminal.screen.everSet == [])
    }

    @Test func `A second user of the terminal is refused, and can open it after the first has closed it`() throws {
        let terminal = try start("twice")
        terminal.send("x")
        try terminal.wait(for: "refused: This process has its terminal open already")
        try terminal.wait(for: "open again")
        terminal.send("a")
        try terminal.wait(for: "key character(\"a\") began.")
        try quit(terminal)
    }

    // MARK: What is linked

    @Test func `A program that links RunLoopsTerminal links no LoopUI and no Foundation`() throws {
        let program = try #require(Self.program)
        func has(_ text: String) -> Bool { system("grep -qF '\(text)' '\(program)'") == 0 }
        // As modules are written in the names of symbols, and libraries in the table of what is loaded.
        #expect(has("16RunLoopsTerminal") && has("libc.so.6"))
        #expect(!has("6LoopUI") && !has("libFoundation"))
    }
}
