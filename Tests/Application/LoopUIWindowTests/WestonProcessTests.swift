// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
import Glibc
import RunLoopsTestSupport
import Testing

/// A program on a Wayland compositor without a screen.
@Suite(
    .ownThread, .serialized, .enabled(if: Weston.isThere, "weston is not installed."))
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

    @Test func `Buffers have the scale of the compositor's screen`() throws {
        let log = TemporaryDirectory()
        let requests = log.path("requests")
        let weston = try Weston(
            "echo", kind: Weston.withoutScreen + " --scale=2", variables: "WAYLAND_DEBUG=client 2>'\(requests)'")
        // The scale may arrive after the first frame.
        var buffers: [Substring] = []
        for _ in 0..<3_000 {
            let lines = linesOfFile(requests) ?? []
            if lines.contains(where: { $0.hasSuffix(".set_buffer_scale(2)") }) {
                buffers = lines.filter { $0.contains(".create_buffer(") }
                break
            }
            usleep(10_000)
        }
        // The window has whole cells, of which the buffers have twice the pixels.
        let numbers = try #require(buffers.last).split(separator: ", ").compactMap { Int($0) }
        #expect(numbers.count >= 4 && numbers[1].isMultiple(of: 80) && numbers[2].isMultiple(of: 20))
        kill(weston.program.identifier, SIGTERM)
        _ = weston.program.end()
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

/// A program on a Wayland compositor that has a window in an X server, where a user types and clicks.
@Suite(
    .ownThread, .serialized,
    .enabled(if: Weston.isThereWithInput, "weston, Xvfb and xdotool are not installed."))
struct WestonInputProcessTests {
    @Test func `Keys of a compositor are reported when they are pressed, repeated and released`() throws {
        let weston = try Weston("echo", hasInput: true)
        // The compositor gives the keys to a new window.
        try weston.xdotool("key a shift+b ctrl+q shift+Tab Return F5 alt+x")
        #expect(
            try keys(weston, 14) == [
                #"down character("a") []"#, #"up character("a")"#, #"down character("B") []"#, #"up character("B")"#,
                #"down character("q") [control]"#, #"up character("q")"#, "down tab [shift]", "up tab",
                "down enter []", "up enter", "down function(5) []", "up function(5)", #"down character("x") [alt]"#,
                #"up character("x")"#,
            ])
        try weston.xdotool("keydown z")
        #expect(
            try keys(weston, 3) == [#"down character("z") []"#]
                + Array(repeating: #"again character("z") []"#, count: 2))
        try weston.xdotool("keyup z")
        let rest = try weston.program.lines(to: "up")
        #expect(rest.dropLast().allSatisfy { $0 == #"again character("z") []"# } && rest.last == #"up character("z")"#)
        try weston.xdotool("key ctrl+c")
        #expect(try weston.program.lines(to: "terminate").last == "terminate")
        #expect(weston.program.end().status == 0)
    }

    /// So many lines about keys.
    private func keys(_ weston: Weston, _ count: Int) throws -> [String] {
        try weston.program.lines(count) { line in ["down", "again", "up"].contains(where: line.hasPrefix) }
    }

    @Test func `A compositor that is stopped while a key is held has the key not repeated`() throws {
        let weston = try Weston("echo beats", hasInput: true)
        try weston.xdotool("keydown z")
        #expect(try keys(weston, 2).last == #"again character("z") []"#)
        kill(weston.compositor.identifier, SIGSTOP)
        // Repeats of before may still be unread: they have stopped when three beats follow each other. With the
        // compositor's rate, each 100 ms would have four.
        var beats = 0
        for _ in 0..<1000 where beats < 3 { beats = try weston.program.lines(1)[0] == "beat" ? beats + 1 : 0 }
        #expect(beats == 3)
        kill(weston.compositor.identifier, SIGCONT)
    }

    @Test func `A window on a compositor has as many cells as fit and shows its content`() throws {
        let weston = try Weston("echo", hasInput: true)
        let client = try Client(of: weston.display)
        // The compositor's shell fills its output of 640 by 480 pixels with the window.
        let (columns, rows) = try weston.size()
        #expect(columns > 40 && rows > 10)
        let (cellWidth, cellHeight) = ((640 / columns).rounded(.down), (480 / rows).rounded(.down))
        func color(_ pixels: [UInt32], _ column: Double, _ row: Double) -> UInt32? {
            let index = Int(row * cellHeight) * 800 + Int(column * cellWidth)
            return pixels.indices.contains(index) ? pixels[index] : nil
        }
        var pixels: [UInt32] = []
        for _ in 0..<3_000 {
            pixels = client.pixels()
            if color(pixels, columns - 0.5, 6.5) == 0x61A6EA { break }
            usleep(10_000)
        }
        #expect(color(pixels, 4, 4) == 0xC81E3C)
        #expect(color(pixels, columns - 0.5, 6.5) == 0x61A6EA && color(pixels, 39.5, 6.5) == 0x16181D)
        // The background beside the last cell, in the compositor's own picture.
        #expect(color(pixels, columns + 0.1, 2) == 0x16181D || columns * cellWidth == 640)
        // The letters of the first line.
        let letters = (2...7).flatMap { column in
            stride(from: Double(column), to: Double(column + 1), by: 1 / cellWidth).map { color(pixels, $0, 1.5) }
        }
        #expect(Set(letters).count > 2)
    }

    @Test func `Clicks on a compositor have positions in fractions of a cell, and the wheel reports notches`() throws {
        let weston = try Weston("echo", hasInput: true)
        let (columns, rows) = try weston.size()
        let (cellWidth, cellHeight) = ((640 / columns).rounded(.down), (480 / rows).rounded(.down))
        func place(_ x: Double, _ y: Double) -> String { "\(x / cellWidth) \(y / cellHeight)" }
        func lines(_ count: Int) throws -> [String] {
            try weston.program.lines(count) { line in
                !["inactive", "active", "size"].contains(where: line.hasPrefix)
            }
        }
        try weston.xdotool("mousemove 33 44 click 1 keydown ctrl click 3 keyup ctrl")
        #expect(
            try lines(4) == [
                "began 0 at \(place(33, 44)) []", "ended 0 at \(place(33, 44))",
                "began 2 at \(place(33, 44)) [control]", "ended 2 at \(place(33, 44))",
            ])
        try weston.xdotool("mousedown 1 mousemove 40 50 mousemove 400 60 mouseup 1")
        let drag = try weston.program.lines(to: "ended")
        #expect(drag.first == "began 0 at \(place(33, 44)) []" && drag.last == "ended 0 at \(place(400, 60))")
        #expect(drag.contains("moved 0 at \(place(400, 60))"))
        try weston.xdotool("click 4")
        #expect(try lines(1) == ["wheel 0.0 -1.0"])
        try weston.xdotool("click 7")
        #expect(try lines(1) == ["wheel 1.0 0.0"])
    }

    @Test
    func
        `Text is copied from one program to another by the compositor's clipboard, and a stopped owner stops nobody else`()
        throws
    {
        let weston = try Weston("echo", hasInput: true)
        // Nothing is on the clipboard yet.
        try weston.xdotool("key ctrl+shift+v F2")
        _ = try weston.program.lines(to: "up function(2)")
        // The program's own text.
        try weston.xdotool("key ctrl+shift+v")
        #expect(try weston.program.lines(to: "paste").last == "paste from the program ß")
        // The compositor shows the new window over the other, and gives it the keys.
        let other = try Weston.run("echo wayland", in: weston.folder)
        _ = try other.lines(to: "shown")
        #expect(try weston.program.lines(to: "inactive").last == "inactive")
        for shortcut in ["ctrl+shift+v", "shift+Insert"] {
            try weston.xdotool("key \(shortcut)")
            #expect(try other.lines(to: "paste").last == "paste from the program ß")
        }
        kill(weston.program.identifier, SIGSTOP)
        try weston.xdotool("key ctrl+shift+v a")
        #expect(try other.lines(to: "up").last == #"up character("a")"#)
        kill(weston.program.identifier, SIGCONT)
        #expect(try other.lines(to: "paste").last == "paste from the program ß")
        kill(other.identifier, SIGTERM)
        _ = other.end()
    }

    @Test func `The compositor receives the title, the program's name and the rectangles of changed cells`() throws {
        let folder = TemporaryDirectory()
        let log = folder.path("requests")
        let weston = try Weston("echo", hasInput: true, variables: "WAYLAND_DEBUG=client 2>'\(log)'")
        try weston.xdotool("key Right")
        #expect(try weston.program.lines(to: "up").last == "up right")
        kill(weston.program.identifier, SIGTERM)
        _ = weston.program.end()
        let requests = try #require(linesOfFile(log))
        #expect(requests.contains { $0.hasSuffix(#".set_title("Scene echo ☀")"#) })
        #expect(requests.contains { $0.hasSuffix(#".set_app_id("LoopUIWindowPrograms")"#) })
        let damage = requests.filter { $0.contains(".damage(") }
        // The pointer's arrow, and whole pictures of each size.
        #expect(damage.contains { $0.hasSuffix(".damage(0, 0, 640, 480)") })
        // The text of the last input is in the second row, and the cursor in the third.
        let last = try #require(damage.last?.split(separator: "(").last?.dropLast())
        let numbers = last.split(separator: ", ").compactMap { Int($0) }
        #expect(numbers.count == 4 && numbers[3] < 40 && numbers[2] < 320, "\(last)")
    }
}

/// The lines of a file's first MiB.
private func linesOfFile(_ path: String) -> [Substring]? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 20) { buffer, count in
        count = fread(buffer.baseAddress, 1, buffer.count, file)
    }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
}
#endif
