// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

@testable import RunLoopsDiagnostics

@Suite("Findings of the doctor", .ownThread)
struct FindingTests {
    /// What is found in a recording of what `body` does.
    private func findings(_ body: (ManualRunLoop) -> Void) throws -> [RunLoop.Trace.Report.Finding] {
        let trace = ManualRunLoop.with { manual in
            let recording = RunLoop.Recording()
            recording.add(manual.loop)
            body(manual)
            return recording.trace()
        }
        return try RunLoop.Trace.Report(json: trace.chromeJSON()).findings()
    }

    /// The findings in a series of turns with one callout each: virtual time stands still in callouts.
    private func findings(
        callouts: [(RunLoop.Trace.Event.Callee, wait: RunLoop.Trace.Event.Wait?, from: Int64, to: Int64)]
    ) throws
        -> [RunLoop.Trace.Report.Finding]
    {
        var events = [RunLoop.Trace.Event(time: 0, depth: 1, kind: .runBegan(.default))]
        for (callee, wait, from, to) in callouts {
            events.append(RunLoop.Trace.Event(time: from, depth: 1, kind: .passed(.beforeTimers)))
            events.append(RunLoop.Trace.Event(time: from, depth: 1, kind: .calloutBegan(callee, "it")))
            if let wait { events.append(RunLoop.Trace.Event(time: from, depth: 1, kind: .wanted(wait))) }
            events.append(RunLoop.Trace.Event(time: to, depth: 1, kind: .calloutEnded))
        }
        let loop = RunLoop.Trace.Loop(thread: 7, name: "worker", isMain: false, events: events, lost: 0)
        let trace = RunLoop.Trace(process: 1, program: "made up", loops: [loop], loopsNotRecorded: 0)
        return try RunLoop.Trace.Report(json: trace.chromeJSON()).findings()
    }

    // MARK: Timers

    @Test func `a timer without tolerance that wakes an idle loop ten times a second is found`() throws {
        let found = try findings { manual in
            manual.loop.add(RunLoop.Timer(.every(.milliseconds(100)), label: "poller") { _ in }, in: .default)
            manual.advance(by: .seconds(3))
        }
        #expect(found.map(\.kind) == [.wakesIdleLoop])
        #expect(found.first?.subject == "poller")
        #expect(found.first?.text.contains("10 times a second") == true)
    }

    @Test func `a timer with tolerance or a long interval is not found`() throws {
        let found = try findings { manual in
            manual.loop.add(
                RunLoop.Timer(.every(.milliseconds(100)), tolerance: .milliseconds(10)) { _ in }, in: .default)
            manual.loop.add(RunLoop.Timer(.every(.milliseconds(500))) { _ in }, in: .default)
            manual.advance(by: .seconds(3))
        }
        #expect(found.isEmpty)
    }

    @Test func `a repeating timer that is late every time is found`() throws {
        let millisecond: Int64 = 1_000_000
        let late = (1...6 as ClosedRange<Int64>).map {
            number -> (RunLoop.Trace.Event.Callee, RunLoop.Trace.Event.Wait?, Int64, Int64) in
            let date = number * 100 * millisecond
            let wait = RunLoop.Trace.Event.Wait(since: date, thread: 0, tolerance: 0, interval: 100 * millisecond)
            return (.timer, wait, date + 30 * millisecond, date + 31 * millisecond)
        }
        let found = try findings(callouts: late)
        #expect(found.map(\.kind) == [.neverOnTime])
        #expect(found.first?.text.contains("30.0 ms or more each of the 6 times") == true)
        // What the tolerance allows is not late.
        let tolerant = late.map { callout in
            var callout = callout
            callout.1?.tolerance = 15 * millisecond
            return callout
        }
        let rest = try findings(callouts: tolerant)
        #expect(rest.first?.text.contains("15.0 ms or more each of the 6 times") == true)
        // On time once is not never.
        var mixed = late
        let onTime = mixed[2].2
        mixed[2].1?.since = onTime
        #expect(try findings(callouts: mixed).isEmpty)
    }

