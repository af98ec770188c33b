// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsKit
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

@testable import RunLoopsDiagnostics

@Suite("Findings of the doctor about items", .ownThread)
struct ItemFindingTests {
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

    private func slowTimer(_ label: String) -> RunLoop.Timer {
        RunLoop.Timer(.every(.milliseconds(500)), tolerance: .milliseconds(50), label: label) { _ in }
    }

    // MARK: A mode nobody runs

    @Test func `items in a mode that is never run are found`() throws {
        let found = try findings { manual in
            manual.loop.add(slowTimer("heart"), in: .default)
            manual.loop.add(slowTimer("refresh"), in: .modalPanel)
            manual.loop.add(RunLoop.Source(label: "answers") { _ in }, in: .modalPanel)
            manual.advance(by: .seconds(2))
        }
        #expect(found.map(\.kind) == [.modeNeverRun])
        #expect(found.first?.subject == "NSModalPanelRunLoopMode")
        #expect(found.first?.text.contains("the source “answers” and the timer “refresh” wait there") == true)
        #expect(found.first?.text.contains("those that are run: kCFRunLoopDefaultMode") == true)
    }

    @Test func `observers, new items, and items in several modes or in a mode that is run are not found`() throws {
        let found = try findings { manual in
            let (timer, source) = (slowTimer("refresh"), RunLoop.Source { _ in })
            manual.loop.add(timer, in: .modalPanel)
            manual.loop.add(source, in: .default)
            manual.loop.add(source, in: .connectionReply)
            manual.loop.markCommon(.tracking)
            manual.loop.add(slowTimer("common"), in: .common)
            manual.loop.add(RunLoop.Observer(.exit) { _, _ in }, in: .taskDeathCheck)
            manual.advance(by: .seconds(2))
            _ = manual.loop.run(in: .modalPanel, for: .zero)
            manual.loop.add(slowTimer("new"), in: .initialization)
        }
        #expect(found.isEmpty)
    }

    @Test func `items of a loop that is never run are found`() throws {
        let found = try findings { manual in
            manual.loop.add(slowTimer("never"), in: .default)
            manual.advance(by: .seconds(3), in: "another")
        }
        #expect(found.map(\.kind) == [.modeNeverRun])
        #expect(found.first?.text.hasPrefix("Nobody runs loop of") == true)
    }

    @Test(arguments: [true, false])
    func `a loop with items that was not run before the program ended is found, however soon that was`(
        ended: Bool
    ) throws {
        var trace = ManualRunLoop.with { manual in
            let recording = RunLoop.Recording()
            recording.add(manual.loop)
            manual.loop.add(slowTimer("never"), in: .default)
            return recording.trace()
        }
        trace.programEnded = ended
        let found = try RunLoop.Trace.Report(json: trace.chromeJSON()).findings()
        #expect(found.map(\.kind) == (ended ? [.modeNeverRun] : []))
        #expect(found.allSatisfy { $0.text.contains("the timer “never” waits in it for ever. Run the loop") })
    }

    // MARK: Common, too late

    /// Tracking runs for a second, twice; before the first or between them the item becomes common.
    private func tracked(marking early: Bool, adding atOnce: Bool) throws -> [RunLoop.Trace.Report.Finding] {
        try findings { manual in
            let timer = slowTimer("animation")
            if early { manual.loop.markCommon(.tracking) }
            manual.loop.add(timer, in: atOnce ? .common : .default)
            manual.loop.add(RunLoop.Source { _ in }, in: .tracking)
            manual.loop.runTurn()
            manual.advance(by: .seconds(1), in: .tracking)
            if !early { manual.loop.markCommon(.tracking) }
            if !atOnce { manual.loop.add(timer, in: .common) }
            manual.advance(by: .seconds(1), in: .tracking)
        }
    }

    @Test func `a mode marked as common after it had been run is found`() throws {
        let found = try tracked(marking: false, adding: true)
        #expect(found.map(\.kind) == [.commonTooLate])
        #expect(found.first?.subject == "animation")
        #expect(found.first?.text.contains("had run in that mode for 1.0 s without it") == true)
    }

    @Test func `an item added to the common modes after a mode had run without it is found`() throws {
        #expect(try tracked(marking: true, adding: false).map(\.kind) == [.commonTooLate])
    }

    @Test func `an item that was common from the beginning is not found`() throws {
        #expect(try tracked(marking: true, adding: true).isEmpty)
    }

    @Test func `a timer of the default mode that pauses in the tracking mode is not found`() throws {
        let found = try findings { manual in
            manual.loop.markCommon(.tracking)
            manual.loop.add(slowTimer("default only"), in: .default)
            manual.loop.add(slowTimer("common"), in: .common)
            manual.loop.runTurn()
            manual.advance(by: .seconds(1), in: .tracking)
            manual.advance(by: .seconds(1))
        }
        #expect(found.isEmpty)
    }

