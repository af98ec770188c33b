// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// Specification 3.3: timers.
@Suite(.ownThread) struct TimerRuleTests {
    /// Offsets from the start at which something happened.
    private final class Clock {
        private let manual: ManualRunLoop
        private let start: RunLoop.Instant
        var times: [Int] = []

        init(_ manual: ManualRunLoop) {
            self.manual = manual
            start = manual.now
        }

        /// Milliseconds since the start.
        var now: Int { Int(start.duration(to: manual.now) / .milliseconds(1)) }
        func note() { times.append(now) }
    }

    @Test func `A timer fires at its date`() {
        ManualRunLoop.with { manual in
            let clock = Clock(manual)
            manual.loop.add(RunLoop.Timer(.after(.milliseconds(300))) { _ in clock.note() }, in: .default)
            manual.advance(by: .milliseconds(299))
            #expect(clock.times == [])
            manual.advance(by: .milliseconds(1))
            #expect(clock.times == [300])
        }
    }

    @Test func `A delay counts from the creation of the timer, not from its addition`() {
        ManualRunLoop.with { manual in
            let fired = Box<[Duration]>([])
            let start = manual.now
            func make() -> RunLoop.Timer {
                RunLoop.Timer(.after(.seconds(3))) { _ in fired.value.append(start.duration(to: manual.now)) }
            }
            let (early, late, restarted) = (make(), make(), make())
            manual.advance(by: .seconds(1))
            manual.loop.add(early, in: .default)
            manual.advance(by: .seconds(4))
            manual.loop.add(late, in: .default)
            restarted.restart(after: .seconds(3))
            manual.loop.add(restarted, in: .default)
            manual.advance(by: .seconds(10))
            // The second was due when it was added; the third counts anew.
            #expect(fired.value == [.seconds(3), .seconds(5), .seconds(8)])
        }
    }

    @Test func `A one-shot timer is valid in its callout and invalid after it`() {
        ManualRunLoop.with { manual in
            let timer = RunLoop.Timer(.after(.zero)) { timer in
                #expect(timer.isValid)
                #expect(manual.loop.contains(timer, in: .default))
            }
            manual.loop.add(timer, in: .default)
            manual.loop.runTurn()
            #expect(!timer.isValid)
            #expect(!manual.loop.contains(timer, in: .default))
        }
    }

    @Test func `A repeating timer fires on the grid of its first date`() {
        ManualRunLoop.with { manual in
            let clock = Clock(manual)
            let schedule = RunLoop.Timer.Schedule.after(.milliseconds(50), every: .milliseconds(100))
            manual.loop.add(RunLoop.Timer(schedule) { _ in clock.note() }, in: .default)
            manual.advance(by: .milliseconds(400))
            #expect(clock.times == [50, 150, 250, 350])
        }
    }

    @Test func `A late fire skips dates that have passed and keeps the grid`() {
        ManualRunLoop.with { manual in
            let clock = Clock(manual)
            let timer = RunLoop.Timer(.every(.milliseconds(100))) { _ in
                clock.note()
                if clock.times.count == 1 { manual.idle(for: .milliseconds(250)) }
            }
            manual.loop.add(timer, in: .default)
            manual.advance(by: .milliseconds(600))
            #expect(clock.times == [100, 400, 500, 600])
        }
    }

    @Test func `A timer that is 3 ms late fires late once and then at its next date`() {
        ManualRunLoop.with { manual in
            let clock = Clock(manual)
            manual.loop.add(RunLoop.Timer(.every(.milliseconds(10))) { _ in clock.note() }, in: .default)
            manual.idle(for: .milliseconds(13))
            manual.advance(by: .milliseconds(10))
            #expect(clock.times == [13, 20])
        }
    }

    @Test func `A timer does not fire inside its own callout`() {
        ManualRunLoop.with { manual in
            let clock = Clock(manual)
            let other = Box(0)
            let timer = RunLoop.Timer(.every(.milliseconds(100))) { _ in
                clock.note()
                #expect(manual.loop.run(in: .default, for: .milliseconds(450)) == .timedOut)
            }
            manual.loop.add(timer, in: .default)
            manual.loop.add(RunLoop.Timer(.every(.milliseconds(100))) { _ in other.value += 1 }, in: .default)
            manual.loop.run(in: .default, for: .milliseconds(100))
            #expect(clock.times == [100])
            #expect(clock.now == 550)
            // At 100 it comes after the other, in the nested run at 100, 200, … 500.
            #expect(other.value == 5)
            #expect(timer.deadline == manual.now.advanced(by: .milliseconds(50)))
        }
    }

