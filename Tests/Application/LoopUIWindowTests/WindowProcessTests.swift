// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
import Glibc
import RunLoopsTestSupport
import Testing

/// A program in a window, driven from outside as a user drives it.
@Suite(
    .ownThread, .serialized,
    .enabled(if: Screen.isThere, "Xvfb and xdotool are not installed."))
struct WindowProcessTests {
    @Test func `Keys are reported when they are pressed, repeated and released`() throws {
        let screen = try Screen("echo")
        try screen.focus()
        try screen.xdotool("key a shift+b ctrl+q shift+Tab Return F5 alt+x")
        #expect(
            try screen.program.lines(14) == [
                #"down character("a") []"#, #"up character("a")"#, #"down character("B") []"#, #"up character("B")"#,
                #"down character("q") [control]"#, #"up character("q")"#, "down tab [shift]", "up tab",
                "down enter []", "up enter", "down function(5) []", "up function(5)", #"down character("x") [alt]"#,
                #"up character("x")"#,
            ])
        try screen.xdotool("keydown z")
        #expect(try screen.program.lines(2) == [#"down character("z") []"#, #"again character("z") []"#])
        try screen.xdotool("keyup z")
        let rest = try screen.program.lines(to: "up")
        #expect(rest.dropLast().allSatisfy { $0 == #"again character("z") []"# } && rest.last == #"up character("z")"#)
        // A window has nothing to give back: the program goes through the states and on.
        try screen.xdotool("key ctrl+z")
        #expect(
            try screen.program.lines(6) == [
                #"down character("z") [control]"#, #"gone character("z")"#, "inactive", "background", "foreground",
                "active",
            ])
        try screen.xdotool("key ctrl+c")
        #expect(try screen.program.lines(to: "terminate").last == "terminate")
        #expect(screen.program.end().status == 0)
    }

    /// Plays an animation of two seconds, in which the thread is busy once for 200 ms.
    private func frames(_ scene: String) throws -> (delivered: Int, missed: Int, source: Substring, end: Substring) {
        let screen = try Screen(scene)
        let words = try #require(screen.program.lines(to: "frames").last).split(separator: " ")
        return (try #require(Int(words[1])), try #require(Int(words[3])), words[5], words[7])
    }

    @Test func `An animation follows the frames that the server reports, and missed frames are counted`() throws {
        let frames = try frames("moving")
        #expect(frames.source == "screen" && frames.end == "true")
        // Xvfb counts 60 frames a second, and the thread is busy for twelve of them.
        #expect(frames.missed >= 10)
        // A machine that is busy ends it later, and delivers fewer.
        #expect(frames.delivered + frames.missed >= 115)
    }

    @Test func `An animation uses the application's own frame grid if the server reports no frames`() throws {
        let frames = try frames("moving-by-grid")
        #expect(frames.source == "grid" && frames.end == "true")
        #expect(frames.missed >= 10 && frames.delivered + frames.missed >= 115)
    }

    @Test func `A display link follows the frames that the server reports and counts those that it skips`() throws {
        let screen = try Screen("link")
        let words = try #require(screen.program.lines(to: "link").last).split(separator: " ")
        let (delivered, skipped) = (try #require(Int(words[1])), try #require(Int(words[3])))
        #expect(words[5] == "screen" && delivered + skipped >= 120)
        // Xvfb counts 60 frames a second, and the thread is busy for twelve of them.
        #expect(skipped >= 10)
    }

    @Test func `An animation ends on time in a window that is hidden`() throws {
        let screen = try Screen("moving")
        try screen.xdotool("windowunmap --sync \(screen.window)")
        #expect(try screen.program.lines(to: "frames").last?.hasSuffix("true") == true)
    }

    @Test func `Each of 600 keys typed without pauses is delivered, in order`() throws {
        let screen = try Screen("echo")
        try screen.focus()
        let text = String(repeating: "abcdefghij", count: 60)
        try screen.xdotool("type --delay 0 \(text)")
        for character in text {
            let lines = try screen.program.lines(2)
            #expect(lines == [#"down character("\#(character)") []"#, #"up character("\#(character)")"#])
        }
    }

    @Test func `Input that arrives with the answer to the last frame is delivered`() throws {
        let screen = try Screen("slow")
        let client = try Client(screen)
        for round in 0..<10 {
            try client.send(key: 38, isDown: true, to: screen.window)
            // The program takes its time between the frame and the last look before it sleeps.
            usleep(25_000)
            try client.send(key: 38, isDown: false, to: screen.window)
            let lines = try screen.program.lines(2)
            #expect(lines == [#"down character("a") []"#, #"up character("a")"#], "round \(round)")
        }
    }

    @Test func `A changed keyboard layout takes effect at once`() throws {
        let screen = try Screen("echo")
        try screen.focus()
        let change = try OtherProcess("DISPLAY=\(screen.name) exec setxkbmap de").end()
        #expect(change.status == 0)
        // The code of the key beside T.
        try screen.xdotool("key 29")
        #expect(try screen.program.lines(1) == [#"down character("z") []"#])
    }

    @Test func `Clicks and drags have positions in fractions of a cell, and the wheel reports notches`() throws {
        let screen = try Screen("echo")
        let (width, height) = try screen.size()
        let (cellWidth, cellHeight) = (width / 40, height / 10)
        func place(_ x: Int, _ y: Int) -> String {
            "\(Double(x) / Double(cellWidth)) \(Double(y) / Double(cellHeight))"
        }
        try screen.xdotool("mousemove 33 44 click 1 keydown ctrl click 3 keyup ctrl")
        #expect(
            try screen.program.lines(4) == [
                "began 0 at \(place(33, 44)) []", "ended 0 at \(place(33, 44))",
                "began 2 at \(place(33, 44)) [control]", "ended 2 at \(place(33, 44))",
            ])
        // Out of the window: a finger that is down belongs to the view that it hit.
        try screen.xdotool("mousedown 1 mousemove 40 50 mousemove \(width + 50) 60 mouseup 1")
        let drag = try screen.program.lines(to: "ended")
        #expect(drag.first == "began 0 at \(place(33, 44)) []" && drag.last == "ended 0 at \(place(width + 50, 60))")
        #expect(drag.contains("moved 0 at \(place(width + 50, 60))"))
        try screen.xdotool("mousemove 33 44")
        try screen.xdotool("click 4")
        #expect(try screen.program.lines(1) == ["wheel 0.0 -1.0"])
        try screen.xdotool("click 7")
        #expect(try screen.program.lines(1) == ["wheel 1.0 0.0"])
        try screen.xdotool("click --repeat 5 --delay 0 5")
        var notches = 0.0
        while notches < 5 {
            notches += try #require(Double(try screen.program.lines(1)[0].dropFirst("wheel 0.0 ".count)))
        }
        #expect(notches == 5)
    }

    @Test func `A window has as many cells as fit and keeps its content while it is hidden`() throws {
        let screen = try Screen("echo")
        let client = try Client(screen)
        let (width, height) = try screen.size()
        let (cellWidth, cellHeight) = (width / 40, height / 10)
        try screen.xdotool("windowsize --sync \(screen.window) \(cellWidth * 50 + 3) \(cellHeight * 13 + 5)")
        #expect(try screen.program.lines(to: "size 50").last == "size 50.0 13.0")
        let fullWidth = cellWidth * 50 + 3
        func color(_ pixels: [UInt32], _ column: Double, _ row: Double) -> UInt32? {
            let index = Int(row * Double(cellHeight)) * fullWidth + Int(column * Double(cellWidth))
            return pixels.indices.contains(index) ? pixels[index] : nil
        }
        let pixels = try screen.pixels(client) { color($0, 49.5, 6.5) == 0x61A6EA }
        #expect(color(pixels, 4, 4) == 0xC81E3C)
        // The border has moved to the new edge, and left no trace at the old one.
        #expect(color(pixels, 49.5, 6.5) == 0x61A6EA && color(pixels, 39.5, 6.5) == 0x16181D)
        #expect(color(pixels, 50.1, 13.1) == 0x16181D)
        try screen.xdotool("windowunmap --sync \(screen.window)")
        #expect(try screen.program.lines(1) == ["inactive"])
        try screen.xdotool("windowmap --sync \(screen.window)")
        #expect(try screen.pixels(client) { $0 == pixels } == pixels)
        try screen.focus()
        #expect(try screen.program.lines(1) == ["active"])
    }

    @Test func `A drag is cancelled when the window is hidden`() throws {
        let screen = try Screen("echo")
        try screen.xdotool("mousemove 30 30 mousedown 1")
        #expect(try screen.program.lines(1)[0].hasPrefix("began 0"))
        try screen.xdotool("windowunmap --sync \(screen.window)")
        #expect(try screen.program.lines(to: "cancelled").count == 1)
        try screen.xdotool("mouseup 1")
    }

    @Test func `The program answers the window manager's ping and ends when it is asked to close the window`() throws {
        let screen = try Screen("echo")
        let client = try Client(screen)
        client.listenToRoot()
        try client.send("_NET_WM_PING", to: screen.window)
        #expect(client.awaitMessage() == client.atom("_NET_WM_PING"))
        try client.send("WM_DELETE_WINDOW", to: screen.window)
        let (lines, status) = screen.program.end()
        #expect(lines == ["terminate", "end"] && status == 0)
    }

    @Test func `A request for attention sets the urgency hint until the window has the focus`() throws {
        let screen = try Screen("attention")
        let client = try Client(screen)
        try screen.focus()
        #expect(try client.hintFlags(of: screen.window) == nil)
        client.takeFocus()
        #expect(try screen.program.lines(to: "asked") == ["inactive", "asked true"])
        #expect(try client.hintFlags(of: screen.window) == 256)
        try screen.focus()
        #expect(try screen.program.lines(to: "active") == ["active"])
        for _ in 0..<30_000 where try client.hintFlags(of: screen.window) != 0 { usleep(10_000) }
        #expect(try client.hintFlags(of: screen.window) == 0)
    }

    @Test func `Ctrl-Shift-V pastes the clipboard and Shift-Insert pastes the primary selection`() throws {
        let screen = try Screen("echo")
        let client = try Client(screen)
        try screen.focus()
        try client.offer("copied Ä日", as: "CLIPBOARD") { try screen.xdotool("key ctrl+shift+v") }
        let copied = try screen.program.lines(1)
        #expect(copied == ["paste copied Ä日"])
        try client.offer("marked", as: "PRIMARY") { try screen.xdotool("key shift+Insert") }
        let marked = try screen.program.lines(1)
        #expect(marked == ["paste marked"])
    }

    @Test func `Text copied by the program is on the clipboard`() throws {
        let screen = try Screen("echo")
        let client = try Client(screen)
        try screen.focus()
        #expect(client.ask(for: "CLIPBOARD", as: "UTF8_STRING") == nil)
        try screen.xdotool("key F2")
        #expect(try screen.program.lines(to: "up").last == "up function(2)")
        #expect(client.ask(for: "CLIPBOARD", as: "UTF8_STRING") == Array("from the program ß".utf8))
        #expect(client.ask(for: "CLIPBOARD", as: "TARGETS")?.count == 8)
        #expect(client.ask(for: "CLIPBOARD", as: "image/png") == nil)
    }

    @Test func `SIGTERM ends the program, and its exit status reports the signal`() throws {
        let screen = try Screen("echo")
        kill(screen.program.identifier, SIGTERM)
        let (lines, status) = screen.program.end()
        #expect(lines == ["terminate"] && status & 0x7F == SIGTERM)
    }

    @Test func `A killed display server ends the program and a missing server is an error`() throws {
        let screen = try Screen("echo")
        kill(screen.server.identifier, SIGKILL)
        let (lines, status) = screen.program.end()
        #expect(lines == ["terminate", "end"] && status == 0)
        let path = try #require(BuiltPrograms.path("LoopUIWindowPrograms"))
        let (error, code) = try OtherProcess("DISPLAY=\(screen.name) exec '\(path)'").end()
        #expect(error == [#"error noServer(display: "\#(screen.name)")"#] && code >> 8 == 1)
    }

    @Test func `The program does not wait for a stopped display server`() throws {
        let screen = try Screen("ticks")
        /// Ticks, frames and refusals so far.
        func next() throws -> [Int] {
            try screen.program.lines(1)[0].split(separator: " ").compactMap { Int($0) }
        }
        _ = try next()
        kill(screen.server.identifier, SIGSTOP)
        // Lines of before may still be unread: the frames have stopped when five lines in a row have the same.
        var (stopped, equal) = (try next(), 0)
        for _ in 0..<200 where equal < 5 {
            let line = try next()
            equal = line[1] == stopped[1] ? equal + 1 : 0
            stopped = line
        }
        var later = stopped
        for _ in 0..<10 { later = try next() }
        #expect(later[0] == stopped[0] + 100 && later[1] <= stopped[1] + 1 && later[2] <= stopped[2] + 1)
        kill(screen.server.identifier, SIGCONT)
        var after = later
        while after[1] < later[1] + 10 { after = try next() }
        kill(screen.program.identifier, SIGTERM)
        #expect(screen.program.end().lines.last == "terminate")
    }

    @Test func `An idle program makes no wake-ups`() throws {
        let screen = try Screen("idle")
        try screen.focus()
        #expect(try screen.program.lines(to: "wake-ups").last == "wake-ups 0")
    }
}
#endif
