// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import RunLoopsTestSupport
import Testing

@testable import RunLoops
@testable import RunLoopsDiagnostics
@testable import runloop

@Suite("The model and screen of top", .ownThread)
struct TopTests {
    /// A loop that has done so much of everything.
    private static func loop(
        _ amount: UInt64, thread: Int32 = 7, label: String = "clock", callouts: [LoopReport.Callout] = []
    ) -> LoopReport {
        var statistics = RunLoop.Statistics()
        statistics.turns = amount
        statistics.wakings = [.timer: amount]
        statistics.busy = Int64(amount) * 1_000_000
        for _ in 0..<min(amount, 1000) { statistics.lateness.add(nanoseconds: 2_000_000) }
        statistics.dearest = [
            .init(
                callee: .timer, label: label, count: amount, total: Int64(amount) * 500_000, longest: 20_000_000,
                longestLately: Int64(amount) * 1000)
        ]
        statistics.notAssigned = amount / 10
        statistics.timeNotAssigned = Int64(amount) * 3000
        return LoopReport(
            thread: thread, name: "worker", isMain: thread == 1, activity: callouts.isEmpty ? .asleep : .busy,
            since: 1_000_000, depth: 1, mode: "default", isLocked: false, callouts: callouts, turns: amount,
            calloutCount: amount, wakings: [:], slept: 0,
            timers: [.init(label: "next\u{1B}[2J", due: .min, interval: 0, tolerance: 0)], statistics: statistics)
    }

    private static func report(_ time: Int64, _ loops: LoopReport...) -> ProcessReport {
        ProcessReport(process: 42, program: "program", time: time, loops: loops)
    }

    /// What top's screen shows of the answers.
    @MainActor
    private static func screen(
        _ model: TopModel, _ columns: Int = 80, _ rows: Int = 24, notice: String? = nil, keys: Key...
    ) throws -> [Substring] {
        try TestApplication.with(size: Size(Double(columns), Double(rows))) { app in
            let controller = TopController()
            app.show(controller)
            controller.show(model, notice: notice)
            app.settle()
            for key in keys { app.press(key) }
            return app.text.split(separator: "\n", omittingEmptySubsequences: false)
        }
    }

    @Test func `rates are those of the last interval, and other figures cover the last ten intervals`() throws {
        var model = TopModel()
        model.take(Self.report(0, Self.loop(0)))
        #expect(model.loops[0].turnRate == 0)
        for second in 1...20 { model.take(Self.report(Int64(second) * 1_000_000_000, Self.loop(UInt64(second) * 100))) }
        let loop = try #require(model.loops.first)
        #expect(loop.turnRate == 100 && loop.wakeRate == 100 && loop.rate(.timer) == 100 && loop.rate(.wakeUp) == 0)
        #expect(loop.window.seconds == 10 && loop.window.rate(1000) == 100)
        #expect(abs(loop.busyShare - 0.1) < 1e-9 && loop.history.count == 20)
        // The longest of the window's answers, and not the 20 ms of all time.
        #expect(loop.window.counts.dearest.first?.longestLately == 2_000_000)
    }

    @Test func `a loop on a reused thread number starts with new figures`() {
        var model = TopModel()
        model.take(Self.report(0, Self.loop(1000)))
        model.take(Self.report(1_000_000_000, Self.loop(5)))
        #expect(model.loops[0].turnRate == 0 && model.loops[0].wakeRate == 0)
        model.take(Self.report(2_000_000_000))
        #expect(model.loops.isEmpty && model.count == 3)
    }

    @MainActor @Test func `a report with clocks and counts out of range gives no rate`() throws {
        var model = TopModel()
        model.take(Self.report(.max, Self.loop(10)))
        model.take(Self.report(.min, Self.loop(20)))
        #expect(model.loops[0].turnRate >= 0 && model.loops[0].turnRate.isFinite)
        model.take(Self.report(0, Self.loop(1 << 40)))
        #expect(try Self.screen(model)[2].hasPrefix("   worker 7"))
        #expect(TopColumns.lines(model).count == 1)
    }

