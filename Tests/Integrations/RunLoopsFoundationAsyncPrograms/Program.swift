// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// An async main with Foundation's timers in it: not a line of it names this package.

import Foundation

/// Fires of a timer.
@MainActor private var fires = 0

/// A timer like those that libraries make.
@MainActor private func makeTimer() -> Timer {
    .scheduledTimer(withTimeInterval: 0.005, repeats: true) { _ in MainActor.assumeIsolated { fires += 1 } }
}

@main struct Program {
    @MainActor static func main() async throws {
        let timer = makeTimer()
        while fires < 5 { try await Task.sleep(for: .milliseconds(5)) }
        timer.invalidate()
        let seen = fires >= 5
        // A closure of another thread, awaited.
        let answer = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                RunLoop.main.perform { continuation.resume(returning: Thread.isMainThread) }
                // What wakes Foundation's loop: a timer that is due.
                RunLoop.main.add(Timer(timeInterval: 0, repeats: false) { _ in }, forMode: .default)
            }
        }
        print("an async main: five fires: \(seen), a closure on the main thread: \(answer)")
    }
}
