// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import RunLoops
import RunLoopsCalendar
import RunLoopsTestSupport
import Testing

import class RunLoops.RunLoop

/// What a calendar timer costs between its dates.
@Suite(.ownThread, .leavesNothing) struct CalendarTimerIdleTests {
    @Test func `A timer with a distant date does not wake its loop`() throws {
        try TestThread.run {
            let loop = RunLoop.current
            let year = try CalendarSchedule.cron("0 0 29 2 *", in: .gmt)
            let timer = CalendarTimer(year) { _, _ in }
            try loop.add(timer, in: .default)
            loop.runUntilIdle()
            var (sleeps, awakenings) = (0, 0)
            let observer = RunLoop.Observer([.beforeWaiting, .afterWaiting]) { _, activity in
                if activity == .beforeWaiting { sleeps += 1 } else { awakenings += 1 }
            }
            loop.add(observer, in: .default)
            #expect(loop.run(in: .default, for: isFull ? .seconds(5) : .milliseconds(50)) == .timedOut)
            // One sleep, and the end of the time.
            #expect((sleeps, awakenings) == (1, 1))
            observer.invalidate()
            timer.invalidate()
        }
    }
}