    @Test(arguments: [true, false])
    func `a timer of the default mode that stands still for seconds during a drag is found`(goesOn: Bool) throws {
        let found = try findings { manual in
            manual.loop.markCommon(.tracking)
            manual.loop.add(slowTimer("clock"), in: .default)
            manual.loop.add(slowTimer("common"), in: .common)
            manual.loop.add(slowTimer("drag"), in: .tracking)
            manual.advance(by: .seconds(1))
            manual.advance(by: .seconds(3), in: .tracking)
            if goesOn { manual.advance(by: .seconds(1)) }
        }
        #expect(found.map(\.kind) == [.stoodStill])
        #expect(found.first?.subject == "clock")
        let text = found.first?.text ?? ""
        #expect(text.contains("stood still for 3.0 s"), "\(text)")
        #expect(text.contains("it is not in the mode UITrackingRunLoopMode"), "\(text)")
    }

    // MARK: A host

    @Test func `a host that does not call runReady while the poll descriptor is readable is found`() throws {
        let recording = RunLoop.Recording()
        let (early, trace, late) = try TestThread.run { () throws -> (RunLoop.Trace, RunLoop.Trace, RunLoop.Trace) in
            let loop = RunLoop.current
            recording.add(loop)
            let descriptor = try loop.pollDescriptor
            let early = recording.trace()
            let timer = RunLoop.Timer(.after(.zero)) { _ in }
            loop.add(timer, in: .default)
            var look = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            #expect(poll(&look, 1, -1) == 1)
            let trace = recording.trace()
            loop.runReady(in: .default)
            return (early, trace, recording.trace())
        }
        #expect(early.loops.first?.hostOverdue == nil && late.loops.first?.hostOverdue == nil)
        var waited = trace
        #expect(waited.loops.first?.hostOverdue ?? 0 > 0)
        waited.loops[0].hostOverdue = 2_300_000_000
        let found = try RunLoop.Trace.Report(json: waited.chromeJSON()).findings()
        let text = found.first { $0.kind == .hostDoesNotRun }?.text ?? ""
        #expect(text.contains("has been ready for 2.3 s, and its host has not called runReady(in:)"))
        waited.loops[0].hostOverdue = 200_000_000
        #expect(try !RunLoop.Trace.Report(json: waited.chromeJSON()).findings().map(\.kind).contains(.hostDoesNotRun))
    }

    // MARK: Closed elsewhere

    @Test func `a descriptor that was closed while a source watches it is found`() throws {
        let recording = RunLoop.Recording()
        let trace = try TestThread.run { () throws -> RunLoop.Trace in
            let loop = RunLoop.current
            let (closed, open) = (DescriptorPair.pipe(), DescriptorPair.pipe())
            recording.add(loop)
            // In a number that no other test's file gets meanwhile.
            let number = fcntl(closed.first, F_DUPFD_CLOEXEC, 900)
            let source = RunLoop.DescriptorSource(number, label: "gone") { _, _ in }
            let other = RunLoop.DescriptorSource(open.first, label: "there") { _, _ in }
            for source in [source, other] { try loop.add(source, in: .default) }
            loop.runTurn()
            Glibc.close(number)
            defer { for source in [source, other] { source.invalidate() } }
            return recording.trace()
        }
        let found = try RunLoop.Trace.Report(json: trace.chromeJSON()).findings()
        #expect(found.map(\.kind) == [.descriptorClosed])
        #expect(found.first?.subject == "gone")
    }

    @Test func `a descriptor that was closed while a source watches it is found after its number was reused`() throws {
        let recording = RunLoop.Recording()
        let trace = try TestThread.run { () throws -> RunLoop.Trace in
            let loop = RunLoop.current
            let (closed, open) = (DescriptorPair.pipe(), DescriptorPair.pipe())
            recording.add(loop)
            let number = fcntl(closed.first, F_DUPFD_CLOEXEC, 900)
            let source = RunLoop.DescriptorSource(number, label: "gone") { _, _ in }
            let other = RunLoop.DescriptorSource(open.first, label: "there") { _, _ in }
            for source in [source, other] { try loop.add(source, in: .default) }
            loop.runTurn()
            // Closes the number, and gives it to another file, in one step.
            #expect(dup2(open.second, number) == number)
            defer {
                for source in [source, other] { source.invalidate() }
                Glibc.close(number)
            }
            return recording.trace()
        }
        let found = try RunLoop.Trace.Report(json: trace.chromeJSON()).findings()
        #expect(found.map(\.kind) == [.descriptorClosed])
        #expect(found.map(\.subject) == ["gone"])
    }

    // MARK: Released

    @Test func `a watchdog and a display link that are released at once are found`() throws {
        let found = try findings { manual in
            let kept = RunLoop.DisplayLink(framesPerSecond: 4) { _ in }
            for _ in 0..<2 { RunLoop.WatchdogTimer(limit: .seconds(1)) {}.feed() }
            _ = RunLoop.DisplayLink(framesPerSecond: 60) { _ in }
            manual.advance(by: .seconds(2))
            withExtendedLifetime(kept) {}
        }
        #expect(found.map(\.kind) == [.releasedAtOnce, .releasedAtOnce])
        #expect(found.map(\.subject) == ["display link", "watchdog timer"])
        #expect(found.last?.text.contains("(2 times)") == true)
        #expect(found.last?.text.contains("Keep it in a property.") == true)
    }