    @Test func `Timers due in one turn fire in the order of their dates`() {
        ManualRunLoop.with { manual in
            for delay in [30, 10, 20, 10, 0] {
                manual.loop.add(RunLoop.Timer(.after(.milliseconds(delay)), label: "\(delay)") { _ in }, in: .default)
            }
            manual.idle(for: .milliseconds(30))
            let recorder = RunLoop.TraceRecorder(manual.loop)
            manual.loop.runTurn()
            #expect(recorder.callouts == [0, 10, 10, 20, 30].map { "timer \"\($0)\"" })
        }
    }

    @Test func `Timers of equal dates fire in the order in which they were added`() {
        ManualRunLoop.with { manual in
            let labels = ["x", "a", "m", "b"]
            for label in labels {
                manual.loop.add(RunLoop.Timer(.after(.milliseconds(5)), label: label) { _ in }, in: .default)
            }
            let recorder = RunLoop.TraceRecorder(manual.loop)
            manual.advance(by: .milliseconds(5))
            #expect(recorder.callouts == labels.map { "timer \"\($0)\"" })
        }
    }

    @Test func `A later deadline set in the callout starts a new grid`() {
        ManualRunLoop.with { manual in
            let clock = Clock(manual)
            let timer = RunLoop.Timer(.every(.milliseconds(100))) { timer in
                clock.note()
                if clock.times.count == 1 { timer.deadline = manual.now.advanced(by: .milliseconds(130)) }
            }
            manual.loop.add(timer, in: .default)
            manual.advance(by: .milliseconds(450))
            #expect(clock.times == [100, 230, 330, 430])
        }
    }

    @Test func `An earlier deadline set in the callout has no effect`() {
        ManualRunLoop.with { manual in
            let clock = Clock(manual)
            let timer = RunLoop.Timer(.every(.milliseconds(100))) { timer in
                clock.note()
                timer.deadline = RunLoop.Instant(nanoseconds: 0)
            }
            manual.loop.add(timer, in: .default)
            manual.advance(by: .milliseconds(300))
            #expect(clock.times == [100, 200, 300])
        }
    }

    @Test func `A deadline set in the callout of a one-shot timer has no effect`() {
        ManualRunLoop.with { manual in
            let clock = Clock(manual)
            let timer = RunLoop.Timer(.after(.milliseconds(10))) { timer in
                clock.note()
                timer.deadline = manual.now.advanced(by: .milliseconds(10))
            }
            manual.loop.add(timer, in: .default)
            manual.advance(by: .milliseconds(100))
            #expect(clock.times == [10])
            #expect(!timer.isValid)
        }
    }

    @Test func `Outside of its callout, a timer's deadline can be set to an earlier or a later instant`() {
        ManualRunLoop.with { manual in
            let clock = Clock(manual)
            let timer = RunLoop.Timer(.every(.milliseconds(100))) { _ in clock.note() }
            manual.loop.add(timer, in: .default)
            timer.deadline = manual.now.advanced(by: .milliseconds(30))
            manual.advance(by: .milliseconds(150))
            #expect(clock.times == [30, 130])
            timer.deadline = manual.now.advanced(by: .milliseconds(200))
            manual.advance(by: .milliseconds(320))
            #expect(clock.times == [30, 130, 350, 450])
            timer.deadline = RunLoop.Instant(nanoseconds: 1)
            #expect(timer.deadline == manual.now)
        }
    }

    @Test func `A timer in several modes fires once for each of its dates`() {
        ManualRunLoop.with { manual in
            let clock = Clock(manual)
            let timer = RunLoop.Timer(.every(.milliseconds(100))) { _ in clock.note() }
            for mode: RunLoop.Mode in ["a", "b", .common] { manual.loop.add(timer, in: mode) }
            manual.advance(by: .milliseconds(150), in: "a")
            manual.loop.runTurn(in: "b")
            #expect(clock.times == [100])
            manual.advance(by: .milliseconds(50), in: "b")
            #expect(clock.times == [100, 200])
            manual.loop.remove(timer, from: "a")
            #expect(manual.loop.runTurn(in: "a") == .finished)
            #expect(manual.loop.contains(timer, in: "b"))
        }
    }

