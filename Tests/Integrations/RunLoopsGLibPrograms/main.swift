// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if GLib
// What an application sees: GLib has the main thread, and everything of Swift's runs on it.

import CGLib
import Dispatch
import Glibc
import RunLoops
import RunLoopsGLib

@MainActor
final class Check {
    private let started = RunLoop.Instant.now
    private var arrived: [String] = []
    private let awaited = 6
    private let mainLoop = g_main_loop_new(nil, 0)
    private var sleeps = 0

    static let shared = Check()

    func arrives(_ name: String) {
        arrived.append(name)
        if arrived.count == awaited { g_main_loop_quit(mainLoop) }
    }

    private func after(_ seconds: guint, _ body: @escaping GSourceFunc) { g_timeout_add(seconds * 1000, body, nil) }

    func run() throws {
        let guest = try GLibGuest()
        defer { guest.invalidate() }
        RunLoop.main.add(.mainActor(.after(.milliseconds(20))) { _ in self.arrives("timer") }, in: .default)
        let source = RunLoop.Source.mainActor { _ in self.arrives("source") }
        RunLoop.main.add(source, in: .default)
        RunLoop.performOnMainActor { self.arrives("block") }
        DispatchQueue.main.async { MainActor.assumeIsolated { self.arrives("main queue") } }
        Task.detached {
            source.signal()
            RunLoop.main.wakeUp()
            await Check.shared.arrives("hop to the main actor")
        }
        Task {
            try await Task.sleep(for: .milliseconds(10))
            self.arrives("task after a sleep")
        }
        after(300) { _ in
            print("not all arrived within 300 s")
            exit(1)
        }
        g_main_loop_run(mainLoop)
        print("arrived:", arrived.joined(separator: ", "))
        try countIdle()
    }

    /// A second of nothing.
    private func countIdle() throws {
        g_main_context_set_poll_func(nil) { fds, count, timeout in
            MainActor.assumeIsolated { Check.shared.sleeps += 1 }
            return g_poll(fds, count, timeout)
        }
        after(1) { _ in
            MainActor.assumeIsolated { g_main_loop_quit(Check.shared.mainLoop) }
            return 0
        }
        g_main_loop_run(mainLoop)
        print("sleeps in an idle second: \(sleeps)")
        // One sleep until the end, and one sleep that GLib's quit before has ended by waking GLib.
        if sleeps > 2 { exit(1) }
    }
}

do {
    try Check.shared.run()
} catch {
    print(error)
    exit(1)
}
#else
fatalError("Built without the trait GLib: swift run --traits GLib RunLoopsGLibPrograms")
#endif
