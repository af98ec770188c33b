// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import RunLoops
import RunLoopsKit
import RunLoopsTesting

/// A thread with a name, for a test that must not fail to get one.
func makeThread(_ name: String) -> RunLoopThread {
    do {
        return try RunLoopThread(name: name)
    } catch {
        preconditionFailure("no thread: \(error)")
    }
}

/// Keeps a loop from finishing, so that what wakes it is counted and nothing else.
func keepAlive(_ loop: RunLoop, in mode: RunLoop.Mode = .default) {
    loop.add(RunLoop.Source(label: "keeper") { _ in }, in: mode)
}

/// How often the loop wakes up in five seconds in which nothing is asked of it.
///
/// The sleep that the end of the time ends is not counted.
func idleWakeUps(_ manual: ManualRunLoop, in mode: RunLoop.Mode = .default) -> Int {
    let before = manual.sleeps
    manual.advance(by: .seconds(5), in: mode)
    return manual.sleeps - before - 1
}

extension ManualRunLoop {
    /// Lets time go by inside a callout, as work does that takes some.
    ///
    /// In a mode of its own, so that nothing else happens meanwhile.
    func pass(_ duration: Duration) { advance(by: duration, in: "nothing happens") }
}
