// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// An async main whose main actor stays on the main thread, and whose main loop runs.

import Dispatch
import Glibc
import RunLoops
import RunLoopsConcurrency

@main struct Program {
    static func main() async throws {
        RunLoop.adoptMain()
        print("before the await, main is on \(thread())")
        let timer = RunLoop.Timer.mainActor(.after(.milliseconds(10))) { _ in print("the timer fires on \(thread())") }
        RunLoop.main.add(timer, in: .common)
        DispatchQueue.main.async { print("the main queue is served on \(thread())") }
        try await Task.sleep(for: .milliseconds(200))
        print("after the await, main is on \(thread())")
    }
}

/// The thread that asks first, which is in `main` before its await.
let mainThread = pthread_self()

func thread() -> String {
    pthread_equal(pthread_self(), mainThread) != 0 ? "the main thread" : "another thread"
}
