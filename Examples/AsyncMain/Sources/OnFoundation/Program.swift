// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// A timer of Foundation's main loop, in a program with an async main.

import Foundation

@main struct Program {
    static func main() async throws {
        print("before the await, main is on \(thread())")
        let timer = Timer(timeInterval: 0.01, repeats: false) { _ in print("the timer fires on \(thread())") }
        RunLoop.main.add(timer, forMode: .common)
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
