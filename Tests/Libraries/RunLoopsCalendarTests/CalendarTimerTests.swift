// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import RunLoops
import RunLoopsCalendar
import RunLoopsConcurrency
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

import class RunLoops.RunLoop

/// The life of a calendar timer, and the rules for changes of the machine's clock.
///
/// In virtual time; the dates are at 12:00 of each day in Greenwich. Each test begins at 11:00 of the first day.
@Suite(.ownThread, .leavesNothing) struct CalendarTimerTests {
    private static let hour = Duration.seconds(3600)
    private static let day = hour * 24

    private static func daily(
        _ passed: CalendarSchedule.PassedDates = .once, setBack: CalendarSchedule.ClockSetBack = .notAgain
    ) throws -> CalendarSchedule {
        var schedule = CalendarSchedule.daily(at: try CalendarSchedule.Time(hour: 12), in: .gmt)
        (schedule.rules.passedDates, schedule.rules.clockSetBack) = (passed, setBack)
        return schedule
    }

    /// A manual loop with a timer in its default mode, and what the timer was called with.
    private final class Stage {
        let manual: ManualRunLoop
        private(set) var timer: CalendarTimer!
        /// The days of the served dates, counted from the first, and the hours of the wall clock from its beginning.
        private(set) var served: [Int] = []
        private(set) var hours: [Int] = []
        var action: () -> Void = {}
        private let first: Date

        init(_ manual: ManualRunLoop, _ schedule: CalendarSchedule) throws {
            self.manual = manual
            first = Date(timeIntervalSince1970: 20_000 * 86_400 + 12 * 3600)
            let start = RunLoop.Instant(first) - CalendarTimerTests.hour
            manual.changeWallClock(by: manual.now(.realtime).duration(to: start))
            timer = CalendarTimer(schedule, label: "noon") { [weak self] _, date in self?.note(date) }
            try manual.loop.add(timer, in: .default)
        }

        private func note(_ date: Date) {
            served.append(Int(date.timeIntervalSince(first) / 86_400))
            hours.append(Int(manual.now(.realtime).nanoseconds / 3_600_000_000_000) - 20_000 * 24)
            action()
        }

        func advance(_ duration: Duration) { manual.advance(by: duration) }
    }

    private func play(
        _ passed: CalendarSchedule.PassedDates = .once, setBack: CalendarSchedule.ClockSetBack = .notAgain,
        _ body: (Stage) throws -> Void
    ) throws {
        try ManualRunLoop.with { manual in try body(Stage(manual, Self.daily(passed, setBack: setBack))) }
    }

    // MARK: Life

    @Test func `A calendar timer fires at each date until its callout invalidates it`() throws {
        try play { stage in
            stage.action = { if stage.served.count == 3 { stage.timer.invalidate() } }
            stage.advance(Self.day * 5)
            #expect(stage.served == [0, 1, 2])
            #expect(!stage.timer.isValid)
            #expect(stage.timer.nextDate == nil)
            let isAdded = try stage.manual.loop.add(stage.timer, in: .default)
            #expect(!isAdded)
            #expect(stage.manual.loop.run(in: .default, for: .zero) == .finished)
        }
    }

    @Test func `A loop with a calendar timer sleeps once for each date and needs no wake-up call`() throws {
        try play { stage in
            stage.advance(.seconds(3599))
            #expect(stage.manual.sleeps == 1)
            #expect(stage.served == [])
            stage.advance(.seconds(1))
            #expect(stage.served == [0])
            let sleeps = stage.manual.sleeps
            stage.advance(Self.day * 10)
            // One sleep until each date; the last advance ends at a date.
            #expect(stage.manual.sleeps == sleeps + 10)
            #expect(stage.manual.wakeUps == 0)
        }
    }

    @Test func `The closure and the timer are released when the timer is invalidated and when its loop ends`() throws {
        for invalidates in [true, false] {
            let witness = Witness()
            weak var timer: CalendarTimer?
            try ManualRunLoop.with { manual in
                do {
                    let held = witness.makeToken()
                    let made = CalendarTimer(
                        try Self.daily(setBack: .again(ifBehindBy: .zero))
                    ) { _, _ in withExtendedLifetime(held) {} }
                    timer = made
                    try manual.loop.add(made, in: .common)
                }
                manual.advance(by: Self.day)
                #expect(!witness.isGone)
                if invalidates { timer?.invalidate() }
                #expect(witness.isGone == invalidates)
            }
            #expect(witness.isGone)
            #expect(timer == nil)
        }
    }

