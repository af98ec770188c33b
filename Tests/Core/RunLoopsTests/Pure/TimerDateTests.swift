// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTesting
import Testing

/// The arithmetic of dates, as timers show it: the grid, its ends, and the bound of the tolerance.
@Suite struct TimerDateTests {
    /// The date after a fire of a timer whose callout, or what came before it, took `busy`.
    private func next(every interval: Duration, busy: Duration) -> Duration {
        ManualRunLoop.with { manual in
            let start = manual.now
            let timer = RunLoop.Timer(.at(start, every: interval)) { _ in manual.idle(for: busy) }
            manual.loop.add(timer, in: .default)
            manual.advance(by: .zero)
            return start.duration(to: timer.deadline)
        }
    }

    @Test func `The next date of a repeating timer is one interval later`() {
        #expect(next(every: .milliseconds(100), busy: .zero) == .milliseconds(100))
        #expect(next(every: .milliseconds(100), busy: .milliseconds(99)) == .milliseconds(100))
    }

    @Test func `A repeating timer skips a date that is equal to the present instant`() {
        #expect(next(every: .milliseconds(100), busy: .milliseconds(100)) == .milliseconds(200))
    }

    @Test func `Past dates are skipped and the grid is kept`() {
        #expect(next(every: .milliseconds(100), busy: .milliseconds(101)) == .milliseconds(200))
        #expect(next(every: .milliseconds(100), busy: .milliseconds(1050)) == .milliseconds(1100))
        #expect(next(every: .nanoseconds(1), busy: .seconds(5)) == .seconds(5) + .nanoseconds(1))
    }

    @Test func `An interval too large for an Instant sets the next date to the last possible instant`() {
        ManualRunLoop.with { manual in
            let timer = RunLoop.Timer(.at(manual.now, every: .nanoseconds(Int64.max))) { _ in }
            manual.loop.add(timer, in: .default)
            manual.advance(by: .seconds(1))
            #expect(timer.deadline.nanoseconds == .max)
            #expect(timer.isValid)
        }
    }

    @Test func `A delay too large for an Instant sets the date to the last possible instant`() {
        ManualRunLoop.with { manual in
            let timer = RunLoop.Timer(.after(.seconds(Int64.max))) { _ in Issue.record("fired") }
            #expect(timer.deadline.nanoseconds == .max)
            manual.loop.add(timer, in: .default)
            manual.advance(by: .seconds(1_000_000))
            #expect(timer.isValid)
        }
    }

    @Test func `A past date and a negative delay count as the present instant`() {
        ManualRunLoop.with { manual in
            let now = manual.now
            #expect(RunLoop.Timer(.at(now.advanced(by: .seconds(-1)))) { _ in }.deadline == now)
            #expect(RunLoop.Timer(.at(RunLoop.Instant(nanoseconds: .min))) { _ in }.deadline == now)
            #expect(RunLoop.Timer(.after(.seconds(-1))) { _ in }.deadline == now)
            #expect(RunLoop.Timer(.after(.seconds(Int64.min))) { _ in }.deadline == now)
        }
    }

    @Test func `A schedule sets the first date and the interval`() {
        ManualRunLoop.with { manual in
            let now = manual.now
            let every = RunLoop.Timer(.every(.seconds(2))) { _ in }
            #expect(now.duration(to: every.deadline) == .seconds(2))
            #expect(every.interval == .seconds(2))
            #expect(every.repeats)
            let once = RunLoop.Timer(.after(.seconds(3))) { _ in }
            #expect(once.interval == nil)
            #expect(!once.repeats)
            let both = RunLoop.Timer(.after(.seconds(3), every: .seconds(1))) { _ in }
            #expect(now.duration(to: both.deadline) == .seconds(3))
            #expect(both.interval == .seconds(1))
            let wall = RunLoop.Timer(.after(.seconds(1), clock: .realtime)) { _ in }
            #expect(wall.deadline == manual.now(.realtime).advanced(by: .seconds(1)))
            #expect(RunLoop.Timer.Schedule.every(.seconds(1)) == .after(.seconds(1), every: .seconds(1)))
        }
    }

    @Test func `The tolerance is clamped to the range from zero to half the interval`() {
        func tolerance(_ wished: Duration, _ schedule: RunLoop.Timer.Schedule) -> Duration {
            RunLoop.Timer(schedule, tolerance: wished) { _ in }.tolerance
        }
        #expect(tolerance(.milliseconds(30), .every(.milliseconds(100))) == .milliseconds(30))
        #expect(tolerance(.milliseconds(50), .every(.milliseconds(100))) == .milliseconds(50))
        #expect(tolerance(.milliseconds(51), .every(.milliseconds(100))) == .milliseconds(50))
        #expect(tolerance(.seconds(-1), .every(.milliseconds(100))) == .zero)
        #expect(tolerance(.seconds(100), .after(.milliseconds(1))) == .seconds(100))
        #expect(tolerance(.seconds(1), .every(.nanoseconds(1))) == .zero)
    }

    @Test func `A tolerance set after the creation of the timer is clamped`() {
        let timer = RunLoop.Timer(.every(.milliseconds(100))) { _ in }
        timer.tolerance = .seconds(1)
        #expect(timer.tolerance == .milliseconds(50))
        timer.tolerance = .seconds(-1)
        #expect(timer.tolerance == .zero)
    }

    /// The timer itself has a tolerance of up to 4,294,967,294 ns, and another object one that is longer.
    @Test func `Tolerances around 4,294,967,295 nanoseconds are kept exactly`() {
        let edge: [Duration] = [-2, -1, 0, 1].map { .nanoseconds(4_294_967_295 + $0) }
        for timer in [RunLoop.Timer(.after(.seconds(1))) { _ in }, RunLoop.Timer(.every(.seconds(60))) { _ in }] {
            for tolerance in edge + edge.reversed() + [.zero] + edge {
                timer.tolerance = tolerance
                #expect(timer.tolerance == tolerance)
                #expect(timer.interval == (timer.repeats ? .seconds(60) : nil))
            }
        }
        for tolerance in edge {
            #expect(RunLoop.Timer(.after(.seconds(1)), tolerance: tolerance) { _ in }.tolerance == tolerance)
        }
    }
}

extension ManualRunLoop {
    /// The thread is busy: time passes and nothing is served.
    func idle(for duration: Duration) { advance(by: duration, in: "a mode that nothing is in") }
}