    @Test func `a watchdog and a display link that have worked, or were ended, are not found when they are released`()
        throws
    {
        let found = try findings { manual in
            var link: RunLoop.DisplayLink? = RunLoop.DisplayLink(framesPerSecond: 4) { _ in }
            var watchdog: RunLoop.WatchdogTimer? = RunLoop.WatchdogTimer(limit: .seconds(1)) {}
            watchdog?.feed()
            manual.advance(by: .milliseconds(500))
            (link, watchdog) = (nil, nil)
            let ended = RunLoop.DisplayLink(framesPerSecond: 60) { _ in }
            ended.invalidate()
            _ = RunLoop.DisplayLink(framesPerSecond: 60, isPaused: true) { _ in }
            let cancelled = RunLoop.WatchdogTimer(limit: .seconds(1)) {}
            cancelled.feed()
            cancelled.cancel()
            _ = RunLoop.WatchdogTimer(limit: .seconds(1)) {}
            #expect(link == nil && watchdog == nil)
        }
        #expect(found.isEmpty)
    }

    // MARK: Signalled, never woken

    /// Each signal of the process takes a place in a row that all of them share: the more others come after this one, the
    /// less is kept of it.
    @Test(arguments: [0, 2_000, 1_100_000])
    func `a source signalled without a later wake-up is found at the end of the recording`(
        andOthersAfterwards others: Int
    ) throws {
        let recording = RunLoop.Recording()
        let made = Locked<(RunLoop, RunLoop.Source)?>(nil)
        let thread = TestThread {
            let source = RunLoop.Source.sendable(label: "mailbox") { _ in }
            RunLoop.current.add(source, in: .default)
            recording.add(RunLoop.current)
            made.withLock { $0 = (RunLoop.current, source) }
            RunLoop.current.run()
        }
        while made.copy?.0.isWaiting != true { sched_yield() }
        let (loop, source) = try #require(made.copy)
        source.signal()
        for _ in 0..<others { RunLoop.Source { _ in }.signal() }
        var found: [RunLoop.Trace.Report.Finding] = []
        while found.isEmpty { found = try RunLoop.Trace.Report(json: recording.trace().chromeJSON()).findings() }
        #expect(found.map(\.kind) == [.signalledNotWoken])
        #expect(found.first?.text.contains("“mailbox” was signalled") == true)
        loop.wakeUp()
        while source.isSignalled || !loop.isWaiting { sched_yield() }
        #expect(
            try RunLoop.Trace.Report(json: recording.trace().chromeJSON()).loops.first?.pages.last?.unserved.isEmpty
                == true)
        loop.stop()
        thread.join()
    }

    @Test func `a block posted without a wake-up is found at the end of the recording`() throws {
        let recording = RunLoop.Recording()
        let made = Locked<RunLoop?>(nil)
        let ran = Permit()
        let thread = TestThread {
            let loop = RunLoop.current
            loop.add(RunLoop.Source { _ in }, in: .default)
            recording.add(loop)
            made.withLock { $0 = loop }
            loop.run()
        }
        while made.copy?.isWaiting != true { sched_yield() }
        let loop = try #require(made.copy)
        let line = UInt(#line) + 1
        loop.perform(wake: false) { ran.signal() }
        // Another mode's block does not wait for this sleep.
        loop.perform(in: "another", wake: false) {}
        var found: [RunLoop.Trace.Report.Finding] = []
        while found.isEmpty { found = try RunLoop.Trace.Report(json: recording.trace().chromeJSON()).findings() }
        #expect(found.map(\.kind) == [.blockNotWoken])
        #expect(found.first?.subject == "RunLoopsDiagnosticsTests/ItemFindingTests.swift:\(line)")
        #expect(found.first?.text.contains("to the end") == true)
        loop.wakeUp()
        ran.wait()
        while !loop.isWaiting { sched_yield() }
        #expect(
            try RunLoop.Trace.Report(json: recording.trace().chromeJSON()).loops.first?.pages.last?.unserved.isEmpty
                == true)
        loop.stop()
        thread.join()
    }

    // MARK: The book

    @Test func `a trace holds a limited number of states of a loop's items, the latest included`() {
        let pages = ManualRunLoop.with { manual in
            let recording = RunLoop.Recording()
            recording.add(manual.loop)
            for number in 0..<200 {
                manual.loop.add(slowTimer("\(number)"), in: .default)
                manual.loop.runTurn()
            }
            return recording.trace().loops[0].pages
        }
        #expect(pages.count <= 65)
        #expect(pages.last?.items.count == 200)
    }

    @Test func `the trace of an ended thread has the items that its loop had at the end of the last run`() throws {
        let recording = RunLoop.Recording()
        TestThread {
            let loop = RunLoop.current
            recording.add(loop)
            loop.add(RunLoop.Source(label: "forgotten") { _ in }, in: .modalPanel)
            loop.perform {}
            loop.runTurn()
        }.join()
        let pages = recording.trace().loops[0].pages
        #expect(pages.last?.items.map(\.label) == ["forgotten"])
    }
}
