// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import TerminalTestSupport
import Testing

/// A program in a terminal that others have written: what a user does, and the screen that tmux shows.
@Suite(.ownThread, .serialized, .enabled(if: access("/usr/bin/tmux", X_OK) == 0 && PseudoTerminal.program != nil))
struct TmuxTests {
    /// The server's socket is in a folder of its own: tmux leaves it where it was.
    private let folder = TemporaryDirectory()
    private let tmux: String

    init() throws {
        tmux = "tmux -S \(folder.path("socket")) -f /dev/null"
    }

    /// What a command writes.
    @discardableResult
    private func run(_ command: String) throws -> String {
        let pipe = try #require(popen("\(tmux) \(command) 2>&1", "r"))
        defer { pclose(pipe) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = fread(&buffer, 1, buffer.count, pipe)
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
    }

    private func end() {
        _ = try? run("kill-server")
    }

    /// Waits until the first rows of the screen are these.
    private func expect(_ rows: [String], sourceLocation: SourceLocation = #_sourceLocation) throws {
        let limit = ContinuousClock.now + plenty
        var screen: [Substring] = []
        while ContinuousClock.now < limit {
            screen = try run("capture-pane -p").split(separator: "\n", omittingEmptySubsequences: false)
            if screen.prefix(rows.count).elementsEqual(rows, by: ==) { return }
            _ = poll(nil, 0, 20)
        }
        Issue.record("\(screen.joined(separator: "\n"))", sourceLocation: sourceLocation)
    }

    private func expect(containing text: String) throws {
        let limit = ContinuousClock.now + plenty
        while try !run("capture-pane -p").contains(text), ContinuousClock.now < limit { _ = poll(nil, 0, 20) }
    }

    /// Waits until the shell has written its prompt: what is typed before may go to the program that ends.
    private func expectPrompt() throws {
        let limit = ContinuousClock.now + plenty
        while try run("capture-pane -p").split(separator: "\n").last != "$", ContinuousClock.now < limit {
            _ = poll(nil, 0, 20)
        }
    }

    private func board(
        _ keys: String, _ touch: String, _ wheel: Int, _ pasted: Int, columns: Int = 40, rows: Int = 9
    ) -> [String] {
        let lines = [
            "keys \(keys).", "touch \(touch).", "wheel \(wheel).", "pasted \(pasted).", "size \(columns) \(rows).",
        ]
        let inside = lines.map { "│ " + $0 + String(repeating: " ", count: columns - 3 - $0.count) + "│" }
        let last = "│ 日本 é ✓." + String(repeating: " ", count: columns - 12) + "│"
        let empty = "│" + String(repeating: " ", count: columns - 2) + "│"
        let line = String(repeating: "─", count: columns - 2)
        return ["╭\(line)╮"] + inside + [last] + Array(repeating: empty, count: rows - 8) + ["╰\(line)╯"]
    }

    @Test func `Keys, mouse, wheel, paste, size, Ctrl-Z and fg work in tmux`() throws {
        let program = try #require(PseudoTerminal.program)
        defer { end() }
        try run("new-session -d -x 40 -y 9 \"env PS1='$ ' LANG=C.UTF-8 SWIFT_BACKTRACE=enable=no /bin/sh -i\"")
        try expect(["$"])
        try run("send-keys \"'\(program)' keys; echo code \\$?\" Enter")
        try expect(board("0, last none", "none", 0, 0))
        try run("send-keys Up C-Right F5")
        try expect(board("3, last function(5)", "none", 0, 0))
        try run("send-keys é")
        try expect(board("4, last character(\"é\")", "none", 0, 0))
        try run("send-keys -l \"$(printf '\\033[<0;5;5M\\033[<32;9;6M')\"")
        try expect(board("4, last character(\"é\")", "moved 8 5", 0, 0))
        try run("send-keys -l \"$(printf '\\033[<0;9;6m\\033[<65;9;6M\\033[<65;9;6M\\033[<64;9;6M')\"")
        try expect(board("4, last character(\"é\")", "ended 8 5", 1, 0))
        try run("set-buffer \"$(printf 'two\\nlines q')\"")
        try run("paste-buffer -p")
        try expect(board("4, last character(\"é\")", "ended 8 5", 1, 11))
        try run("resize-window -x 50 -y 10")
        try expect(board("4, last character(\"é\")", "ended 8 5", 1, 11, columns: 50, rows: 10))
        try run("send-keys C-z")
        try expect(containing: "Stopped")
        try run("send-keys 'clear; fg' Enter")
        try expect(board("5, last character(\"z\")", "ended 8 5", 1, 11, columns: 50, rows: 10))
        try run("send-keys Escape")
        try expect(board("6, last escape", "ended 8 5", 1, 11, columns: 50, rows: 10))
        try run("send-keys q")
        try expectPrompt()
        try run("send-keys clear Enter")
        try expect(["$"])
        // The shell's line is edited as ever.
        try run("send-keys 'clear; stty -a | grep -c \" icanon .* echo \"' Enter")
        try expect(["1", "$"])
    }

    @Test
    func `A part of the screen is in its place after sizes that change without pause, with lines printed meanwhile`()
        throws
    {
        let program = try #require(PseudoTerminal.program)
        defer { end() }
        try run(
            #"new-session -d -x 50 -y 12 "before=\$(stty -g); '\#(program)' part; "#
                + #"[ \"\$(stty -g)\" = \"\$before\" ] && echo restored; sleep 1000""#)
        try expect(containing: "row 2 of 3, 50 columns, 0 keys.")
        var random = SeededRandom(56)
        let printed = 100
        for _ in 0..<printed {
            try run(
                "resize-window -x \(Int.random(in: 20...70, using: &random)) -y \(Int.random(in: 5...30, using: &random))"
                    + " \\; send-keys p")
        }
        try run("resize-window -x 60 -y 12")
        try expect(containing: "row 2 of 3, 60 columns, \(printed) keys.")
        try run("send-keys q")
        try expect(containing: "restored")
        // Joins what was wrapped. Copies of the part may be left above, where tmux wrapped its rows.
        let lines = try run("capture-pane -p -J -S -").split(separator: "\n")
            .map { $0.drop { $0 == " " }.split(separator: " ").joined(separator: " ") }
        #expect(lines.filter { $0.hasPrefix("printed ") } == (1...printed).map { "printed \($0)." })
        #expect(
            lines.filter { !$0.isEmpty }.suffix(4)
                == (0..<3).map { "row \($0) of 3, 60 columns, \(printed + 1) keys." } + ["restored"])
    }

    @Test func `Copied text reaches the terminal's clipboard`() throws {
        let program = try #require(PseudoTerminal.program)
        defer { end() }
        try run("new-session -d -x 40 -y 9 \"env LANG=C.UTF-8 SWIFT_BACKTRACE=enable=no \(program) copy\"")
        try run("set -g set-clipboard on")
        try expect(board("0, last none", "none", 0, 0))
        try run("send-keys x")
        let limit = ContinuousClock.now + plenty
        var text = ""
        while ContinuousClock.now < limit, !text.hasPrefix("Käse") {
            text = try run("show-buffer")
            _ = poll(nil, 0, 20)
        }
        #expect(text == "Käse \u{1B}]52;c;!\u{7} für 3 €\nund 🧀")
        try run("send-keys q")
    }
}
