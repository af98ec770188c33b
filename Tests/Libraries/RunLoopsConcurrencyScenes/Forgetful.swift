// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsConcurrency

/// An async main without `RunLoop.adoptMain()`.
public enum Forgetful {
    /// Waits for the main loop, which nobody runs.
    @MainActor public static func play(_ scene: String) async {
        if scene == "forgotten" {
            RunLoop.main.add(.mainActor(.every(.milliseconds(1)), label: "never") { _ in print("fires") }, in: .default)
        } else {
            // Away from the main thread, so that it is certainly given away.
            await Task.detached { try? await Task.sleep(for: .milliseconds(20)) }.value
        }
        for await _ in RunLoop.main.ticks(every: .milliseconds(1)) { print("ticks") }
        print("the end of the ticks")
    }
}
