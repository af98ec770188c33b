// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsConcurrency
import RunLoopsDiagnostics
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

@Suite("Jobs in a recording", .limited)
struct JobTraceTests {
    @Test func `jobs are reported inside the executor's callout, with the time and thread that queued them`() async {
        // A process of its own: a storm in another test's threads pushes the job out of the process's row.
        await #expect(processExitsWith: .success) {
            ManualRunLoop.with { manual in
                let recording = RunLoop.Recording()
                #expect(recording.add(manual.loop))
                let meter = Meter(manual.loop.executor)
                let queuedBy = TestThread.run {
                    Task(executorPreference: meter.runLoopExecutor) { await meter.add(1) }
                    return SystemCalls.threadID
                }
                let queued = manual.now.nanoseconds
                manual.advance(by: .milliseconds(5))
                let events = recording.trace().loops[0].events.map(\.kind)
                let job = events.firstIndex(of: .calloutBegan(.job, "job"))
                #expect(job != nil)
                guard let job else { return }
                let outer = events[..<job].last { if case .calloutBegan = $0 { true } else { false } }
                #expect(outer == .calloutBegan(.source, "executor"))
                guard case .wanted(let wait) = events[job + 1] else {
                    Issue.record("nobody knows since when the job was queued: \(events[job + 1])")
                    return
                }
                #expect(wait.since == queued && wait.thread == queuedBy)
            }
        }
    }

    @Test func `jobs run without a tracer if no recording is active`() {
        ManualRunLoop.with { manual in
            let meter = Meter(manual.loop.executor)
            let done = Locked(false)
            Task(executorPreference: meter.runLoopExecutor) {
                await meter.add(1)
                done.withLock { $0 = true }
            }
            manual.advance(by: .milliseconds(5))
            #expect(done.copy && manual.loop.losesTracer())
        }
    }
}
