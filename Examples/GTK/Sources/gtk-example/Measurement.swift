// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CGTK
import RunLoops

/// `--measure`: how long a hop to the main actor takes to reach the window, and what an idle window costs.
@MainActor
final class Measurement {
    private let window: Window
    private let picture: String?
    private let end: @MainActor (Bool) -> Void

    init(_ window: Window, picture: String?, end: @escaping @MainActor (Bool) -> Void) {
        self.window = window
        self.picture = picture
        self.end = end
    }

    func run() async throws {
        // The first frames are GTK's.
        try await Task.sleep(for: .seconds(1))
        let isClicked = try await click()
        if let picture, !window.savePicture(picture) { print("no picture could be saved") }
        let hops = try await measureHops(200)
        window.stopClock()
        Handler.countSleeps(seconds: 5) { [end] count in
            print("wake-ups of the main thread while the window idles 5 s: \(count)")
            end(isClicked && hops == 200 && count == 0)
        }
    }

    /// Clicks the button and waits for what the task says.
    private func click() async throws -> Bool {
        window.click()
        for _ in 0..<3000 {
            if window.statusText.hasPrefix("The task has added up") {
                print("button: \(window.statusText)")
                return true
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        print("button: nothing came of it")
        return false
    }

    /// From another thread into the window, which sleeps each time.
    private func measureHops(_ count: Int) async throws -> Int {
        let delays = try await Task.detached { [window] in
            var delays: [Duration] = []
            for number in 1...count {
                try await Task.sleep(for: .milliseconds(7))
                let left = RunLoop.Instant.now
                delays.append(
                    await MainActor.run {
                        let delay = left.duration(to: .now)
                        window.statusText = "Hop \(number)"
                        return delay
                    })
            }
            return delays.sorted()
        }.value
        func text(_ delay: Duration) -> String { "\(Int(delay / .microseconds(1))) µs" }
        print(
            "hop to the main actor, \(count) times: median \(text(delays[count / 2])),",
            "99 % within \(text(delays[count * 99 / 100])), longest \(text(delays[count - 1]))")
        return delays.count
    }
}

/// `--handler`: how long work waits that the button's handler gives to the main thread's loops, and what an idle window costs.
@MainActor
final class HandlerMeasurement {
    private let window: Window
    private let end: @MainActor (Bool) -> Void

    init(_ window: Window, end: @escaping @MainActor (Bool) -> Void) {
        self.window = window
        self.end = end
    }

    func start() {
        window.stopClock()
        window.clicked = { Handler.click() }
        // The first frames are GTK's.
        after(1000) { [self] in clickAgain() }
    }

    private func clickAgain() {
        if Handler.hasAllClicks { return finish() }
        window.click()
        after(100) { [self] in clickAgain() }
    }

    private func finish() {
        let isServed = Handler.report()
        Handler.countSleeps(seconds: 5) { [end] count in
            print("sleeps of the main thread in 5 s at rest: \(count)")
            end(isServed && count == 0)
        }
    }
}

/// Calls a closure later, by a timeout of GLib's.
@MainActor
private func after(_ milliseconds: guint, _ body: @escaping @MainActor () -> Void) {
    let data = Unmanaged.passRetained(Body(body)).toOpaque()
    g_timeout_add_full(
        G_PRIORITY_DEFAULT, milliseconds,
        { data in
            // SAFETY: the body that is passed below; called on the main thread, which runs GTK.
            let body = Unmanaged<Body>.fromOpaque(data.unsafelyUnwrapped).takeUnretainedValue()
            MainActor.assumeIsolated { body.run() }
            return 0
        }, data, { Unmanaged<Body>.fromOpaque($0.unsafelyUnwrapped).release() })
}

/// A closure as GLib's user data.
private final class Body {
    let run: @MainActor () -> Void
    init(_ run: @escaping @MainActor () -> Void) { self.run = run }
}
