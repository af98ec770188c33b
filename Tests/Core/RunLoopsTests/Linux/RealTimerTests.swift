// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import Testing

@testable import RunLoops

/// Timers in real time: at or after their date, never before.
///
/// How long after is the machine's affair.
@Suite(.ownThread) struct RealTimerTests {
    /// The four ways to sleep: futex or epoll, and both fine waits.
    enum Way: CaseIterable {
        case futex, epoll, timerDescriptor
    }

    private func run(_ way: Way, _ body: @escaping @Sendable (RunLoop) -> Void) {
        withRealLoop(fineWait: way == .timerDescriptor ? .timerDescriptor : .nanosecondCall) { loop in
            let pipe = DescriptorPair.pipe()
            if way != .futex { addDescriptorSource(RunLoop.DescriptorSource(pipe.first) { _, _ in }, to: loop) }
            body(loop)
        }
    }

    @Test(arguments: Way.allCases, RunLoop.ClockID.allCases)
    func `A repeating timer fires at or after each date of its grid`(way: Way, clock: RunLoop.ClockID) {
        run(way) { loop in
            let fires = Box(0)
            let first = Box<RunLoop.Instant?>(nil)
            let timer = RunLoop.Timer(.after(.milliseconds(3), every: .milliseconds(2), clock: clock)) { timer in
                fires.value += 1
                let date = timer.deadline
                // A wall clock that is set back meanwhile would not be the loop's fault.
                if clock != .realtime { #expect(.now(clock) >= date) }
                let offset = first.value?.duration(to: date) ?? .seconds(-1)
                #expect(offset >= .zero)
                #expect(offset.clampedNanoseconds % 2_000_000 == 0)
                if fires.value == 6 { loop.stop() }
            }
            // The grid's own: making the timer may have taken longer than until an instant that was chosen before.
            first.value = timer.deadline
            loop.add(timer, in: .default)
            #expect(loop.runPlenty() == .stopped)
        }
    }

    @Test(arguments: Way.allCases) func `A run ends at or after its limit`(way: Way) {
        run(way) { loop in
            loop.addSource()
            for milliseconds in [0, 1, 3, 7] {
                let limit = RunLoop.Instant.now.advanced(by: .milliseconds(milliseconds))
                #expect(loop.run(in: .default, until: limit) == .timedOut)
                #expect(RunLoop.Instant.now >= limit)
            }
        }
    }

    @Test(arguments: Way.allCases) func `The most punctual of many runs is less than a millisecond late`(way: Way) {
        run(way) { loop in
            loop.addSource()
            var best = Duration.seconds(1)
            let isPrompt = repeatUntilPrompt {
                let limit = RunLoop.Instant.now.advanced(by: .microseconds(300))
                _ = loop.run(in: .default, until: limit)
                best = min(best, limit.duration(to: .now))
                // Finer than epoll's own milliseconds.
                return best < .milliseconds(1)
            }
            #expect(isPrompt, "\(best) late")
        }
    }

    @Test(arguments: Way.allCases) func `Timers of all clocks fire in the same run`(way: Way) {
        run(way) { loop in
            let fired = Box<[String]>([])
            for clock in RunLoop.ClockID.allCases {
                loop.add(
                    RunLoop.Timer(.after(.milliseconds(5), clock: clock)) { _ in
                        fired.value.append("\(clock)")
                        if fired.value.count == 3 { loop.stop() }
                    }, in: .default)
            }
            #expect(loop.runPlenty() == .stopped)
            #expect(fired.value.sorted() == ["boottime", "monotonic", "realtime"])
        }
    }

    @Test func `A timer whose callout takes longer than its interval does not starve a descriptor`() {
        let pipe = DescriptorPair.pipe()
        pipe.send("x")
        withRealLoop { loop in
            let served = Box(0)
            loop.add(RunLoop.Timer(.every(.nanoseconds(1))) { _ in }, in: .default)
            addDescriptorSource(
                RunLoop.DescriptorSource(pipe.first) { _, _ in
                    served.value += 1
                    if served.value == 20 { loop.stop() }
                }, to: loop)
            #expect(loop.runPlenty() == .stopped)
        }
    }

    @Test func `Twenty tolerant timers share wake-ups in real time`() {
        let calls = CountingCalls()
        withRealLoop(calls: calls) { loop in
            let fires = Box(0)
            for number in 0..<20 {
                let schedule = RunLoop.Timer.Schedule.after(
                    .milliseconds(100 + 5 * number), every: .milliseconds(100))
                loop.add(
                    RunLoop.Timer(schedule, tolerance: .milliseconds(50)) { timer in
                        fires.value += 1
                        #expect(timer.deadline <= .now)
                    }, in: .default)
            }
            _ = loop.run(in: .default, for: .milliseconds(500))
            #expect(fires.value >= 20)
            // A thread that is late serves more at once, not fewer: there are never more waits than this.
            #expect(calls.waits <= 20)
        }
    }
}
