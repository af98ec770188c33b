// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsKit
import RunLoopsTestSupport
import Testing

/// Adds a source where a refusal means a broken test.
func add(_ source: EventSource, to loop: RunLoop, in mode: RunLoop.Mode = .default) {
    do { try loop.add(source, in: mode) } catch { Issue.record("not added: \(error)") }
}

/// Adds a source where a refusal means a broken test.
func add(_ source: RunLoop.DescriptorSource, to loop: RunLoop, in mode: RunLoop.Mode = .default) {
    do { try loop.add(source, in: mode) } catch { Issue.record("not added: \(error)") }
}

/// Runs `body` with the loop of a new thread, to the thread's end, and returns what it returned.
@discardableResult
func withLoop<Result: Sendable>(_ body: @escaping @Sendable (RunLoop) throws -> Result) throws -> Result {
    try TestThread.run { () throws in try body(RunLoop.current) }
}

/// Ends a thread with a loop, after others: a function of its own, because tasks may not wait so.
func end(_ thread: RunLoopThread, _ others: TestThread...) {
    for other in others { other.join() }
    thread.stop()
    thread.join()
}

/// Waits for the end of a child without a loop.
func waitForEnd(_ child: Child) -> ChildSource.Status {
    while true {
        if let exit = child.exit { return exit.status }
        usleep(1000)
    }
}

extension RunLoop {
    /// Runs until the condition holds, or plenty of time has passed.
    func run(until condition: () -> Bool) {
        let limit = Instant.now + plenty
        while !condition(), Instant.now < limit { _ = run(in: .default, for: .milliseconds(1)) }
    }
}
