// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CGTK
import RunLoops

/// A window with a clock that a run loop's timer drives, and a button that starts a task on the main actor.
@MainActor
final class Window {
    private let window: UnsafeMutablePointer<GtkWidget>
    private let clock: UnsafeMutablePointer<GtkWidget>
    private let status: UnsafeMutablePointer<GtkWidget>
    private let button: UnsafeMutablePointer<GtkWidget>
    private let started = RunLoop.Instant.now
    private var timer: RunLoop.Timer?
    /// The button's handler.
    lazy var clicked: () -> Void = { [unowned self] in startTask() }

    init(_ application: UnsafeMutablePointer<GtkApplication>) {
        window = ex_window(application, "swift-run-loops under GTK", 360, 180)
        clock = gtk_label_new(nil)
        status = gtk_label_new("No task has run yet.")
        button = gtk_button_new_with_label("Start a task on the main actor")
        let column = ex_column()
        for widget in [clock, button, status] { ex_append(column, widget) }
        let clicked: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
            // SAFETY: the window that is passed below, which lives as long as its button.
            let window = Unmanaged<Window>.fromOpaque(data.unsafelyUnwrapped).takeUnretainedValue()
            // GTK calls back on the thread that runs it.
            MainActor.assumeIsolated { window.clicked() }
        }
        g_signal_connect_data(
            button, "clicked", unsafeBitCast(clicked, to: GCallback.self), Unmanaged.passUnretained(self).toOpaque(),
            nil, GConnectFlags(0))
        ex_window_show(window, column)
        startClock()
    }

    /// What the lower label says.
    var statusText: String {
        get { String(cString: ex_label_text(status)) }
        set { ex_label_set(status, newValue) }
    }

    // MARK: The timer

    func startClock() {
        showTime()
        let timer = RunLoop.Timer.mainActor(.every(.milliseconds(100)), tolerance: .milliseconds(10)) { [weak self] _ in
            self?.showTime()
        }
        RunLoop.main.add(timer, in: .default)
        self.timer = timer
    }

    func stopClock() { timer?.invalidate() }

    private func showTime() {
        let count = Int(started.duration(to: .now) / .milliseconds(100))
        ex_label_set(clock, "A timer of the run loop: \(count / 10).\(count % 10) s")
    }

    // MARK: The task

    private func startTask() {
        statusText = "The task is at work …"
        Task {
            // Off the main actor, and back on it: the window stays alive, and hears of it at once.
            let sum = await Task.detached { (1...1_000_000).reduce(0, &+) }.value
            try await Task.sleep(for: .milliseconds(50))
            statusText = "The task has added up to \(sum)."
        }
    }

    // MARK: For the measurement

    func click() { ex_click(button) }

    func savePicture(_ path: String) -> Bool { ex_save_picture(window, path) != 0 }
}
