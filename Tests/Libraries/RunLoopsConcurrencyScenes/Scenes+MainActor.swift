// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import RunLoops
import RunLoopsConcurrency

extension Scenes {
    /// Everything that runs on the main thread may assume the main actor, and code of the main actor the main queue.
    @MainActor static func isolation() async {
        MainActor.preconditionIsolated()
        dispatchPrecondition(condition: .onQueue(.main))
        say("job")
        await next { resume in
            DispatchQueue.main.async {
                dispatchPrecondition(condition: .onQueue(.main))
                MainActor.assumeIsolated { say("queue") }
                resume()
            }
        }
        await next { resume in
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(2)) {
                DispatchQueue.main.sync { MainActor.assumeIsolated { say("queue, waited for") } }
                resume()
            }
        }
        await next { resume in
            let timer = RunLoop.Timer.sendable(.after(.zero)) { _ in
                MainActor.preconditionIsolated()
                MainActor.assumeIsolated { say("timer") }
                resume()
            }
            RunLoop.main.add(timer, in: .common)
        }
        await next { resume in
            RunLoop.main.perform {
                dispatchPrecondition(condition: .onQueue(.main))
                MainActor.assumeIsolated { say("block") }
                resume()
            }
        }
        let isolated = await Task.detached { await onMain() }.value
        say("from elsewhere: \(isolated)")
    }

    /// What the main actor runs on, and what that brings.
    @MainActor static func executor() async throws {
        say("the loop's own: \(isOnLoop)")
        // Both wait while this goes on; the later one is more urgent.
        let low = Task(priority: .background) { say("background") }
        let high = Task(priority: .high) { say("high") }
        await low.value
        await high.value
        // A flood of jobs does not keep a timer waiting.
        let flood = Flood()
        RunLoop.main.add(.mainActor(.after(.milliseconds(2))) { _ in flood.isOver = true }, in: .common)
        while !flood.isOver { await Task.yield() }
        say("the timer fired in a flood of jobs")
        // An actor that is bound to the main loop, from the main actor and back.
        let bound = Bound()
        say("bound: \(await bound.isOnMain())")
    }

    /// A run that is nested in a job of the main actor serves the main queue only if that is not what the job is on.
    @MainActor static func nestedInJob() async {
        // Certainly in a job of its own.
        await Task { @MainActor in
            Task { say("task") }
            // Where the run serves the queue, the queue ends it, however late; elsewhere the run gets some time to show that
            // it does not.
            let endsByQueue = isOnLoop
            DispatchQueue.main.async {
                MainActor.assumeIsolated {
                    say("queue")
                    if endsByQueue { RunLoop.main.stop() }
                }
            }
            if !endsByQueue {
                RunLoop.main.add(.mainActor(.after(.milliseconds(20))) { _ in RunLoop.main.stop() }, in: .default)
            }
            say("nested: \(runMainLoop())")
        }.value
        await Task.yield()
        await next { resume in DispatchQueue.main.async { resume() } }
    }
}

/// Whether the main actor runs on the main loop's own executor.
@MainActor private var isOnLoop: Bool {
    words(RunLoop.main.executor.asUnownedSerialExecutor()) == words(MainActor.shared.unownedExecutor)
}

/// Waits for what `start` begins.
@MainActor private func next(_ start: (@escaping @Sendable () -> Void) -> Void) async {
    await withCheckedContinuation { continuation in start { continuation.resume() } }
}

/// For async functions, which may not run a loop themselves.
@MainActor private func runMainLoop() -> RunLoop.RunResult { RunLoop.main.run(in: .default, for: .seconds(300)) }

@MainActor private func onMain() -> Bool {
    MainActor.preconditionIsolated()
    return SystemCalls.threadID == getpid()
}

@MainActor private final class Flood {
    var isOver = false
}

private actor Bound: RunLoopActor {
    nonisolated let runLoopExecutor = RunLoop.main.executor

    func isOnMain() -> Bool {
        MainActor.preconditionIsolated()
        return SystemCalls.threadID == getpid()
    }
}

private func words(_ executor: UnownedSerialExecutor) -> SIMD2<UInt> {
    // SAFETY: the object's address and its conformance, to be compared.
    unsafeBitCast(executor, to: SIMD2<UInt>.self)
}
