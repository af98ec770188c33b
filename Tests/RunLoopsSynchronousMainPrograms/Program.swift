// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// A program with a synchronous main. The first argument says what runs the main actor, the second which scene is
// played.

import RunLoops
import RunLoopsConcurrency
import RunLoopsConcurrencyScenes

@main struct Program {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        let scene = arguments.last ?? ""
        switch arguments.first {
        case "queue": RunLoop.runMain { try await Scenes.play(scene) }
        case "loop": RunLoop.runMain(mainExecutor: .runLoop) { try await Scenes.play(scene) }
        case "late loop":
            // Jobs of the main actor wait on the main queue when it is replaced.
            Task { @MainActor in say("put in before") }
            RunLoop.runMain(mainExecutor: .runLoop) { try await Scenes.play(scene) }
        case "loop, taken":
            Hooks.take("swift_task_getMainExecutor_hook")
            RunLoop.runMain(mainExecutor: .runLoop) {}
        default: print("what?")
        }
    }
}