    // MARK: Others

    /// What is found of a source that is signalled on the loop's way to sleep, when the turn's look at the sources is over.
    private func findings(signalledWaking waking: Bool) throws -> [RunLoop.Trace.Report.Finding] {
        try findings { manual in
            let source = RunLoop.Source(label: "mailbox") { _ in }
            manual.loop.add(source, in: .default)
            manual.loop.add(
                RunLoop.Observer(.beforeWaiting, repeats: false) { _, _ in
                    source.signal()
                    if waking { manual.loop.wakeUp() }
                }, in: .default)
            manual.loop.add(RunLoop.Timer(.after(.milliseconds(700))) { _ in }, in: .default)
            manual.advance(by: .seconds(1))
        }
    }

    // In a process of its own: a recording knows the latest 1,024 signals of the process, and other tests give more.
    @Test func `a source signalled without a wake-up is found`() async {
        await #expect(processExitsWith: .success) {
            let found = try FindingTests().findings(signalledWaking: false)
            #expect(found.map(\.kind) == [.signalledNotWoken])
            #expect(found.first?.subject == "mailbox")
            #expect(found.first?.text.contains("700 ms") == true)
            #expect(try FindingTests().findings(signalledWaking: true).isEmpty)
        }
    }

    /// What is found of a block that is posted while the loop is on its way to sleep, for 700 ms.
    private func findings(
        waking: Bool, in mode: RunLoop.Mode = .default
    ) throws -> [RunLoop.Trace.Report.Finding] {
        try findings { manual in
            let loop = manual.loop
            loop.add(
                RunLoop.Observer(.beforeWaiting, repeats: false) { _, _ in
                    loop.performLocally(in: mode, wake: waking) {}
                }, in: .default)
            loop.add(RunLoop.Timer(.after(.milliseconds(700))) { _ in }, in: .default)
            manual.advance(by: .seconds(1))
            loop.add(RunLoop.Source { _ in }, in: .tracking)
            manual.advance(by: .seconds(1), in: .tracking)
        }
    }

    @Test func `a block posted without a wake-up is found`() throws {
        let found = try findings(waking: false)
        #expect(found.map(\.kind) == [.blockNotWoken])
        #expect(found.first?.subject.hasPrefix("RunLoopsDiagnosticsTests/FindingTests.swift:") == true)
        #expect(found.first?.text.contains("slept on for 700 ms, until something else woke it") == true)
    }

    @Test func `a block posted with a wake-up or for another mode is not found`() throws {
        #expect(try findings(waking: true).isEmpty)
        // Slept over in the default mode, and run as soon as its own mode is run.
        #expect(try findings(waking: false, in: .tracking).isEmpty)
        #expect(try findings(waking: true, in: .tracking).isEmpty)
    }

    @Test func `a callout that takes a whole frame is found and one of half a frame is not`() throws {
        let found = try findings(callouts: [(.block, nil, 0, 8_000_000), (.descriptor, nil, 9_000_000, 39_000_000)])
        #expect(found.map(\.kind) == [.takesFrame])
        #expect(found.first?.text.contains("The descriptor “it” kept loop of worker busy for 30.0 ms") == true)
    }

    @Test(arguments: 1...5)
    func `runs nested deeper than three are found`(_ depth: Int) throws {
        let found = try findings { manual in
            func nest(_ left: Int) {
                manual.loop.performLocally { if left > 1 { nest(left - 1) } }
                manual.loop.runTurn()
            }
            nest(depth)
        }
        #expect(found.map(\.kind) == (depth > 3 ? [.nestedTooDeep] : []))
    }

    @Test func `a healthy loop has no findings`() throws {
        let found = try findings { manual in
            let source = RunLoop.Source { _ in }
            manual.loop.add(source, in: .default)
            manual.loop.add(RunLoop.Timer(.every(.seconds(1))) { _ in source.signal() }, in: .default)
            manual.loop.perform {}
            manual.advance(by: .seconds(20))
        }
        #expect(found.isEmpty)
    }
}