    @MainActor @Test(arguments: [1, 7, 30, 59, 60, 120, 1000], [1, 2, 3, 8, 24, 100])
    func `the last line names the key that quits, in a window of any size`(columns: Int, rows: Int) throws {
        var model = TopModel()
        for second in 0..<3 {
            let amount = UInt64(second) * 100
            model.take(
                Self.report(Int64(second) * 1_000_000_000, Self.loop(amount), Self.loop(amount, thread: 8)))
        }
        let lines = try Self.screen(model, columns, rows)
        #expect(lines.count >= rows)
        if columns >= 8 { #expect(lines[rows - 1].contains("q quit")) }
        if columns >= 30, rows > 3 { #expect(lines[2].contains("worker 7")) }
    }

    @MainActor @Test func `the screen reports a pending request, missing loops and an unresponsive process`() throws {
        var model = TopModel()
        #expect(try Self.screen(model)[1].contains("asking"))
        model.take(Self.report(0))
        #expect(try Self.screen(model)[1].contains("no loops yet"))
        #expect(try Self.screen(model, 40, notice: "stopped for 3 s")[0].contains("stopped for 3 s"))
    }

    @MainActor @Test func `the selected loop is shown in full, with control characters escaped`() throws {
        var model = TopModel()
        let hanging = LoopReport.Callout(kind: "timer", label: "slow\u{7}", place: "F.swift:1", since: 3_200_000_000)
        for second in 0..<3 {
            let amount = UInt64(second) * 100
            model.take(
                Self.report(
                    Int64(second) * 1_000_000_000, Self.loop(amount, thread: 1),
                    Self.loop(amount, thread: 8, label: "bell\u{7}", callouts: [hanging])))
        }
        let text = try Self.screen(model, 100, 40, keys: .tab)
        #expect(text.contains { $0.contains("tab next loop") })
        #expect(text.contains { $0.contains("IN   timer slow\\u{7} for 3.200 s  F.swift:1") })
        #expect(text.contains { $0.contains("timer bell\\u{7}") && $0.contains("100") && $0.contains("5.0 %") })
        #expect(text.contains { $0.contains("(others)") && $0.contains("10") && $0.contains("30 us") })
        #expect(!text.contains { $0.contains("timer bell") && $0.contains("20.0 ms") })
        #expect(text.contains { $0.contains("timers, late by") } && text.contains { $0.contains("timer 100") })
        #expect(text.contains { $0.contains("next\\u{1b}[2J late by") })
        #expect(text.contains { $0.contains("▁▁") })
        // From the last loop on to the first.
        for keys in [[Key.tab, .tab], [.tab, .up], [.end, .home]] {
            let other = try Self.screen(model, 100, 40, keys: keys[0], keys[1])
            #expect(other.contains { $0.contains("timer clock") } && !other.contains { $0.contains("IN   timer") })
        }
    }

    @MainActor @Test func `the first loop is selected when the selected loop ends`() throws {
        var model = TopModel()
        model.take(Self.report(0, Self.loop(1), Self.loop(1, thread: 8, label: "bell")))
        try TestApplication.with { app in
            let controller = TopController()
            app.show(controller)
            controller.show(model, notice: nil)
            app.settle()
            app.press(.tab)
            model.take(Self.report(1_000_000_000, Self.loop(2)))
            controller.show(model, notice: nil)
            app.settle()
            #expect(app.text.contains("1 loop\n") && app.text.contains("timer clock"))
            model.take(Self.report(2_000_000_000))
            controller.show(model, notice: nil)
            app.settle()
            #expect(app.text.contains("no loops yet") && !app.text.contains("BUSY"))
        }
    }

    @MainActor @Test func `q ends the application and Ctrl-C ends it by the signal`() throws {
        for (key, modifiers, signal) in [("q", [], nil), ("c", .control, 2)] as [(Character, KeyModifiers, CInt?)] {
            try TestApplication.with { app in
                app.show(TopController())
                app.press(.character(key), modifiers: modifiers)
                #expect(app.application.state == .notRunning && app.application.terminationSignal == signal)
            }
        }
    }

    /// Five thousand loops on the largest screen that there is, if there is time.
    @MainActor @Test func `each of many loops has a row and only visible rows are drawn`() throws {
        var reports: [LoopReport] = []
        let count: Int32 = isThorough ? 5000 : 1000
        for thread in 1...count { reports.append(Self.loop(1, thread: thread)) }
        var model = TopModel()
        model.take(ProcessReport(process: 42, program: "program", time: 0, loops: reports))
        try TestApplication.with(size: isThorough ? Size(1000, 400) : Size(200, 100)) { app in
            let controller = TopController()
            app.show(controller)
            controller.show(model, notice: nil)
            app.settle()
            #expect(app.text.contains("\(count) loops"))
            app.press(.end)
            #expect(app.text.contains("   worker \(count) ") && !app.text.contains("   worker \(count - 100) "))
            let displays = app.application.commit.counts.displays
            app.press(.tab)
            #expect(app.text.contains("   worker 7 "))
            #expect(app.application.commit.counts.displays - displays < 250)
        }
    }

    @Test func `lines have a column for each figure`() {
        var model = TopModel()
        model.take(Self.report(0, Self.loop(0)))
        model.take(Self.report(1_000_000_000, Self.loop(5)))
        let line = TopColumns.lines(model)[0]
        #expect(line.hasPrefix("   worker 7             default          5.0       5.0     0.5 %    2.0 ms  asleep"))
        #expect(line.hasSuffix("asleep for 1.0 ms; timer clock 2.5 ms"))
        #expect(TopColumns.linesTitle.hasPrefix("   LOOP                 MODE         turns/s   wakes/s      busy"))
    }

    @Test func `rates above 0 and below 100 have one decimal`() {
        #expect(
            [0, 0.04, 0.5, 99.94, 99.95, 1e30].map(Format.rate) == [
                "0", "0.0", "0.5", "99.9", "100", "1000000000",
            ])
    }

    @Test func `durations, percentages and counts have their formats`() {
        #expect(Format.seconds(.milliseconds(-1500)) == "-1.500" && Format.seconds(.nanoseconds(1_999_999)) == "0.001")
        #expect(Format.short(.microseconds(13)) == "13 us" && Format.short(.microseconds(249_870)) == "249.8 ms")
        #expect(Format.short(.seconds(-1)) == "0 us" && Format.short(.milliseconds(1250)) == "1.250 s")
        #expect(Format.percent(-1) == "0.0 %" && Format.percent(0.9999) == "99.9 %" && Format.percent(2) == "100.0 %")
        #expect(Format.count(1, "turn") == "1 turn" && Format.count(2, "turn") == "2 turns")
        #expect(LoopWording.visible("a\u{1B}\"\\\t漢") == "a\\u{1b}\"\\\\t\\u{6f22}")
        #expect(Output.visible("µ…█漢\t\u{9B}\u{200B}\r") == "µ…█漢\t\\u{9b}\\u{200b}\\u{d}")
        #expect(Format.column("abcdef", 4) == "abc~" && Format.column("a", 3) == "a  ")
    }
}
