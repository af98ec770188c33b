// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsTestSupport
import Testing

@testable import RunLoops

/// The arithmetic of dates, values in and values out.
@Suite(.ownThread) struct TimerGridTests {
    @Test func `next returns the first date of the grid after now`() {
        #expect(TimerGrid.next(after: 100, interval: 10, now: 0) == 110)
        #expect(TimerGrid.next(after: 100, interval: 10, now: 100) == 110)
        #expect(TimerGrid.next(after: 100, interval: 10, now: 109) == 110)
        #expect(TimerGrid.next(after: 100, interval: 10, now: 110) == 120)
        #expect(TimerGrid.next(after: 100, interval: 10, now: 195) == 200)
        #expect(TimerGrid.next(after: 0, interval: 1, now: 0) == 1)
    }

    @Test func `next returns the last possible date if the result does not fit`() {
        #expect(TimerGrid.next(after: .max, interval: 1, now: 0) == .max)
        #expect(TimerGrid.next(after: .max - 5, interval: 10, now: 0) == .max)
        #expect(TimerGrid.next(after: 1, interval: .max, now: 0) == .max)
        #expect(TimerGrid.next(after: 0, interval: .max, now: .max) == .max)
        #expect(TimerGrid.next(after: 0, interval: .max / 2 + 1, now: .max) == .max)
    }

    @Test func `Extreme dates do not trap`() async {
        await #expect(processExitsWith: .success) {
            #expect(TimerGrid.next(after: 0, interval: 1, now: .max) == .max)
            #expect(TimerGrid.next(after: .min, interval: 10, now: 5) > 5)
            #expect(TimerGrid.next(after: .min, interval: .max, now: .max) == .max)
        }
    }

    @Test(arguments: [31, 32]) func `Random next dates are on the grid and at most one interval away`(seed: UInt64) {
        var random = SeededRandom(seed)
        for _ in 0..<10_000 {
            let date = Int64.random(in: 0...(1 << 60), using: &random)
            let interval = Int64.random(in: 1...(1 << Int64.random(in: 1...40, using: &random)), using: &random)
            let now = date + Int64.random(in: 0...(1 << Int64.random(in: 1...50, using: &random)), using: &random)
            let next = TimerGrid.next(after: date, interval: interval, now: now)
            expectTrue(next > now, "\(next) is not after \(now)")
            expectTrue(next - now <= interval, "\(next) is more than \(interval) after \(now)")
            expectTrue((next - date) % interval == 0, "\(next) is not on the grid of \(interval) through \(date)")
        }
    }

    @Test func `The tolerance is clamped to the range from zero to half the interval`() {
        #expect(TimerGrid.tolerance(5, interval: 0) == 5)
        #expect(TimerGrid.tolerance(.max, interval: 0) == .max)
        #expect(TimerGrid.tolerance(-5, interval: 0) == 0)
        #expect(TimerGrid.tolerance(.min, interval: 10) == 0)
        #expect(TimerGrid.tolerance(5, interval: 10) == 5)
        #expect(TimerGrid.tolerance(6, interval: 10) == 5)
        #expect(TimerGrid.tolerance(6, interval: 1) == 0)
        #expect(TimerGrid.tolerance(.max, interval: .max) == .max / 2)
    }

    @Test(arguments: [0, 1, 7, 8, 1000, 8_000_000, 50_000_000, Int64.max / 2, .max] as [Int64])
    func `The slack is within the tolerance`(tolerance: Int64) {
        let slack = TimerGrid.slack(tolerance)
        #expect(slack >= 0)
        #expect(slack <= tolerance)
        #expect(tolerance - slack <= 1_000_000)
        // Most of a tolerance can be used, and a timer with one is never taken for one without.
        #expect(slack >= tolerance - tolerance / 8)
        #expect((slack == 0) == (tolerance == 0))
    }

    @Test func `The slack is shorter than the tolerance by an eighth, but at most by a millisecond`() {
        #expect(TimerGrid.slack(8) == 7)
        #expect(TimerGrid.slack(4_000_000) == 3_500_000)
        #expect(TimerGrid.slack(8_000_000) == 7_000_000)
        #expect(TimerGrid.slack(80_000_000) == 79_000_000)
    }

    @Test func `The first date of a schedule is never before now`() {
        typealias Schedule = RunLoop.Timer.Schedule
        #expect(Schedule.after(.nanoseconds(5)).firstDate(now: 100) == 105)
        #expect(Schedule.after(.nanoseconds(-5)).firstDate(now: 100) == 100)
        #expect(Schedule.after(.seconds(Int64.max)).firstDate(now: 100) == .max)
        #expect(Schedule.every(.nanoseconds(5)).firstDate(now: 100) == 105)
        #expect(Schedule.at(RunLoop.Instant(nanoseconds: 50)).firstDate(now: 100) == 100)
        #expect(Schedule.at(RunLoop.Instant(nanoseconds: 150)).firstDate(now: 100) == 150)
        #expect(Schedule.at(RunLoop.Instant(nanoseconds: .min)).firstDate(now: -1) == -1)
    }
}
