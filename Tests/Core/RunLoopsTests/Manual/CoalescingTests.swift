// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// Specification 3.4: a tolerance lets one wake-up serve several timers.
@Suite(.ownThread) struct CoalescingTests {
    private struct Outcome {
        var sleeps = 0
        var fires = 0
        var isEarly = false
        var isLate = false
    }

    /// Repeating timers, `count` of them, their first dates `phase` apart, for three seconds.
    private func run(_ count: Int, phase: Duration, tolerance: Duration) -> Outcome {
        ManualRunLoop.with { manual in
            let outcome = Box(Outcome())
            for number in 0..<count {
                let schedule = RunLoop.Timer.Schedule.after(
                    .milliseconds(100) + phase * number, every: .milliseconds(100))
                let timer = RunLoop.Timer(schedule, tolerance: tolerance) { timer in
                    let lateness = timer.deadline.duration(to: manual.now)
                    outcome.value.fires += 1
                    if lateness < .zero { outcome.value.isEarly = true }
                    if lateness > tolerance { outcome.value.isLate = true }
                }
                manual.loop.add(timer, in: .default)
            }
            manual.loop.run(in: .default, for: .seconds(3))
            outcome.value.sleeps = manual.sleeps
            return outcome.value
        }
    }

    @Test func `Twenty timers of different phases share wake-ups within their tolerance`() {
        let outcome = run(20, phase: .milliseconds(5), tolerance: .milliseconds(50))
        #expect(outcome.sleeps <= 70)
        // 29 or 30 dates of each are within the time.
        #expect(outcome.fires >= 20 * 29)
        #expect(!outcome.isEarly)
        #expect(!outcome.isLate)
    }

    @Test func `Twenty timers of equal phases share every wake-up`() {
        let outcome = run(20, phase: .zero, tolerance: .milliseconds(50))
        #expect(outcome.sleeps <= 33)
        #expect(outcome.fires >= 20 * 29)
        #expect(!outcome.isEarly)
        #expect(!outcome.isLate)
    }

    @Test func `Without tolerance, timers fire exactly on time and each date has its own wake-up`() {
        let outcome = run(20, phase: .milliseconds(5), tolerance: .zero)
        #expect(outcome.sleeps >= 580)
        #expect(!outcome.isEarly)
        #expect(!outcome.isLate)
    }

    @Test func `A tolerant timer fires when another timer wakes the thread within its tolerance`() {
        ManualRunLoop.with { manual in
            let start = manual.now
            let fired = Box<Duration?>(nil)
            let patient = RunLoop.Timer(.after(.milliseconds(100)), tolerance: .milliseconds(100)) { _ in
                fired.value = start.duration(to: manual.now)
            }
            manual.loop.add(patient, in: .default)
            manual.loop.add(RunLoop.Timer(.after(.milliseconds(130))) { _ in }, in: .default)
            manual.loop.run(in: .default, for: .seconds(1))
            #expect(fired.value == .milliseconds(130))
            #expect(manual.sleeps == 1)
        }
    }

    @Test func `A tolerant timer does not fire at a wake-up before its date`() {
        ManualRunLoop.with { manual in
            let start = manual.now
            let fired = Box<Duration>(.zero)
            let patient = RunLoop.Timer(.after(.milliseconds(100)), tolerance: .milliseconds(40)) { _ in
                fired.value = start.duration(to: manual.now)
            }
            manual.loop.add(patient, in: .default)
            manual.loop.add(RunLoop.Timer(.after(.milliseconds(99))) { _ in }, in: .default)
            manual.loop.run(in: .default, for: .seconds(1))
            #expect(fired.value >= .milliseconds(100))
            #expect(fired.value <= .milliseconds(140))
        }
    }

    @Test func `A late fire within the tolerance does not shift the grid`() {
        ManualRunLoop.with { manual in
            let start = manual.now
            let dates = Box<[Duration]>([])
            let timer = RunLoop.Timer(.every(.milliseconds(100)), tolerance: .milliseconds(50)) { timer in
                dates.value.append(start.duration(to: timer.deadline))
            }
            manual.loop.add(timer, in: .default)
            manual.loop.run(in: .default, for: .milliseconds(560))
            #expect(dates.value == (1...5).map { .milliseconds(100 * $0) })
        }
    }

    @Test func `A tolerance set while the timer waits takes effect at once`() {
        ManualRunLoop.with { manual in
            let start = manual.now
            let fired = Box<Duration>(.zero)
            let timer = RunLoop.Timer(.after(.milliseconds(100)), tolerance: .milliseconds(900)) { _ in
                fired.value = start.duration(to: manual.now)
            }
            manual.loop.add(timer, in: .default)
            timer.tolerance = .zero
            manual.loop.run(in: .default, for: .seconds(2))
            #expect(fired.value == .milliseconds(100))
        }
    }

    @Test(arguments: [21, 22, 23]) func `Random timers are never early and never later than their tolerance`(
        seed: UInt64
    ) {
        ManualRunLoop.with { manual in
            var random = SeededRandom(seed)
            let late = Box(0)
            let fires = Box(0)
            for _ in 0..<40 {
                let interval = Duration.microseconds(Int.random(in: 500...200_000, using: &random))
                let delay = Duration.microseconds(Int.random(in: 0...300_000, using: &random))
                let tolerance = interval * Int.random(in: 0...6, using: &random) / 10
                let timer = RunLoop.Timer(.after(delay, every: interval), tolerance: tolerance) { timer in
                    fires.value += 1
                    let lateness = timer.deadline.duration(to: manual.now)
                    if lateness < .zero || lateness > timer.tolerance { late.value += 1 }
                }
                manual.loop.add(timer, in: .default)
            }
            manual.loop.run(in: .default, for: .seconds(2))
            #expect(fires.value > 400)
            #expect(late.value == 0)
        }
    }
}
