// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// Names and numbers that nobody would write, in great numbers.
@Suite(.ownThread) struct ExtremeValueTests {
    @Test func `Any text can name a mode, and equal texts name the same mode`() {
        var random = SeededRandom(29)
        var names: [String] = ["", "\u{0}", "é", "e\u{301}", String(repeating: "m", count: 1 << 20)]
        for _ in 0..<fuzzedInputs(orElse: 5000) {
            let scalars = (0..<Int.random(in: 0...12, using: &random)).compactMap { _ in
                Unicode.Scalar(UInt32.random(in: 0...0x10_FFFF, using: &random))
            }
            let name = String(String.UnicodeScalarView(scalars))
            let other = names[Int.random(in: names.indices, using: &random)]
            if (RunLoop.Mode(name) == RunLoop.Mode(other)) != (name == other) || RunLoop.Mode(name).rawValue != name {
                Issue.record("a mode is not its name: \(name.debugDescription), \(other.debugDescription)")
            }
            if names.count < 1000 { names.append(name) }
        }
        ManualRunLoop.with { manual in
            var performed = 0
            for name in Set(names) {
                let source = RunLoop.Source { _ in performed += 1 }
                manual.loop.add(source, in: RunLoop.Mode(name))
                source.signal()
                manual.loop.runTurn(in: RunLoop.Mode(name))
                source.invalidate()
            }
            #expect(performed == Set(names).count)
        }
    }

    /// A duration of any size: small, usual, as large as nanoseconds in 64 bits, and as large as can be written.
    private func duration(_ random: inout SeededRandom) -> Duration {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: .nanoseconds(Int64.random(in: -3...3, using: &random))
        case 1: .nanoseconds(Int64.random(in: 1...1_000_000_000_000, using: &random))
        case 2: .nanoseconds(Int64.random(in: .min ... .max, using: &random))
        case 3: .seconds(Int64.random(in: .min ... .max, using: &random))
        case 4:
            [Duration.seconds(Int64.max), .seconds(Int64.min), .zero, .nanoseconds(Int64.max)].randomElement(
                using: &random)!
        default:
            Duration(
                secondsComponent: Int64.random(in: -10...10, using: &random),
                attosecondsComponent: Int64.random(
                    in: -999_999_999_999_999_999...999_999_999_999_999_999, using: &random))
        }
    }

    @Test func `Timers of any instant, interval and tolerance are never early`() {
        var random = SeededRandom(31)
        var (fired, waiting) = (0, 0)
        let count = fuzzedInputs(orElse: 3000)
        for _ in 0..<count {
            ManualRunLoop.with { manual in
                let start = manual.now
                let delay = duration(&random)
                let interval = duration(&random)
                let tolerance = duration(&random)
                var early = 0
                var fires = 0
                let due = start.advanced(by: max(.zero, delay))
                let timer = RunLoop.Timer(
                    .after(delay, every: interval >= .nanoseconds(1) ? interval : nil), tolerance: tolerance
                ) { timer in
                    fires += 1
                    if manual.now < due { early += 1 }
                    if fires == 3 { timer.invalidate() }
                }
                manual.loop.add(timer, in: .default)
                if random.oneIn(3) { timer.tolerance = duration(&random) }
                if random.oneIn(5) { timer.restart(after: delay) }
                let deadline = manual.loop.nextTimerDeadline(in: .default)
                #expect(deadline.map { $0 >= start } ?? true)
                // A run of any length ends where it should: an hour passes at most.
                let length = min(max(duration(&random), .zero), .seconds(3600))
                manual.loop.run(in: .default, for: length, returnsAfterSource: true)
                if fires < 3, timer.isValid { manual.advance(by: .seconds(1)) }
                if early > 0 { Issue.record("early: after \(delay), every \(interval), tolerance \(tolerance)") }
                // A timer that fires once may have a tolerance of any size.
                if fires == 0, due.advanced(by: .seconds(3600)) < manual.now, timer.tolerance <= .zero {
                    Issue.record("forgotten: after \(delay), every \(interval)")
                }
                if fires > 0 { fired += 1 } else { waiting += 1 }
                timer.invalidate()
            }
        }
        // Each kind is there often.
        #expect(fired > count / 10 && waiting > count / 10)
    }

    @Test func `Arithmetic with instants is clamped and keeps the order`() {
        var random = SeededRandom(37)
        for _ in 0..<fuzzedInputs(orElse: 20_000) {
            let instant = RunLoop.Instant(nanoseconds: Int64.random(in: .min ... .max, using: &random))
            let delay = duration(&random)
            let later = instant.advanced(by: delay)
            if delay > .zero ? later < instant : later > instant {
                Issue.record("\(instant) and \(delay) are \(later)")
            }
            let back = instant.duration(to: later)
            if delay > .zero ? back < .zero || back > delay : back > .zero || back < delay {
                // What does not fit is cut at a whole nanosecond.
                if abs(back / .nanoseconds(1) - delay / .nanoseconds(1)) > 1 { Issue.record("\(back) is not \(delay)") }
            }
        }
    }

    @Test func `A timer at the earliest possible instant fires at once on every clock`() {
        ManualRunLoop.with { manual in
            var fired = 0
            for base in RunLoop.ClockID.allCases {
                let first = RunLoop.Instant(nanoseconds: .min, clock: base)
                manual.loop.add(RunLoop.Timer(.at(first)) { _ in fired += 1 }, in: .default)
            }
            manual.loop.add(RunLoop.Source { _ in }, in: .default)
            manual.loop.run(in: .default, for: .milliseconds(1))
            #expect(fired == RunLoop.ClockID.allCases.count)
        }
    }

    @Test func `Virtual time stops at the last possible instant on every clock`() {
        ManualRunLoop.with { manual in
            manual.suspend(for: .seconds(Int64.max))
            manual.changeWallClock(by: .seconds(Int64.max))
            for _ in 0..<2 { manual.advance(by: .seconds(Int64.max)) }
            for base in RunLoop.ClockID.allCases {
                #expect(manual.now(base) == RunLoop.Instant(nanoseconds: .max, clock: base))
            }
        }
    }
}
