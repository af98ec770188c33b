// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Xlib in a run loop: a window that counts its events, a timer beside it, and a round trip in the timer.

import CX11
import Glibc
import RunLoops
import RunLoopsEvents

/// A display in the current thread's loop.
final class Display {
    let pointer: OpaquePointer
    private var source: PollSource?

    init?(_ handle: @escaping (XEvent) -> Void) throws {
        guard let display = XOpenDisplay(nil) else { return nil }
        pointer = display
        source = try PollSource(label: "X11") { wait in
            wait.descriptors = [pollfd(fd: XConnectionNumber(display), events: Int16(POLLIN), revents: 0)]
            // Each call that waits for an answer reads events into Xlib's own queue, where the descriptor does not show
            // them. XPending also sends what was drawn.
            wait.limit = XPending(display) > 0 ? .zero : nil
        } dispatch: { _ in
            // Events that come meanwhile wait for the next turn: other items have their turn too.
            for _ in 0..<XPending(display) {
                var event = XEvent()
                XNextEvent(display, &event)
                handle(event)
            }
        }
    }

    deinit {
        source?.invalidate()
        XCloseDisplay(pointer)
    }
}

@main struct X11Example {
    static func main() throws {
        let before = try Rest.countDescriptors()
        try show()
        print("descriptors left open: \(try Rest.countDescriptors() - before)")
    }

    private static func show() throws {
        var counts: [CInt: Int] = [:]
        let loop = RunLoop.current
        let display = try Display { event in
            counts[event.type, default: 0] += 1
            if event.type == PropertyNotify, counts[PropertyNotify] == 50 { loop.stop() }
        }
        guard let display else { return print("no display") }
        let window = XCreateSimpleWindow(
            display.pointer, XDefaultRootWindow(display.pointer), 0, 0, 200, 100, 0, 0, 0xFFFFFF)
        XSelectInput(display.pointer, window, ExposureMask | StructureNotifyMask | PropertyChangeMask)
        XMapWindow(display.pointer, window)

        var changes = 0
        let timer = RunLoop.Timer(.every(.milliseconds(5))) { timer in
            changes += 1
            XChangeProperty(
                display.pointer, window, XA_WM_NAME, XA_STRING, 8, PropModeReplace, "title", CInt(changes % 5 + 1))
            // The answer brings the event with it, and leaves the descriptor silent.
            XSync(display.pointer, 0)
            if changes == 50 { timer.invalidate() }
        }
        loop.add(timer, in: .default)
        let result = loop.run(in: .default, for: .seconds(600))
        print("run: \(result), title changed \(changes) times")
        print("MapNotify: \(counts[MapNotify] ?? 0), Expose: \(counts[Expose] ?? 0)", terminator: ", ")
        print("PropertyNotify: \(counts[PropertyNotify] ?? 0)")
        print("wake-ups in a quiet second: \(Rest.countWakes())")
    }
}
