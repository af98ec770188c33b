// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport
import Synchronization
import Testing

@testable import RunLoopsDiagnostics

/// A forked child is neither watched nor recorded by its parent's tools, and has tools of its own.
@Suite(
    .ownThread,
    .disabled(if: Sanitizer.isAny, "a sanitizer copies its locks, and calls a leak what a child inherits"))
struct ForkProcessTests {
    // The thread sanitizer cannot follow threads that are made after a fork.
    @Test(.disabled(if: Sanitizer.isThread)) func `The hang watches of a parent and of its child both report`() async {
        await #expect(processExitsWith: .success) {
            try TestThread.run { () throws in
                let reported = Permit()
                let watch = try watch(RunLoop.current) { reported.signal() }
                #expect(hang(until: reported) == .stopped)
                // A thread that is at work would leave the child with the locks of the Swift runtime that it holds.
                waitUntil { HangWatcher.shared.isParked.load(ordering: .relaxed) }
                let end = ForkedChild.run {
                    let own = Permit()
                    let watch = try RunLoopsDiagnosticsTests.watch(RunLoop.current) { own.signal() }
                    let result = hang(until: own)
                    watch.stop()
                    return result == .stopped
                }
                #expect(end == .good)
                #expect(hang(until: reported) == .stopped)
                watch.stop()
            }
        }
    }

    @Test func `Loops of a child are recorded by the child's own recording and not by its parent's`() async {
        await #expect(processExitsWith: .success) {
            let recording = RunLoop.Recording()
            recording.addNewLoops()
            let first = TestThread.run { RunLoop.current.threadID }
            let end = TestThread.run {
                ForkedChild.run {
                    let own = RunLoop.Recording()
                    own.addNewLoops()
                    let thread = RunLoop.current.threadID
                    RunLoop.current.perform { RunLoop.current.stop() }
                    guard RunLoop.current.runPlenty() == .stopped else { return false }
                    return own.trace().loops.map(\.thread) == [thread]
                        && !recording.trace().loops.map(\.thread).contains(thread)
                }
            }
            #expect(end == .good)
            #expect(first != 0)
        }
    }
}

/// A callout of the calling thread's loop that lasts until the hang was reported.
private func hang(until reported: Permit) -> RunLoop.RunResult {
    let loop = RunLoop.current
    loop.perform { reported.wait() }
    loop.perform { loop.stop() }
    return loop.runPlenty()
}

/// A watch of the loop that says that a hang has begun, without stacks.
private func watch(_ loop: RunLoop, _ began: @escaping @Sendable () -> Void) throws -> RunLoop.HangWatch {
    var options = RunLoop.HangWatch.Options()
    options.takesStacks = false
    options.limit = .milliseconds(20)
    let watch = try RunLoop.HangWatch(options: options) { report in if report.stage == .began { began() } }
    try watch.add(loop)
    return watch
}
