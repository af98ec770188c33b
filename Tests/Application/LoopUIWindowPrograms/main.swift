// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// A program whose window the tests drive. It says on standard output what comes in and what the loop does.

#if Window
import Glibc
import LoopUI
import LoopUIWindow
import RunLoops
import RunLoopsKit

@MainActor func say(_ text: String) {
    let line = Array((text + "\n").utf8)
    _ = write(STDOUT_FILENO, line, line.count)
}

/// Says what comes to it, and shows the last of it.
final class Echo: View {
    private var last = "ready"
    private var column = 0.0

    override var canBecomeFirstResponder: Bool { true }
    override var cursor: Point? { Point(column, 2) }

    private func note(_ text: String) {
        last = text
        say(text)
        setNeedsDisplay()
    }

    override func draw(in canvas: inout Canvas) {
        canvas.border(canvas.bounds, .rounded, style: Style(.blue))
        canvas.write(last, at: Point(2, 1))
        canvas.fill(Rect(2, 3, 4, 2), style: Style(on: .rgb(200, 30, 60)))
    }

    override func layoutSubviews() { say("size \(frame.width) \(frame.height)") }

    private func place(_ touches: Set<Touch>) -> String {
        guard let touch = touches.first else { return "nowhere" }
        let point = touch.location(in: self)
        return "\(touch.identifier) at \(point.x) \(point.y)"
    }

    override func touchesBegan(_ touches: Set<Touch>, with event: Event?) {
        note("began \(place(touches)) \(modifiers(event?.modifiers ?? []))")
    }
    override func touchesMoved(_ touches: Set<Touch>, with event: Event?) { note("moved \(place(touches))") }
    override func touchesEnded(_ touches: Set<Touch>, with event: Event?) { note("ended \(place(touches))") }
    override func touchesCancelled(_ touches: Set<Touch>, with event: Event?) { note("cancelled \(place(touches))") }

    override func wheelTurned(_ wheel: Wheel, with event: Event?) {
        note("wheel \(wheel.notches.x) \(wheel.notches.y)")
    }

    override func pasted(_ paste: Paste, with event: Event?) { note("paste \(paste.text)") }

    override func pressesBegan(_ presses: Set<Press>, with event: Event?) {
        for press in presses {
            let phase = press.phase == .repeated ? "again" : "down"
            note("\(phase) \(press.key) \(modifiers(press.modifiers))")
            if press.key == .right { column += 1 }
            if press.key == .function(2) { Pasteboard.general.text = "from the program ß" }
        }
        super.pressesBegan(presses, with: event)
    }

    override func pressesCancelled(_ presses: Set<Press>, with event: Event?) {
        for press in presses { note("gone \(press.key)") }
    }

    override func pressesEnded(_ presses: Set<Press>, with event: Event?) {
        for press in presses { note("up \(press.key)") }
    }

    private func modifiers(_ modifiers: KeyModifiers) -> String {
        let names: [(KeyModifiers, String)] = [
            (.shift, "shift"), (.control, "control"), (.alt, "alt"), (.command, "command"),
        ]
        return "[" + names.filter { modifiers.contains($0.0) }.map(\.1).joined(separator: " ") + "]"
    }
}

/// Changes all of its cells as often as it can, and counts.
final class Ticker: View {
    private var count = 0
    private var timer: RunLoop.Timer?
    private var turn: RunLoop.Instant?
    /// The longest time in which the loop did not sleep, in milliseconds, since the last line.
    private var longest = 0.0

    override func didMoveToWindow() {
        let observer = RunLoop.Observer([.afterWaiting, .beforeWaiting], order: .max) { [self] _, activity in
            let now = RunLoop.Instant.now
            if activity == .afterWaiting {
                turn = now
                return
            }
            if let turn { longest = max(longest, turn.duration(to: now) / .milliseconds(1)) }
        }
        RunLoop.current.add(observer, in: .common)
        let timer = RunLoop.Timer(.after(.milliseconds(10), every: .milliseconds(10))) { [weak self] _ in self?.tick() }
        RunLoop.current.add(timer, in: .common)
        self.timer = timer
    }

    private func tick() {
        count += 1
        setNeedsDisplay()
        if count % 10 == 0 {
            let counts = Application.current?.commit.counts
            say(
                "tick \(count) frames \(counts?.frames ?? 0) refusals \(counts?.refusals ?? 0) busy \(Int(longest)) ms")
            longest = 0
        }
    }

    override func draw(in canvas: inout Canvas) {
        for row in 0..<Int(canvas.size.height) {
            let text = String(repeating: String(count), count: 80)
            canvas.write(text, at: Point(0, Double(row)), style: Style(.palette(UInt8((count + row) % 256))))
        }
    }
}

/// Counts how often the loop wakes up while nothing happens.
final class Idle: View {
    private var wakeUps = 0

    override func draw(in canvas: inout Canvas) { canvas.write("idle", at: Point(1, 1)) }

