// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import TerminalTestSupport
import Testing

/// The tool that was built beside the tests.
let builtTool = BuiltPrograms.path("runloop")

@Suite("runloop top on a terminal", .ownThread, .serialized, .enabled(if: builtTool != nil))
struct TerminalProcessTests {
    private func expectRestored(_ terminal: PseudoTerminal, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try terminal.now.flags == terminal.before.flags, sourceLocation: sourceLocation)
        #expect(terminal.screen.modes == [7, 25], sourceLocation: sourceLocation)
        #expect(terminal.screen.complaints == [], sourceLocation: sourceLocation)
        #expect(terminal.screen.everSet.contains(1049), sourceLocation: sourceLocation)
    }

    /// Whether the line of a loop is marked: its colours are exchanged.
    private func isMarked(_ loop: String, _ terminal: PseudoTerminal) -> Bool {
        (2..<5).contains { row in
            terminal.screen.text(row: row).hasPrefix("   \(loop)") && terminal.screen[3, row].attributes.contains(7)
        }
    }

    @Test(arguments: [80, 5000])
    func `top draws, answers keys and restores the terminal after q`(columns: UInt16) throws {
        let program = try Inspected()
        let terminal = try program.top("--every 50ms", columns: columns, rows: columns == 80 ? 24 : 5000)
        try terminal.wait("two loops") { $0.screen.text(row: 0).hasSuffix("2 loops") }
        try terminal.wait("the marked loop in full") { $0.screen.text(row: 6).contains("WOKEN BY") }
        try terminal.wait("a mark") { isMarked("main", $0) }
        terminal.send("\t")
        try terminal.wait("the next loop") { isMarked("errands", $0) }
        terminal.send("\u{1B}[A")
        try terminal.wait("the loop before") { isMarked("main", $0) }
        terminal.send("\u{1B}[Z")
        try terminal.wait("the last loop") { isMarked("errands", $0) }
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        try expectRestored(terminal)
        // A terminal of 5,000 by 5,000 gets no more than the little that there is to see.
        #expect(terminal.written < 1 << 20)
    }

    @Test func `top follows the size of the window`() throws {
        let program = try Inspected()
        let terminal = try program.top("--every 50ms")
        try terminal.wait(for: "turns/s   wakes/s      busy  STATE")
        terminal.useScreen(columns: 120, rows: 40)
        terminal.resize(columns: 120, rows: 40)
        try terminal.wait(for: "busy late 99 %  STATE")
        terminal.useScreen(columns: 30, rows: 2)
        terminal.resize(columns: 30, rows: 2)
        try terminal.wait("the way out") { $0.screen.text(row: 1).hasSuffix("q quit") }
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
    }

    /// ThreadSanitizer runs the handlers of the last two at once, also inside of its own locks, where they wait for ever.
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT] + (Sanitizer.isThread ? [] : [SIGSEGV, SIGABRT])

    @Test(arguments: signals)
    func `a signal restores the terminal and ends top`(signal: CInt) throws {
        let program = try Inspected()
        let terminal = try program.top("")
        try terminal.wait(for: "WOKEN BY")
        if signal == SIGINT { terminal.send("\u{3}") } else { kill(terminal.process, signal) }
        #expect(terminal.waitForEnd() == .signal(signal))
        try expectRestored(terminal)
    }

    @Test func `Ctrl-Z returns the terminal to the shell, and fg gives it back to top`() throws {
        let program = try Inspected()
        let terminal = try PseudoTerminal(
            """
            set -m
            $tool top $pid; echo "stopped with $?"; stty -a; read line
            fg >/dev/null; echo "ended with $?"
            """, program)
        try terminal.wait(for: "q quit")
        terminal.send("\u{1A}")
        try terminal.wait("a stop") { $0.shell.contains("stopped with \(128 + SIGTSTP)") }
        try terminal.wait("the shell's terminal") { $0.shell.contains(" icanon") }
        try expectRestored(terminal)
        terminal.send("\n")
        try terminal.wait("the screen again") { $0.screen.modes.contains(1049) && $0.screen.text.contains("q quit") }
        terminal.send("q")
        try terminal.wait("the end") { $0.shell.contains("ended with 0") }
        _ = terminal.waitForEnd()
        try expectRestored(terminal)
    }

    @Test func `top redraws the screen after SIGSTOP`() throws {
        let program = try Inspected()
        let terminal = try program.top("")
        try terminal.wait(for: "WOKEN BY")
        kill(terminal.process, SIGSTOP)
        while terminal.read(waiting: 20) {}
        terminal.useScreen(columns: 80, rows: 24)
        kill(terminal.process, SIGCONT)
        try terminal.wait(for: "WOKEN BY")
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
        try expectRestored(terminal)
    }

    @Test(arguments: ["NO_COLOR=1", "NO_COLOR="])
    func `NO_COLOR turns colours off`(variable: String) throws {
        let program = try Inspected()
        let terminal = try program.top("", environment: [variable])
        try terminal.wait(for: "WOKEN BY")
        let hasColours = terminal.screen.places.contains { $0.foreground != "39" }
        #expect(hasColours == (variable == "NO_COLOR="))
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
    }

    @Test func `a locale without Unicode gets ASCII characters`() throws {
        let program = try Inspected()
        let terminal = try program.top("--every 50ms", environment: ["LC_ALL=C"])
        try terminal.wait(for: "timers, late by")
        #expect(terminal.screen.text.allSatisfy(\.isASCII) && terminal.screen.text.contains("-----"))
        terminal.send("q")
        #expect(terminal.waitForEnd() == .status(0))
    }

    @Test(arguments: [("TERM=dumb", ""), ("LOOPUI_LINEAR=1", ""), ("", "--plain"), ("", "| cat")])
    func `top prints a line for each loop and interval if the cursor cannot move`(before: String, after: String) throws
    {
        let program = try Inspected()
        let terminal = try PseudoTerminal(
            "\(before) $tool top --every 200ms --for 2s $pid \(after)", columns: 120, program)
        #expect(terminal.waitForEnd() == .status(0))
        #expect(terminal.screen.everSet.isEmpty)
        let lines = terminal.screen.text.split(separator: "\n")
        #expect(lines.first?.contains("turns/s") == true && lines.first?.hasSuffix("most time in") == true)
        #expect(lines.count { $0.hasPrefix("   main  ") } >= 2)
        #expect(lines.count { $0.hasPrefix("   errands ") } >= 2)
    }

    @Test func `top ends with the process and reports the end on the main screen`() throws {
        let program = try Inspected()
        let terminal = try program.top("--every 50ms")
        try terminal.wait(for: "WOKEN BY")
        program.end()
        #expect(terminal.waitForEnd() == .status(0))
        #expect(terminal.shell.contains("has ended"))
        try expectRestored(terminal)
    }
}

