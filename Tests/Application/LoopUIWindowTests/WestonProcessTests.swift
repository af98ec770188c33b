// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
import Glibc
import RunLoopsTestSupport
import Testing

/// A program on a Wayland compositor without a screen.
@Suite(
    .ownThread, .timeLimit(.minutes(10)), .serialized, .enabled(if: Weston.isThere, "weston is not installed."))
struct WestonProcessTests {
    /// Plays an animation of two seconds, in which the thread is busy once for 200 ms.
    private func frames(_ scene: String) throws -> (delivered: Int, missed: Int, source: Substring, end: Substring) {
        let weston = try Weston(scene)
        let words = try #require(weston.program.lines(to: "frames").last).split(separator: " ")
        return (try #require(Int(words[1])), try #require(Int(words[3])), words[5], words[7])
    }

    @Test func `An animation follows the frame callbacks of a compositor, and missed frames are counted`() throws {
        let frames = try frames("moving")
        #expect(frames.source == "screen" && frames.end == "true")
        // weston has 60 frames a second, and the thread is busy for twelve of them.
        #expect(frames.missed >= 10)
        // A machine that is busy ends it later, and delivers fewer.
        #expect(frames.delivered + frames.missed >= 100)
    }

    @Test func `An animation on a compositor uses the application's own frame grid without frame callbacks`() throws {
        let frames = try frames("moving-by-grid")
        #expect(frames.source == "grid" && frames.end == "true")
        #expect(frames.missed >= 10 && frames.delivered + frames.missed >= 115)
    }

    @Test func `A display link follows the frame callbacks of a compositor and counts those that it skips`() throws {
        let weston = try Weston("link")
        let words = try #require(weston.program.lines(to: "link").last).split(separator: " ")
        let (delivered, skipped) = (try #require(Int(words[1])), try #require(Int(words[3])))
        #expect(words[5] == "screen" && delivered + skipped >= 120 && skipped >= 10)
    }

    @Test func `An animation ends on time in a window to which a compositor sends no frame callbacks`() throws {
        // Without a keyboard, this shell shows no window.
        let weston = try Weston("moving", kind: "headless-backend.so --shell=kiosk-shell.so")
        #expect(try weston.program.lines(to: "frames").last?.hasSuffix("by grid finished true") == true)
    }

    @Test func `SIGTERM ends the program on a compositor, and its exit status reports the signal`() throws {
        let weston = try Weston("echo")
        kill(weston.program.identifier, SIGTERM)
        let (lines, status) = weston.program.end()
        #expect(lines.last == "terminate" && status & 0x7F == SIGTERM)
    }

    @Test func `A killed compositor ends the program and a missing compositor is an error`() throws {
        let weston = try Weston("echo")
        kill(weston.compositor.identifier, SIGKILL)
        let (lines, status) = weston.program.end()
        #expect(lines.suffix(2) == ["terminate", "end"] && status == 0)
        // The socket is there, and no process listens.
        let (error, code) = try Weston.run("echo wayland", in: weston.folder).end()
        #expect(error == [#"error noCompositor(display: "wayland-test")"#] && code >> 8 == 1)
        let (other, _) = try Weston.run("echo wayland", in: weston.folder, "WAYLAND_DISPLAY=/").end()
        #expect(other == [#"error noCompositor(display: "/")"#])
        let (nowhere, _) = try Weston.run("echo wayland", in: weston.folder, "XDG_RUNTIME_DIR=").end()
        #expect(nowhere == [#"error noCompositor(display: "wayland-test")"#])
    }

    @Test func `A stopped compositor is an error of a program that opens its window`() throws {
        let weston = try Weston("echo")
        kill(weston.compositor.identifier, SIGSTOP)
        let (error, code) = try Weston.run("echo wayland", in: weston.folder).end()
        #expect(error == [#"error noCompositor(display: "wayland-test")"#] && code >> 8 == 1)
        kill(weston.compositor.identifier, SIGCONT)
    }

    @Test func `The program does not wait for a stopped compositor`() throws {
        let weston = try Weston("ticks")
        /// Ticks, frames and refusals so far, and the longest time without a sleep.
        func next() throws -> [Int] {
            while true {
                let numbers = try weston.program.lines(1)[0].split(separator: " ").compactMap { Int($0) }
                if numbers.count == 4 { return numbers }
            }
        }
        _ = try next()
        kill(weston.compositor.identifier, SIGSTOP)
        // Lines of before may still be unread: the frames have stopped when five lines in a row have the same.
        var (stopped, equal) = (try next(), 0)
        for _ in 0..<200 where equal < 5 {
            let line = try next()
            equal = line[1] == stopped[1] ? equal + 1 : 0
            stopped = line
        }
        var later = stopped
        var longest = 0
        for _ in 0..<10 {
            later = try next()
            longest = max(longest, later[3])
        }
        #expect(later[0] == stopped[0] + 100 && later[1] <= stopped[1] + 1 && later[2] <= stopped[2] + 1)
        if getenv("RUNLOOPS_GAPS") != nil { print("longest time without a sleep: \(longest) ms") }
        kill(weston.compositor.identifier, SIGCONT)
        var after = later
        while after[1] < later[1] + 10 { after = try next() }
        kill(weston.program.identifier, SIGTERM)
        #expect(weston.program.end().lines.last == "terminate")
    }

    @Test func `An idle program on a compositor makes no wake-ups`() throws {
        let weston = try Weston("idle")
        #expect(try weston.program.lines(to: "wake-ups").last == "wake-ups 0")
    }

    @Test func `A window on a compositor takes no number of a closed standard stream`() throws {
        let folder = TemporaryDirectory()
        let compositor = try Weston.start(Weston.withoutScreen, in: folder)
        // The shell closes the streams, and stays the process.
        let program = try OtherProcess(
            "exec 0<&- 2>&-; XDG_RUNTIME_DIR='\(folder.path)' WAYLAND_DISPLAY=wayland-test exec "
                + "'\(try #require(BuiltPrograms.path("LoopUIWindowPrograms")))' echo wayland")
        _ = try program.lines(to: "shown")
        for number in [0, 2] { #expect(access("/proc/\(program.identifier)/fd/\(number)", F_OK) != 0, "\(number)") }
        kill(program.identifier, SIGTERM)
        _ = program.end()
        kill(compositor.identifier, SIGTERM)
        _ = compositor.end()
    }

    @Test func `A program that chooses no display opens its window on the compositor, and ends without one`() throws {
        let folder = TemporaryDirectory()
        let compositor = try Weston.start(Weston.withoutScreen, in: folder)
        let program = try Weston.run("echo any", in: folder)
        // There is no X server.
        #expect(try program.lines(to: "shown").first == "active")
        kill(compositor.identifier, SIGKILL)
        #expect(program.end().lines.suffix(2) == ["terminate", "end"])
        let (error, _) = try Weston.run("echo any", in: folder).end()
        #expect(error == [#"error noServer(display: "")"#])
    }
}
#endif