    @Test func `A timer in no loop is released`() throws {
        weak var timer: CalendarTimer?
        do {
            let made = CalendarTimer(try Self.daily()) { _, _ in }
            timer = made
            #expect(made.nextDate == nil)
        }
        #expect(timer == nil)
    }

    @Test func `A timer fires in the modes it was added to`() throws {
        try play { stage in
            let mode = RunLoop.Mode("private")
            try stage.manual.loop.add(stage.timer, in: mode)
            #expect(stage.manual.loop.contains(stage.timer, in: mode))
            stage.manual.loop.remove(stage.timer, from: .default)
            #expect(!stage.manual.loop.contains(stage.timer, in: .default))
            stage.manual.advance(by: Self.day, in: .default)
            #expect(stage.served == [])
            stage.manual.advance(by: Self.day, in: mode)
            #expect(stage.served == [0, 1])
        }
    }

    @Test func `A timer that is removed and added again later skips the dates in between`() throws {
        try play { stage in
            stage.manual.loop.remove(stage.timer, from: .default)
            #expect(stage.timer.nextDate == nil)
            stage.advance(Self.day * 3)
            try stage.manual.loop.add(stage.timer, in: .default)
            stage.advance(Self.day)
            #expect(stage.served == [3])
        }
    }

    @Test func `A timer that its callout removes and adds again continues to fire`() throws {
        try play { stage in
            stage.action = {
                stage.manual.loop.remove(stage.timer, from: .default)
                #expect((try? stage.manual.loop.add(stage.timer, in: .default)) == true)
            }
            stage.advance(Self.day * 3)
            #expect(stage.served == [0, 1, 2])
        }
    }

    @Test func `Inside the callout nextDate is the date of the next call`() throws {
        try play { stage in
            var next: [Date?] = []
            stage.action = { next.append(stage.timer.nextDate) }
            stage.advance(Self.day)
            #expect(next == [Date(timeIntervalSince1970: 20_001 * 86_400 + 12 * 3600)])
        }
    }

    @Test func `A timer invalidated by another thread while its loop sleeps does not fire`() throws {
        try TestThread.run { () throws in
            let timer = CalendarTimer(try Self.daily()) { _, _ in Issue.record("the date is a year away") }
            let loop = RunLoop.current
            try loop.add(timer, in: .default)
            let canceller = TestThread {
                while !loop.isWaiting { sched_yield() }
                timer.invalidate()
                loop.perform { loop.stop() }
            }
            #expect(loop.runPlenty() == .stopped)
            canceller.join()
            #expect(!timer.isValid)
        }
    }

    @Test func `Reading the clock and the timer's properties on other threads does not change its dates`() throws {
        try play { stage in
            let timer = try #require(stage.timer)
            let isOver = Locked(false)
            let others = (0..<2).map { _ in
                TestThread {
                    while !isOver.copy {
                        timer.lookAtClock()
                        _ = (timer.nextDate, timer.isValid, timer.description)
                    }
                }
            }
            stage.advance(Self.day * 1000)
            isOver.withLock { $0 = true }
            for other in others { other.join() }
            #expect(stage.served == Array(0..<1000))
        }
    }

    @Test func `A timer on the real clock serves its date and is not early`() throws {
        try TestThread.run { () throws in
            let loop = RunLoop.current
            var served: [Date] = []
            var timer: CalendarTimer
            repeat {
                // Seconds are the finest that a schedule has.
                let soon = (Int(RunLoop.Instant.now(.realtime).nanoseconds / 1_000_000_000) + 2) % 86_400
                let time = try CalendarSchedule.Time(hour: soon / 3600, minute: soon / 60 % 60, second: soon % 60)
                timer = CalendarTimer(.daily(at: time, in: .gmt)) { timer, date in
                    #expect(RunLoop.Instant(date) <= .now(.realtime))
                    served.append(date)
                    timer.invalidate()
                }
                try loop.add(timer, in: .default)
                // A thread that was held up for seconds has missed the date.
                if timer.nextDate! > .now + 60 { timer.invalidate() }
            } while !timer.isValid
            let date = timer.nextDate
            #expect(loop.runPlenty() == .finished)
            #expect(served == [date])
        }
    }

