// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import RunLoops
import RunLoopsCalendar
import RunLoopsTestSupport
import Testing

import class RunLoops.RunLoop

/// What cannot be said in these types traps, and names the remedy.
@Suite(.ownThread, .leavesNothing) struct CalendarTrapProcessTests {
    @Test func `Converting a date that is not a number traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = RunLoop.Instant(Date(timeIntervalSince1970: .nan))
        }
        expectText(result, "A date was not a number: check the computation that it comes from.")
    }

    @Test func `Converting an instant of a clock other than realtime to a date traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Date(RunLoop.Instant.now)
        }
        expectText(result, "An instant of the monotonic clock names no date: use an instant of the realtime clock")
    }

    @Test func `Adding a timer to the loop of another thread traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let schedule = CalendarSchedule.daily(at: try CalendarSchedule.Time(hour: 2), in: .gmt)
            let timer = CalendarTimer(schedule, label: "nightly") { _, _ in }
            TestThread.run { _ = try? RunLoop.current.add(timer, in: .default) }
        }
        expectText(
            result, "<CalendarTimer nightly>{valid, daily at 02:00:00 in GMT} was made for the run loop of thread")
    }
}
