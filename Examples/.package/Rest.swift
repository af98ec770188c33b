// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsEvents

/// What each of the examples with another library's loop shows at its end; a link to this file is among their sources.
enum Rest {
    /// How often the thread wakes in a quiet second.
    ///
    /// What was under way may end in the first second; what wakes the thread by the clock does so in each.
    static func countWakes() -> Int {
        var fewest = Int.max
        for _ in 0..<3 where fewest > 0 { fewest = min(fewest, countWakesOnce()) }
        return fewest
    }

    private static func countWakesOnce() -> Int {
        var wakes = 0
        let end = RunLoop.Instant.now.advanced(by: .seconds(1))
        // The end of the second wakes the thread too.
        let observer = RunLoop.Observer(.afterWaiting) { _, _ in if .now < end { wakes += 1 } }
        RunLoop.current.add(observer, in: .default)
        RunLoop.current.run(in: .default, until: end)
        observer.invalidate()
        return wakes
    }

    /// How many descriptors the process has open; the loop's own, which stay, are made first.
    static func countDescriptors() throws -> Int {
        let source = try PollSource { wait in
            wait.limit = .milliseconds(1)
        } dispatch: { _ in
            RunLoop.current.stop()
        }
        RunLoop.current.run(in: .default, for: .seconds(600))
        source.invalidate()
        return (0..<1024).count { fcntl($0, F_GETFD) >= 0 }
    }
}