    @Test func `A loop refuses a timer of another loop until the timer is removed from that loop`() {
        ManualRunLoop.with { outer in
            ManualRunLoop.with { inner in
                let timer = RunLoop.Timer(.every(.seconds(1))) { _ in }
                outer.loop.add(timer, in: .default)
                inner.loop.add(timer, in: .default)
                #expect(outer.loop.contains(timer, in: .default))
                #expect(!inner.loop.contains(timer, in: .default))
                outer.loop.remove(timer, from: .default)
                inner.loop.add(timer, in: .default)
                #expect(inner.loop.contains(timer, in: .default))
                #expect(!outer.loop.contains(timer, in: .default))
            }
        }
    }

    @Test func `A timer postponed, removed or invalidated by an earlier timer of the turn does not fire`() {
        ManualRunLoop.with { manual in
            func bystander(_ name: String) -> RunLoop.Timer {
                let timer = RunLoop.Timer(.after(.milliseconds(2)), label: name) { _ in Issue.record("\(name) fired") }
                manual.loop.add(timer, in: .default)
                return timer
            }
            let (late, out, gone) = (bystander("late"), bystander("out"), bystander("gone"))
            manual.loop.add(
                RunLoop.Timer(.after(.milliseconds(1))) { _ in
                    late.deadline = manual.now.advanced(by: .seconds(1))
                    manual.loop.remove(out, from: .default)
                    gone.invalidate()
                }, in: .default)
            manual.idle(for: .milliseconds(3))
            manual.loop.runTurn()
            #expect(late.isValid && out.isValid && !gone.isValid)
        }
    }

    @Test func `A tolerance set by an earlier timer of the turn does not delay a due timer`() {
        ManualRunLoop.with { manual in
            let (loop, calls) = (manual.loop, Locked<[String]>([]))
            let exact = RunLoop.Timer(.after(.milliseconds(2))) { _ in calls.note("exact") }
            let tolerant = RunLoop.Timer(.after(.milliseconds(2)), tolerance: .milliseconds(50)) { _ in
                calls.note("tolerant")
            }
            loop.add(
                RunLoop.Timer(.after(.milliseconds(1))) { _ in
                    calls.note("first")
                    exact.tolerance = .seconds(1)
                    tolerant.tolerance = .seconds(1)
                }, in: .default)
            loop.add(exact, in: .default)
            loop.add(tolerant, in: .default)
            manual.idle(for: .milliseconds(3))
            loop.runTurn()
            #expect(calls.lines == ["first", "exact", "tolerant"])
        }
    }