    @Test func `A sequence of dates ends when its loop ends`() async throws {
        // Synchronous, since a manual loop belongs to a thread.
        func record(_ days: Int) throws -> RunLoop.EventSequence<Date> {
            try ManualRunLoop.with { manual in
                let start = RunLoop.Instant(Date(timeIntervalSince1970: 20_000 * 86_400))
                manual.changeWallClock(by: manual.now(.realtime).duration(to: start))
                let dates = try manual.loop.dates(of: Self.daily())
                manual.advance(by: Self.day * days)
                return dates
            }
        }
        var days: [Int] = []
        for await date in try record(3) { days.append(date.second / 86_400) }
        #expect(days == [20_000, 20_001, 20_002])
    }

    @Test func `An invalidated sequence of dates is removed from its loop`() throws {
        try ManualRunLoop.with { manual in
            let dates = try manual.loop.dates(of: Self.daily(), in: .default)
            #expect(manual.loop.run(in: .default, for: .zero) == .timedOut)
            dates.invalidate()
            #expect(manual.loop.run(in: .default, for: .zero) == .finished)
        }
    }

    // MARK: The clock is set forward, the machine sleeps, the thread is busy

    /// The ways in which dates pass without a look of the timer.
    enum Passing: CaseIterable { case clockIsSet, machineSleeps, otherModeRuns }

    private func pass(_ duration: Duration, _ passing: Passing, _ stage: Stage) {
        switch passing {
        case .clockIsSet: stage.manual.changeWallClock(by: duration)
        case .machineSleeps: stage.manual.suspend(for: duration)
        case .otherModeRuns: stage.manual.advance(by: duration, in: RunLoop.Mode("another"))
        }
        stage.advance(.zero)
        // Each date has a turn of its own.
        stage.advance(.seconds(1))
    }

    @Test(arguments: Passing.allCases) func `If several dates have passed, only the latest is served`(
        passing: Passing
    ) throws {
        try play { stage in
            // From 11:00 of the first day until 13:00 of the fourth.
            pass(Self.hour * 74, passing, stage)
            #expect(stage.served == [3])
            #expect(stage.hours == [85])
            stage.advance(Self.day)
            #expect(stage.served == [3, 4])
        }
    }

    @Test(arguments: Passing.allCases) func `With the rule .each every past date is served in order`(
        passing: Passing
    ) throws {
        try play(.each) { stage in
            pass(Self.hour * 74, passing, stage)
            #expect(stage.served == [0, 1, 2, 3])
            stage.advance(Self.day)
            #expect(stage.served == [0, 1, 2, 3, 4])
        }
    }

    @Test(arguments: Passing.allCases) func `With the rule .skip(laterThan:) no date is served later than the limit`(
        passing: Passing
    ) throws {
        try play(.skip(laterThan: Self.hour - .seconds(1))) { stage in
            pass(Self.hour * 74, passing, stage)
            #expect(stage.served == [])
            stage.advance(Self.day)
            #expect(stage.served == [4])
        }
        try play(.skip(laterThan: Self.hour)) { stage in
            pass(Self.hour * 74, passing, stage)
            #expect(stage.served == [3])
        }
    }

    @Test func `Setting the clock forward by thirty years causes one call, or one for each day with the rule .each`()
        throws
    {
        try play { stage in
            stage.manual.changeWallClock(by: Self.day * 10_957)
            stage.advance(.seconds(1))
            #expect(stage.served == [10_956])
        }
        try play(.each) { stage in
            stage.manual.changeWallClock(by: Self.day * 10_957)
            stage.advance(.seconds(1))
            #expect(stage.served == Array(0...10_956))
        }
    }

    // MARK: The clock is set back

