// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsEvents
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
