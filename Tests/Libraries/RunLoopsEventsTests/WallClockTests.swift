// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// A timer of the loop itself is a source for the wall clock: no other is needed.
@Suite(.ownThread, .leavesNothing) struct WallClockTests {
    @Test func `A timer at a date fires at that date even if the clock is set or the machine sleeps before`() {
        ManualRunLoop.with { manual in
            let date = manual.now(.realtime).advanced(by: .seconds(3600))
            var fired: RunLoop.Instant?
            let timer = RunLoop.Timer(.at(date)) { _ in fired = manual.now(.realtime) }
            manual.loop.add(timer, in: .default)
            manual.advance(by: .seconds(600))
            // Fifty minutes to go; somebody sets the clock back by twenty.
            manual.changeWallClock(by: .seconds(-1200))
            manual.advance(by: .seconds(3000))
            #expect(fired == nil)
            // Twenty minutes to go; a quarter of an hour of it asleep.
            manual.suspend(for: .seconds(900))
            manual.advance(by: .seconds(299))
            #expect(fired == nil)
            manual.advance(by: .seconds(1))
            #expect(fired == date)
        }
    }

    @Test func `A timer is due at once if the clock is set past its date`() {
        ManualRunLoop.with { manual in
            var fires = 0
            let date = manual.now(.realtime).advanced(by: .seconds(3600))
            manual.loop.add(RunLoop.Timer(.at(date)) { _ in fires += 1 }, in: .default)
            manual.changeWallClock(by: .seconds(7200))
            manual.advance(by: .zero)
            #expect(fires == 1)
        }
    }

    @Test func `A timer at a date on the real clock is not early`() throws {
        try withLoop { loop in
            let date = RunLoop.Instant.now(.realtime).advanced(by: .milliseconds(5))
            loop.add(RunLoop.Timer(.at(date)) { _ in #expect(RunLoop.Instant.now(.realtime) >= date) }, in: .default)
            #expect(loop.runPlenty() == .finished)
        }
    }
}