    @Test func `A clock set back before a date postpones it`() throws {
        try play { stage in
            stage.manual.changeWallClock(by: .zero - Self.hour * 5)
            stage.advance(Self.hour * 5)
            #expect(stage.served == [])
            stage.advance(Self.hour)
            #expect(stage.served == [0])
            #expect(stage.hours == [12])
        }
    }

    @Test func `Dates that the clock reaches a second time are not served again`() throws {
        try play { stage in
            stage.advance(Self.day * 2)
            #expect(stage.served == [0, 1])
            stage.manual.changeWallClock(by: .zero - Self.day * 2)
            stage.timer.lookAtClock()
            stage.advance(Self.day * 2)
            #expect(stage.served == [0, 1])
            stage.advance(Self.day)
            #expect(stage.served == [0, 1, 2])
        }
    }

    @Test func `A timer removed and added after the clock was set back does not serve its last date a second time`()
        throws
    {
        try play { stage in
            stage.advance(Self.day)
            stage.manual.loop.remove(stage.timer, from: .default)
            stage.manual.changeWallClock(by: .zero - Self.day)
            try stage.manual.loop.add(stage.timer, in: .default)
            stage.advance(Self.day * 2)
            #expect(stage.served == [0, 1])
        }
    }

    @Test func `With the rule .again dates that the clock reaches a second time are served again`() throws {
        try play(setBack: .again(ifBehindBy: .zero)) { stage in
            stage.advance(Self.day * 2)
            #expect(stage.served == [0, 1])
            stage.manual.changeWallClock(by: .zero - Self.day * 2)
            stage.timer.lookAtClock()
            stage.advance(Self.day * 3)
            #expect(stage.served == [0, 1, 0, 1, 2])
        }
    }

    @Test func `A clock set back by less than the limit of .again(ifBehindBy:) serves no date again`() throws {
        try play(setBack: .again(ifBehindBy: Self.hour * 3)) { stage in
            stage.advance(Self.hour * 2)
            #expect(stage.served == [0])
            // From 13:00 to 09:00:01, which is a second less than three hours behind the date.
            stage.manual.changeWallClock(by: .zero - Self.hour * 4 + .seconds(1))
            stage.timer.lookAtClock()
            stage.advance(Self.hour * 5)
            #expect(stage.served == [0])
            // From 14:00:01 to 09:00:00.
            stage.manual.changeWallClock(by: .zero - Self.hour * 5 - .seconds(1))
            stage.timer.lookAtClock()
            stage.advance(Self.hour * 5)
            #expect(stage.served == [0, 0])
        }
    }

    @Test func `With the rule .again a timer added while the clock is a year ahead fires after the clock is corrected`()
        throws
    {
        try play(setBack: .again(ifBehindBy: Self.hour * 3)) { stage in
            stage.manual.changeWallClock(by: .zero - Self.day * 365)
            stage.timer.lookAtClock()
            stage.advance(Self.hour)
            #expect(stage.served == [-365])
        }
    }

    @Test func `A clock set back after a timer is found due and before its callout postpones the date`() throws {
        try play { stage in
            // Both are due in one turn; this one was added later and has an earlier date.
            let noon = RunLoop.Instant(Date(timeIntervalSince1970: 20_000 * 86_400 + 12 * 3600))
            let setter = RunLoop.Timer(.at(noon - .seconds(1)), tolerance: .seconds(8)) { _ in
                stage.manual.changeWallClock(by: .zero - Self.hour)
            }
            stage.manual.loop.add(setter, in: .default)
            stage.advance(Self.hour)
            #expect(!setter.isValid)
            #expect(stage.served == [])
            stage.advance(Self.hour)
            #expect(stage.served == [0])
            #expect(stage.hours == [12])
        }
    }

    @Test func `A clock set back inside the callout follows the rule clockSetBack`() throws {
        for (rule, expected) in [
            (CalendarSchedule.ClockSetBack.notAgain, [0, 1]), (.again(ifBehindBy: .zero), [0, 0, 1]),
        ] {
            try play(setBack: rule) { stage in
                stage.action = {
                    stage.action = {}
                    stage.manual.changeWallClock(by: .zero - Self.hour)
                    stage.timer.lookAtClock()
                }
                stage.advance(Self.hour * 26)
                #expect(stage.served == expected)
            }
        }
    }
}
