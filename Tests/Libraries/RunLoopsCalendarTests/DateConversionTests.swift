// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import RunLoops
import RunLoopsCalendar
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

import class RunLoops.RunLoop

/// Dates of Foundation and instants of the wall clock.
@Suite(.ownThread, .leavesNothing) struct DateConversionTests {
    @Test func `A date converted to an instant and back changes by less than a nanosecond`() {
        var random = SeededRandom(17)
        for _ in 0..<10_000 {
            // From 1980 until 2100, where a date counts tenths of a microsecond.
            let date = Date(timeIntervalSinceReferenceDate: .random(in: -662_000_000...3_124_000_000, using: &random))
            let back = Date(RunLoop.Instant(date))
            #expect(abs(back.timeIntervalSince(date)) < 1e-9)
        }
    }

    @Test func `A whole second is converted exactly`() {
        let instant = RunLoop.Instant(Date(timeIntervalSince1970: 1_795_000_000))
        #expect(instant == RunLoop.Instant(nanoseconds: 1_795_000_000_000_000_000, clock: .realtime))
        #expect(RunLoop.Instant(Date(timeIntervalSince1970: -1)).nanoseconds == -1_000_000_000)
        #expect(Date(RunLoop.Instant(nanoseconds: -1_500_000_000, clock: .realtime)).timeIntervalSince1970 == -1.5)
    }

    @Test func `A date out of the clock's range becomes the clock's first or last instant`() {
        for seconds in [1e10, 1e300, .infinity] {
            #expect(RunLoop.Instant(Date(timeIntervalSince1970: seconds)).nanoseconds == .max)
            #expect(RunLoop.Instant(Date(timeIntervalSince1970: -seconds)).nanoseconds == .min)
        }
        #expect(RunLoop.Instant(.distantFuture).nanoseconds == .max)
        let first = Date(RunLoop.Instant(nanoseconds: .min, clock: .realtime))
        #expect(abs(first.timeIntervalSince1970 + 9_223_372_036.854) < 0.001)
    }

    @Test func `A timer made with a date and an interval fires at the date and one interval later`() {
        ManualRunLoop.with { manual in
            let date = Date(manual.now(.realtime)).addingTimeInterval(3600)
            var fired: [Date] = []
            let timer = RunLoop.Timer(.at(date, every: .seconds(60))) { _ in fired.append(Date(manual.now(.realtime))) }
            manual.loop.add(timer, in: .default)
            manual.advance(by: .seconds(3660))
            #expect(fired == [date, date.addingTimeInterval(60)])
        }
    }
}
