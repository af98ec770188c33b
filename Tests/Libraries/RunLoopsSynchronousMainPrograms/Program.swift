// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// A program with a synchronous main. The first argument says what runs the main actor, the second which scene is
// played.

import Glibc
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
        case "without descriptors": runOut(left: CInt(scene) ?? 0)
        default: print("what?")
        }
    }

    /// Uses and runs the main loop for the first time in a process that can open `left` descriptors more.
    private static func runOut(left: CInt) {
        // The numbers that are open may have gaps: which ones a program inherits is its starter's affair.
        let next = (0...left).map { _ in dup(STDIN_FILENO) }
        for number in next { close(number) }
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let former = limit.rlim_cur
        limit.rlim_cur = rlim_t(next[next.count - 1])
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        RunLoop.main.perform { RunLoop.main.stop() }
        print("has run: \(RunLoop.main.run(in: .default, for: .seconds(300)))")
        // What looks for leaks at the end needs descriptors.
        limit.rlim_cur = former
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
