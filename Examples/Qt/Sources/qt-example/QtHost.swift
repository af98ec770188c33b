// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CQt
import RunLoops

/// The main run loop as a guest of Qt's event loop: Qt waits for the loop's descriptor beside its own.
///
/// The descriptor covers the loop's timers, so the host needs no timer of Qt's, and no thread.
enum QtHost {
    /// Begins; ends when the application is deleted.
    static func start() throws(RunLoop.SystemCallError) {
        ex_watch(
            try RunLoop.main.pollDescriptor, { QtHost.serve() },
            // What was left for the loop without a wake-up does not show at the descriptor. Neither does anything while a
            // callout of the loop runs a dialog: here Qt says that it is about to wait in there.
            { while RunLoop.main.prepareToPoll() { QtHost.serve() } })
    }

    private static func serve() {
        // A stop in a callout ends the loop's own run, and so here the run of its host.
        if RunLoop.main.runReady() == .stopped { ex_application_quit() }
    }
}
