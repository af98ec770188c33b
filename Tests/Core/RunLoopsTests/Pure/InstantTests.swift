// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import Testing

/// Instants and durations at the ends of their range.
@Suite(.ownThread) struct InstantTests {
    @Test func `clampedNanoseconds rounds a duration to whole nanoseconds`() {
        #expect(Duration.zero.clampedNanoseconds == 0)
        #expect(Duration.seconds(1.5).clampedNanoseconds == 1_500_000_000)
        #expect(Duration.nanoseconds(-7).clampedNanoseconds == -7)
        // What is left of a nanosecond is left out.
        #expect(Duration(secondsComponent: 0, attosecondsComponent: 1_999_999_999).clampedNanoseconds == 1)
    }

    @Test func `clampedNanoseconds clamps a duration that does not fit`() {
        #expect(Duration.seconds(Int64.max).clampedNanoseconds == .max)
        #expect(Duration.seconds(Int64.min).clampedNanoseconds == .min)
        #expect(Duration.seconds(9_223_372_036).clampedNanoseconds == 9_223_372_036_000_000_000)
        #expect(Duration.seconds(9_223_372_037).clampedNanoseconds == .max)
        #expect(Duration.seconds(-9_223_372_037).clampedNanoseconds == .min)
        #expect((Duration.seconds(9_223_372_036) + .milliseconds(900)).clampedNanoseconds == .max)
    }

    @Test func `clampedAdding clamps a sum that does not fit`() {
        #expect(Int64.max.clampedAdding(1) == .max)
        #expect(Int64.min.clampedAdding(-1) == .min)
        #expect(Int64.max.clampedAdding(.min) == -1)
        #expect(Int64(3).clampedAdding(-5) == -2)
    }

    @Test func `Advancing an instant clamps at the ends of its range`() {
        let instant = RunLoop.Instant(nanoseconds: 10)
        #expect(instant.advanced(by: .nanoseconds(5)).nanoseconds == 15)
        #expect(instant.advanced(by: .seconds(Int64.max)).nanoseconds == .max)
        #expect(RunLoop.Instant(nanoseconds: -10).advanced(by: .seconds(Int64.min)).nanoseconds == .min)
        #expect(instant.advanced(by: .nanoseconds(1)) > instant)
        #expect(instant.advanced(by: .seconds(1)).base == .monotonic)
    }

    @Test func `The duration between the first and the last instant is exact`() {
        let first = RunLoop.Instant(nanoseconds: .min)
        let last = RunLoop.Instant(nanoseconds: .max)
        #expect(first.duration(to: last) == .nanoseconds(Int64.max) - .nanoseconds(Int64.min))
        #expect(last.duration(to: first) == .nanoseconds(Int64.min) - .nanoseconds(Int64.max))
    }

    @Test(arguments: RunLoop.ClockID.allCases)
    func `now does not decrease, except on the wall clock`(base: RunLoop.ClockID) {
        let earlier = RunLoop.Instant.now(base)
        let later = RunLoop.Instant.now(base)
        #expect(earlier.clock == base)
        // The wall clock may be set back meanwhile.
        if base != .realtime { #expect(earlier <= later) }
    }

    @Test func `The boottime clock is not behind the monotonic clock`() {
        let awake = RunLoop.Instant.now(.monotonic).nanoseconds
        #expect(RunLoop.Instant.now(.boottime).nanoseconds >= awake)
    }

    @Test func `Instants of different clocks are not equal`() {
        #expect(RunLoop.Instant(nanoseconds: 1) != RunLoop.Instant(nanoseconds: 1, clock: .boottime))
    }

    @Test func `Comparing instants of different clocks traps with a message that names the conversion`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = RunLoop.Instant.now(.monotonic) < RunLoop.Instant.now(.realtime)
        }
        expectText(result, "give right.converted(to: .monotonic)")
    }

    @Test func `Subtracting a duration from an instant clamps a result that does not fit`() {
        let instant = RunLoop.Instant(nanoseconds: -10)
        #expect((instant - .nanoseconds(5)).nanoseconds == -15)
        #expect((instant - .seconds(Int64.max)).nanoseconds == .min)
        #expect((RunLoop.Instant(nanoseconds: 10) - .seconds(Int64.min)).nanoseconds == .max)
    }

    @Test func `The duration between instants of different clocks is measured from now`() {
        for base in RunLoop.ClockID.allCases {
            for other in RunLoop.ClockID.allCases {
                let now = RunLoop.Instant.now(base)
                let soon = RunLoop.Instant.now(other) + .seconds(3600)
                // The clocks are not read at the same moment, and a test may wait long for its processor.
                #expect(now < soon.converted(to: base))
                #expect(now.duration(to: soon) > .seconds(1800) && soon - now < .seconds(5400))
                #expect(soon.converted(to: base).base == base)
            }
        }
        let last = RunLoop.Instant(nanoseconds: .max, clock: .boottime)
        #expect(last.converted(to: .boottime) == last)
        // A date that does not fit is the last that does.
        #expect(RunLoop.Instant(nanoseconds: .min, clock: .realtime).converted(to: .monotonic).nanoseconds == .min)
    }
}
