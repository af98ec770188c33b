// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// A program with an async main, which keeps its thread by the one line. The first argument says which scene is played.

import RunLoops
import RunLoopsConcurrency
import RunLoopsConcurrencyScenes

@main struct Program {
    static func main() async throws {
        let scene = CommandLine.arguments.dropFirst().first ?? ""
        if scene == "late" {
            // Sleeps off the main actor, so that main is certainly suspended.
            try await Task.detached { try await Task.sleep(for: .milliseconds(20)) }.value
        }
        if scene == "executor is taken" { Hooks.take("swift_task_enqueueMainExecutor_hook") }
        if scene == "forgotten" || scene == "forgotten until later" { return await Forgetful.play(scene) }
        if scene == "hook is taken" { Hooks.take("swift_task_asyncMainDrainQueue_hook") }
        RunLoop.adoptMain()
        RunLoop.adoptMain()
        try await Scenes.play(scene)
    }
}