/// A program with two loops that can be looked into, in a folder of its own.
private final class Inspected {
    private let directory = TemporaryDirectory()
    var folder: String { directory.path }
    /// What the program reads; it ends with it.
    private var input: UnsafeMutablePointer<FILE>?

    init() throws {
        let program = "\"$(dirname '\(builtTool ?? "")')/RunLoopsDiagnosticsPrograms\""
        let command =
            "cd \(folder); echo $$ >pid; XDG_RUNTIME_DIR=\(folder) RUNLOOP_INSPECT=1 exec \(program) work >ready"
        // Of this thread, which blocks all signals, the program would have that.
        input = TestThread.run { Opened(file: popen(command, "we")) }.file
        try #require(input != nil)
    }

    /// A pointer for another thread.
    private struct Opened: @unchecked Sendable { let file: UnsafeMutablePointer<FILE>? }

    func end() {
        if let input { pclose(input) }
        input = nil
    }

    deinit { end() }

    /// The tool's screen of this program.
    func top(
        _ options: String, columns: UInt16 = 80, rows: UInt16 = 24, environment: [String] = []
    ) throws -> PseudoTerminal {
        try PseudoTerminal(
            "exec $tool top \(options) $pid", columns: columns, rows: rows, environment: environment, self)
    }
}

extension PseudoTerminal {
    /// Starts a shell's commands on a new terminal; `$tool` is the tool, `$pid` a program that can be looked into.
    fileprivate convenience init(
        _ commands: String, columns: UInt16 = 80, rows: UInt16 = 24, environment: [String] = [], _ program: Inspected
    ) throws {
        // A path may have spaces: what variables hold is not split into words.
        let waiting = "until grep -q ready ready 2>/dev/null; do sleep 0.05; kill -0 $PPID || exit; done"
        let ready = "IFS=; \(waiting); pid=$(cat pid)"
        try self.init(
            ["/bin/sh", "-c", "cd \(program.folder); \(ready); \(commands)"], columns: columns, rows: rows,
            environment: ["tool=\(builtTool ?? "")", "XDG_RUNTIME_DIR=\(program.folder)"] + environment)
    }
}
