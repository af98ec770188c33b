// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CQt
import RunLoops

/// The window: a timer of the run loop shows the time, and the button starts a task on the main actor.
@MainActor
final class Screen {
    private var timer: RunLoop.Timer?
    private var ticks = 0
    private var ticksInDialog = 0
    /// How many descriptors are open after the first dialog, for which Qt opens files, and Dispatch its own descriptors.
    private(set) var descriptorsAfterDialog: Int?

    func show() {
        ex_window_show(
            "swift-run-loops under Qt",
            { MainActor.assumeIsolated { screen.startTask() } },
            { key in MainActor.assumeIsolated { if key == CChar(UInt8(ascii: "q")) { screen.end() } } })
        startTime()
    }

    // MARK: The handler

    /// Whether the work of the handler was done in time, and the window rests.
    private(set) var isHandlerServed = false

    /// Shows the window with a handler that gives work to the loops, and clicks.
    func showHandler() {
        ex_window_show("swift-run-loops under Qt", { MainActor.assumeIsolated { Handler.click() } }, { _ in })
        // The first frames are Qt's.
        ex_after(1000) { MainActor.assumeIsolated { screen.clickAgain() } }
    }

    private func clickAgain() {
        if Handler.hasAllClicks { return finishHandler() }
        ex_window_click()
        ex_after(100) { MainActor.assumeIsolated { screen.clickAgain() } }
    }

    private func finishHandler() {
        let isServed = Handler.report()
        Handler.countSleeps(seconds: 5) { [self] count in
            say("sleeps of the main thread in 5 s at rest: \(count)")
            isHandlerServed = isServed && count == 0
            ex_application_quit()
        }
    }

    // MARK: The time

    private func startTime() {
        let timer = RunLoop.Timer.mainActor(.every(.milliseconds(100)), tolerance: .milliseconds(10)) { [weak self] _ in
            self?.tick()
        }
        RunLoop.main.add(timer, in: .common)
        self.timer = timer
    }

    private func tick() {
        ticks += 1
        ex_window_set_time("A timer of the run loop: tick \(ticks)")
        if ticks == 10 { say("timer: 10 ticks") }
    }

    // MARK: A task, and a dialog

    private func startTask() {
        ex_window_set_news("The task is at work, and the time stands still …")
        timer?.invalidate()
        Task {
            // Off the main actor, and back on it.
            let sum = await Task.detached { (1...1_000_000).reduce(0, &+) }.value
            ex_window_set_news("The task has added up to \(sum).")
            say("click: the task has added up to \(sum)")
            runDialog()
            startTime()
        }
    }

    /// Runs Qt's event loop inside a callout of the run loop, which goes on in the dialog as a guest.
    private func runDialog() {
        ticksInDialog = 0
        // Made in the callout: nothing but Qt's signal before it waits shows the loop that it has to wait for this timer.
        let countdown = RunLoop.Timer.mainActor(.every(.milliseconds(100))) { [weak self] timer in
            guard let self else { return }
            ticksInDialog += 1
            guard ticksInDialog == 5 else { return }
            timer.invalidate()
            ex_dialog_close()
        }
        RunLoop.main.add(countdown, in: .common)
        ex_dialog_run("Five ticks of the run loop close this dialog.")
        countdown.invalidate()
        say("dialog: \(ticksInDialog) ticks in it")
        if descriptorsAfterDialog == nil { descriptorsAfterDialog = openDescriptors() }
    }

    // MARK: The end

    /// Stops the timer, counts how often the main thread wakes in a second in which nothing happens, and ends.
    private func end() {
        say("key: the timer stops")
        timer?.invalidate()
        Handler.countSleeps(seconds: 1) { count in
            say("at rest: the main thread has woken \(count) times in a second")
            RunLoop.main.perform { RunLoop.main.stop() }
        }
    }
}
