// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsDiagnostics

@Suite("All tools at once", .ownThread)
struct SleepingLoopTests {
    @Test func `all tools at once do not wake a sleeping loop`() throws {
        let inspector = try TestInspector()
        var options = RunLoop.HangWatch.Options()
        options.limit = .milliseconds(20)
        let watch = try RunLoop.HangWatch(options: options) { _ in }
        let metering = RunLoop.Metering()
        let recording = RunLoop.Recording(capacity: 256)
        let turns = Locked(0)
        let thread = InspectedThread(inspector) { loop in
            // Any thread that does not block a signal of the process may get it, and other tests send signals. Before the
            // watch, which unblocks the one that it samples with.
            var all = sigset_t()
            sigfillset(&all)
            pthread_sigmask(SIG_SETMASK, &all, nil)
            do { try watch.add(loop) } catch { Issue.record(error) }
            metering.add(loop)
            recording.add(loop)
            loop.add(RunLoop.Observer(.beforeTimers) { _, _ in turns.increment() }, in: .default)
            loop.add(RunLoop.Timer(.after(.seconds(3600))) { _ in }, in: .default)
        }
        waitUntilAtRest(thread.loop)
        let before = (turns: turns.count, switches: sleeps(ofThread: thread.loop.threadID))

        let client = try inspector.connect()
        for _ in 0..<10 {
            #expect(try client.dump(within: plenty).loops.first?.activity == .asleep)
            try client.requestStatistics()
            let report = try client.takeReport(until: InspectorClient.deadline(plenty))
            #expect(report.loops.count == 1)
            #expect(metering.readings().count == 1)
            #expect(recording.trace().loops.count == 1)
            _ = thread.loop.detailedDescription()
        }
        try client.record(capacity: 256, within: plenty)
        _ = try client.takeRecording(within: plenty)

        #expect(turns.count == before.turns)
        // One more at most: the thread was perhaps not quite asleep when it was counted first.
        #expect(sleeps(ofThread: thread.loop.threadID) - before.switches <= 1)
        thread.end()
        watch.stop()
    }
}
