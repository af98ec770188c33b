// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Wayland in a run loop: the compositor's globals, answers that the loop dispatches, a blocking round trip in a timer,
// and another thread with a queue of its own on the same connection.

import CWayland
import Glibc
import RunLoops
import RunLoopsEvents

@main struct WaylandExample {
    static func main() throws {
        let before = try Rest.countDescriptors()
        try show()
        print("descriptors left open: \(try Rest.countDescriptors() - before)")
    }

    private static func show() throws {
        let loop = RunLoop.current
        guard let display = try Display() else { return print("no compositor") }
        let session = Session(display)
        let other = OtherThread(display)
        var trips = 0
        let timer = RunLoop.Timer(.every(.milliseconds(2))) { timer in
            // A callout of the loop may wait for an answer too.
            if wl_display_roundtrip(display.pointer) >= 0 { trips += 1 }
            if trips <= 100 { session.ask() }
            guard session.answers >= 100, other.isDone else { return }
            timer.invalidate()
            loop.stop()
        }
        loop.add(timer, in: .default)
        let result = loop.run(in: .default, for: .seconds(600))
        print(
            "run: \(result), answers: \(session.answers), round trips in the timer: \(trips >= 100 ? "each" : "\(trips)")"
        )
        for name in ["wl_compositor", "wl_shm"] { print("\(name): \(session.globals.contains(name))") }
        print("round trips of another thread: \(other.join())")
        print("wake-ups in a quiet second: \(Rest.countWakes())")
    }
}