    @Test func `A timer added in a callout waits for the next turn`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            loop.add(
                RunLoop.Timer(.after(.zero), label: "first") { _ in
                    loop.add(RunLoop.Timer(.after(.zero), label: "second") { _ in }, in: .default)
                }, in: .default)
            let recorder = RunLoop.TraceRecorder(loop)
            loop.runTurn()
            #expect(recorder.callouts == ["timer \"first\""])
            loop.runTurn()
            #expect(recorder.callouts == ["timer \"first\"", "timer \"second\""])
        }
    }

    @Test func `nextTimerDeadline is the date of the mode's earliest timer`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            #expect(loop.nextTimerDeadline(in: .default) == nil)
            let start = manual.now
            let late = RunLoop.Timer(.after(.seconds(5))) { _ in }
            let early = RunLoop.Timer(.every(.seconds(2)), tolerance: .seconds(1)) { timer in
                // While it is served its date still counts.
                #expect(loop.nextTimerDeadline(in: .default) == timer.deadline)
            }
            loop.add(late, in: .default)
            #expect(loop.nextTimerDeadline(in: .default) == start.advanced(by: .seconds(5)))
            loop.add(early, in: .default)
            #expect(loop.nextTimerDeadline(in: .default) == start.advanced(by: .seconds(2)))
            #expect(loop.nextTimerDeadline(in: "other") == nil)
            manual.advance(by: .seconds(3))
            #expect(loop.nextTimerDeadline(in: .default) == start.advanced(by: .seconds(4)))
            early.invalidate()
            #expect(loop.nextTimerDeadline(in: .default) == start.advanced(by: .seconds(5)))
        }
    }

    @Test func `advanceToNextTimer advances to the next timer's date and not further`() {
        ManualRunLoop.with { manual in
            let clock = Clock(manual)
            #expect(!manual.advanceToNextTimer())
            manual.loop.add(RunLoop.Timer(.every(.milliseconds(70))) { _ in clock.note() }, in: .default)
            #expect(manual.advanceToNextTimer())
            #expect(manual.advanceToNextTimer())
            #expect(clock.times == [70, 140])
            #expect(clock.now == 140)
        }
    }

    @Test func `nextTimerDeadline of a timer in the far future is its date`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            loop.add(RunLoop.Timer(.after(.seconds(Int64.max))) { _ in }, in: .default)
            #expect(loop.nextTimerDeadline(in: .default)?.nanoseconds == .max)
            loop.perform(after: .seconds(Int64.max), in: "delayed") {}
            #expect(loop.nextTimerDeadline(in: "delayed")?.nanoseconds == .max)
            let start = manual.now
            loop.add(RunLoop.Timer(.after(.seconds(1 << 32))) { _ in }, in: .default)
            #expect(loop.nextTimerDeadline(in: .default) == start.advanced(by: .seconds(1 << 32)))
            #expect(!loop.isEmpty(in: .default))
        }
    }

    // MARK: Several modes

    @Test(arguments: ["a", "b", "c"] as [RunLoop.Mode])
    func `A timer of several modes whose deadline is set in its callout fires in each of them`(next: RunLoop.Mode) {
        ManualRunLoop.with { manual in
            let clock = Clock(manual)
            let timer = RunLoop.Timer(.every(.milliseconds(100))) { timer in
                clock.note()
                timer.deadline = manual.now.advanced(by: .milliseconds(130))
            }
            for mode: RunLoop.Mode in ["a", "b", "c"] { manual.loop.add(timer, in: mode) }
            manual.advance(by: .milliseconds(100), in: "a")
            #expect(clock.times == [100])
            manual.advance(by: .milliseconds(130), in: next)
            #expect(clock.times == [100, 230])
            manual.advance(by: .milliseconds(130), in: "a")
            #expect(clock.times == [100, 230, 360])
        }
    }

    // MARK: Restarting

    @Test(arguments: [Duration.zero, .milliseconds(2)])
    func `A one-shot timer restarted in its callout fires again`(tolerance: Duration) {
        ManualRunLoop.with { manual in
            let clock = Clock(manual)
            let schedule = RunLoop.Timer.Schedule.after(.milliseconds(100))
            let timer = RunLoop.Timer(schedule, tolerance: tolerance) { timer in
                clock.note()
                if clock.times.count < 3 { timer.restart(after: .milliseconds(30)) }
            }
            manual.loop.add(timer, in: .default)
            manual.advance(by: .seconds(1))
            let late = Int(tolerance / .milliseconds(1))
            #expect(clock.times.count == 3)
            for (time, earliest) in zip(clock.times, [100, 130, 160]) {
                // Each delay is counted from the fire before, which may have been late.
                #expect(time >= earliest && time <= earliest + 3 * late)
            }
            #expect(!timer.isValid)
            #expect(manual.loop.isEmpty(in: .default))
        }
    }

    @Test func `The last of several restarts in a callout takes effect`() {
        ManualRunLoop.with { manual in
            let clock = Clock(manual)
            let timer = RunLoop.Timer(.after(.milliseconds(10))) { timer in
                clock.note()
                guard clock.times.count == 1 else { return }
                for delay in [500, 5, 50] { timer.restart(after: .milliseconds(delay)) }
                #expect(timer.deadline == manual.now.advanced(by: .milliseconds(50)))
            }
            manual.loop.add(timer, in: .default)
            manual.advance(by: .seconds(1))
            #expect(clock.times == [10, 60])
        }
    }

    @Test func `A restart in the callout with a delay that is not positive waits for the next turn`() {
        ManualRunLoop.with { manual in
            let clock = Clock(manual)
            let timer = RunLoop.Timer(.after(.zero)) { timer in
                clock.note()
                timer.restart(after: .seconds(-1))
            }
            manual.loop.add(timer, in: .default)
            for turn in 1...3 {
                manual.loop.runTurn()
                #expect(clock.times.count == turn)
            }
        }
    }

    @Test func `A restart in the callout gives a repeating timer a new grid`() {
        ManualRunLoop.with { manual in
            let clock = Clock(manual)
            let timer = RunLoop.Timer(.every(.milliseconds(100))) { timer in
                clock.note()
                // Earlier than the next of the old grid, too.
                if clock.times.count == 1 { timer.restart(after: .milliseconds(30)) }
            }
            manual.loop.add(timer, in: .default)
            manual.advance(by: .milliseconds(400))
            #expect(clock.times == [100, 130, 230, 330])
        }
    }

    @Test(arguments: [20, 300]) func `A timer restarted outside of its callout fires after the new delay`(delay: Int) {
        ManualRunLoop.with { manual in
            let clock = Clock(manual)
            let timer = RunLoop.Timer(.after(.milliseconds(100))) { _ in clock.note() }
            timer.restart(after: .milliseconds(150))
            #expect(timer.deadline == manual.now.advanced(by: .milliseconds(150)))
            manual.loop.add(timer, in: .default)
            manual.advance(by: .milliseconds(10))
            timer.restart(after: .milliseconds(delay))
            #expect(manual.loop.nextTimerDeadline(in: .default) == manual.now.advanced(by: .milliseconds(delay)))
            manual.advance(by: .seconds(1))
            #expect(clock.times == [10 + delay])
        }
    }

    @Test func `A restarted timer fires after other timers of the same date`() {
        ManualRunLoop.with { manual in
            let timers = ["a", "b"].map { RunLoop.Timer(.after(.milliseconds(5)), label: $0) { _ in } }
            for timer in timers { manual.loop.add(timer, in: .default) }
            timers[0].restart(after: .milliseconds(5))
            let recorder = RunLoop.TraceRecorder(manual.loop)
            manual.advance(by: .milliseconds(5))
            #expect(recorder.callouts == ["timer \"b\"", "timer \"a\""])
        }
    }

    @Test func `A restart of an invalid timer has no effect`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let timer = RunLoop.Timer(.after(.milliseconds(5))) { timer in
                timer.invalidate()
                timer.restart(after: .zero)
                #expect(!timer.isValid)
            }
            loop.add(timer, in: .default)
            manual.advance(by: .milliseconds(5))
            timer.restart(after: .zero)
            #expect(!timer.isValid)
            #expect(!loop.add(timer, in: .default))
            manual.advance(by: .seconds(1))
            #expect(loop.isEmpty(in: .default))
        }
    }

    @Test func `A timer restarted and removed in its callout stays valid and can be added again`() {
        ManualRunLoop.with { manual in
            let clock = Clock(manual)
            let witness = Witness()
            do {
                let timer = RunLoop.Timer(.after(.milliseconds(5))) { timer in
                    clock.note()
                    guard clock.times.count == 1 else { return }
                    timer.restart(after: .milliseconds(20))
                    manual.loop.remove(timer, from: .default)
                }
                witness.watch(timer)
                manual.loop.add(timer, in: .default)
                manual.advance(by: .milliseconds(100))
                #expect(clock.times == [5])
                #expect(timer.isValid)
                manual.loop.add(timer, in: .default)
                manual.loop.runTurn()
                #expect(clock.times == [5, 100])
                #expect(!timer.isValid)
            }
            #expect(witness.isGone)
        }
    }

    @Test func `timeRemaining is the time to the timer's date on its own clock`() {
        ManualRunLoop.with { manual in
            for base in RunLoop.ClockID.allCases {
                var inside: Duration?
                let timer = RunLoop.Timer(.after(.seconds(5), clock: base)) { timer in inside = timer.timeRemaining }
                #expect(timer.timeRemaining == .seconds(5))
                manual.loop.add(timer, in: .default)
                manual.advance(by: .seconds(2))
                #expect(timer.timeRemaining == .seconds(3))
                // The question that used to trap for two of the three clocks.
                #expect(abs(manual.now.duration(to: timer.deadline) / .seconds(1) - 3) < 0.001)
                manual.advance(by: .seconds(3))
                #expect(inside == .zero)
                #expect(timer.timeRemaining == nil)
            }
        }
    }
}