    func begin(after delay: Duration, lasting duration: Duration) {
        let start = RunLoop.Timer(.after(delay)) { [self] _ in
            let observer = RunLoop.Observer(.afterWaiting) { [self] _, _ in wakeUps += 1 }
            RunLoop.current.add(observer, in: .common)
            let end = RunLoop.Timer(.after(duration)) { [self] _ in
                // The last one is the timer's own.
                say("wake-ups \(wakeUps - 1)")
                Application.current?.terminate()
            }
            RunLoop.current.add(end, in: .common)
        }
        RunLoop.current.add(start, in: .common)
    }
}

/// Moves a block for two seconds, is busy meanwhile, and says how many frames came.
final class Moving: View {
    func begin() {
        let block = View(frame: Rect(0, 2, 4, 2))
        block.backgroundColor = .red
        addSubview(block)
        View.animate(
            withDuration: .seconds(2), animations: { block.frame.origin.x = 30 },
            completion: { finished in
                guard let application = Application.current else { return }
                let (frames, missed) = (application.screenFrames, application.commit.counts.missedFrames)
                let source = frames.isInStep ? "screen" : "grid"
                say("frames \(frames.delivered) missed \(missed) by \(source) finished \(finished)")
            })
        let busy = RunLoop.Timer(.after(.seconds(1))) { _ in usleep(200_000) }
        RunLoop.current.add(busy, in: .common)
    }
}

/// Counts frames for two seconds by both kinds of links, and is busy meanwhile.
final class Linked: View {
    private var ofScreen: DisplayLink?
    private var ofGrid: RunLoop.DisplayLink?

    func begin() {
        guard let application = Application.current else { return }
        ofScreen = DisplayLink(for: application) { [self] frame in
            guard let ofScreen, let ofGrid, ofScreen.delivered + ofScreen.skipped >= 120 else { return }
            ofScreen.invalidate()
            ofGrid.invalidate()
            say(
                "link \(ofScreen.delivered) skipped \(ofScreen.skipped) by \(frame.isOfScreen ? "screen" : "grid") "
                    + "kit \(ofGrid.delivered) skipped \(ofGrid.skipped)")
        }
        ofGrid = RunLoop.DisplayLink(framesPerSecond: 60) { _ in }
        let busy = RunLoop.Timer(.after(.seconds(1))) { _ in usleep(200_000) }
        RunLoop.current.add(busy, in: .common)
    }
}

final class Delegate: ApplicationDelegate {
    let scene = CommandLine.arguments.dropFirst().first ?? "echo"

    func applicationDidFinishLaunching(_ application: Application) {
        let controller = ViewController()
        controller.title = "Scene \(scene) ☀"
        switch scene {
        case "ticks": controller.view = Ticker()
        case "idle":
            let idle = Idle()
            controller.view = idle
            idle.begin(after: .seconds(1), lasting: .seconds(5))
        case "moving", "moving-by-grid": controller.view = Moving()
        case "link": controller.view = Linked()
        case "gallery": controller.view = Gallery()
        case "slow":
            // Before the display's own observer, which is the last.
            let observer = RunLoop.Observer(.beforeWaiting, order: .max - 1) { _, _ in usleep(50_000) }
            RunLoop.current.add(observer, in: .common)
            controller.view = Echo()
        default: controller.view = Echo()
        }
        let window = Window()
        window.rootViewController = controller
        window.makeKeyAndVisible()
        window.makeFirstResponder(controller.view)
        (controller.view as? Gallery)?.begin()
        (controller.view as? Moving)?.begin()
        (controller.view as? Linked)?.begin()
        if CommandLine.arguments.contains("beats") {
            let beat = RunLoop.Timer(.after(.milliseconds(100), every: .milliseconds(100))) { _ in say("beat") }
            RunLoop.current.add(beat, in: .common)
        }
        controller.view.setNeedsDisplay()
        application.commit.afterCommit { say("shown") }
    }
    func applicationDidBecomeActive(_ application: Application) { say("active") }
    func applicationWillResignActive(_ application: Application) {
        say("inactive")
        guard scene == "attention" else { return }
        // The application is inactive after this.
        RunLoop.current.performLocally { say("asked \(application.requestUserAttention())") }
    }
    func applicationDidEnterBackground(_ application: Application) { say("background") }
    func applicationWillEnterForeground(_ application: Application) { say("foreground") }
    func applicationWillTerminate(_ application: Application) { say("terminate") }
}

do {
    let scene = CommandLine.arguments.dropFirst().first ?? "echo"
    if CommandLine.arguments.contains("any") {
        // The program of somebody who leaves the choice to the library.
        try Application.runInWindow(Delegate.self, size: Size(40, 10))
        say("end")
        exit(0)
    }
    let size = scene == "gallery" ? Size(76, 21) : Size(40, 10)
    let theme: WindowTheme = CommandLine.arguments.contains("light") ? .light : .dark
    if CommandLine.arguments.contains("wayland") {
        let display = WaylandDisplay(size: size, theme: theme)
        display.usesScreenFrames = scene != "moving-by-grid"
        try Application.runInWindow(Delegate.self, display: display)
    } else {
        let display = WindowDisplay(size: size, theme: theme)
        display.usesScreenFrames = scene != "moving-by-grid"
        try Application.runInWindow(Delegate.self, display: display)
    }
    say("end")
} catch {
    say("error \(error)")
    exit(1)
}
#endif
