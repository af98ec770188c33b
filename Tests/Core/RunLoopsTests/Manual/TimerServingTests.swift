// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

@testable import RunLoops

/// What timers of a loop count, where the counts end, and how the cost of a serving grows.
@Suite(.ownThread) struct TimerServingTests {
    // MARK: The sequence

    @Test func `A DelayedPerform of a called closure cancels no later closure, even after dates were renumbered`() {
        ManualRunLoop.with { manual in
            let (loop, calls) = (manual.loop, Locked<[String]>([]))
            let called = loop.performLocally(after: .zero) { calls.note("first") }
            loop.runTurn()
            #expect(calls.lines == ["first"])
            // The next closure gets the same cell, and its date the same number.
            loop.withState { $0.timerSequence = .max }
            loop.performLocally(after: .zero) { calls.note("second") }
            #expect(!loop.cancel(called))
            loop.runTurn()
            #expect(calls.lines == ["first", "second"])
        }
    }

    @Test func `A timer keeps its order while more than 2^32 timers are added`() {
        ManualRunLoop.with { manual in
            let (loop, calls) = (manual.loop, Locked<[String]>([]))
            loop.add(RunLoop.Timer(.after(.seconds(10))) { _ in calls.note("first") }, in: .default)
            for half in 1...3 {
                // As many puts as half of the numbers, less a few.
                loop.withState { $0.timerSequence &+= UInt32.max / 2 - 5 }
                for number in 0..<10 {
                    loop.add(
                        RunLoop.Timer(.after(.seconds(10))) { _ in calls.note("\(half).\(number)") }, in: .default)
                }
            }
            manual.advance(by: .seconds(10))
            #expect(calls.lines == ["first"] + (1...3).flatMap { half in (0..<10).map { "\(half).\($0)" } })
            #expect(loop.isEmpty(in: .default))
        }
    }

    @Test func `Timers and closures keep their order when the sequence numbers wrap around`() {
        ManualRunLoop.with { manual in
            let (loop, calls) = (manual.loop, Locked<[String]>([]))
            loop.withState { $0.timerSequence = .max - 12 }
            var names: [RunLoop.DelayedPerform] = []
            for number in 0..<30 {
                let text = "\(number)"
                switch number % 5 {
                case 0: loop.add(RunLoop.Timer(.after(.seconds(1))) { _ in calls.note(text) }, in: .default)
                case 1:
                    loop.add(
                        RunLoop.Timer(.after(.seconds(1)), tolerance: .milliseconds(number)) { _ in calls.note(text) },
                        in: .default)
                case 2:
                    loop.add(
                        RunLoop.Timer(.after(.seconds(1), clock: .boottime)) { _ in calls.note(text) }, in: .default)
                case 3: loop.add(RunLoop.Timer(.after(.seconds(1))) { _ in calls.note(text) }, in: .common)
                default: names.append(loop.performLocally(after: .seconds(1)) { calls.note(text) })
                }
            }
            #expect(loop.cancel(names[0]))
            #expect(loop.cancel(names[5]))
            #expect(!loop.cancel(names[0]))
            manual.advance(by: .seconds(2))
            #expect(calls.lines == (0..<30).filter { $0 != 4 && $0 != 29 }.map { "\($0)" })
        }
    }

    @Test func `Due timers keep their order in a turn when the sequence numbers wrap around`() {
        ManualRunLoop.with { manual in
            let (loop, calls) = (manual.loop, Locked<[String]>([]))
            func add(
                _ text: String, _ delay: Duration = .seconds(1), _ body: @escaping () -> Void = {}
            ) -> RunLoop.Timer {
                let timer = RunLoop.Timer(.after(delay)) { _ in
                    calls.note(text)
                    body()
                }
                loop.add(timer, in: .default)
                return timer
            }
            var putOff: RunLoop.Timer?
            var again: RunLoop.Timer?
            loop.withState { $0.timerSequence = .max - 6 }
            _ = add("first") {
                putOff?.restart(after: .seconds(1))
                again?.restart(after: .zero)
                for number in 0..<6 { _ = add("late \(number)", .zero) }
                // A nested run serves what is due, and what came late.
                loop.add(RunLoop.Timer(.after(.zero)) { _ in calls.note("nested") }, in: "nested")
                loop.runTurn(in: "nested")
            }
            putOff = add("put off")
            again = add("again")
            _ = add("last")
            manual.advance(by: .seconds(1))
            loop.runTurn()
            // A timer that has got another date and is due fires in its place: rule 3.3.11.
            #expect(calls.lines == ["first", "nested", "again", "last"] + (0..<6).map { "late \($0)" })
            manual.advance(by: .seconds(1))
            #expect(calls.lines.last == "put off")
        }
    }

    // MARK: Buckets

    @Test func `Four timer tables are enough for twenty sets of modes that are used one after another`() {
        ManualRunLoop.with { manual in
            let (loop, calls) = (manual.loop, Locked<[String]>([]))
            loop.withState { $0.maxTimerBuckets = 4 }
            let kept = RunLoop.Timer(.after(.seconds(1))) { _ in calls.note("kept") }
            loop.add(kept, in: "kept")
            let name = loop.performLocally(after: .seconds(1), in: "closure") { calls.note("closure") }
            for number in 0..<20 {
                let modes: [RunLoop.Mode] = [RunLoop.Mode("mode \(number)"), RunLoop.Mode("mode \(number + 1)")]
                let clock: RunLoop.ClockID = number % 3 == 0 ? .boottime : .monotonic
                let timer = RunLoop.Timer(.after(.seconds(1), clock: clock)) { _ in calls.note("\(number)") }
                loop.add(timer, in: modes[0])
                // Some are in two modes.
                if number % 4 == 0 { loop.add(timer, in: modes[1]) }
                manual.advance(by: .seconds(number % 2 == 0 ? 1 : 0), in: modes[0])
                #expect(calls.lines.contains("\(number)") == (number % 2 == 0))
                #expect(loop.contains(timer, in: modes[0]) == (number % 2 == 1))
                timer.invalidate()
                #expect(loop.isEmpty(in: modes[0]))
            }
            #expect(calls.lines.count == 10)
            #expect(loop.contains(kept, in: "kept"))
            manual.advance(by: .seconds(1), in: "kept")
            #expect(loop.cancel(name))
            #expect(calls.lines.last == "kept")
        }
    }

    @Test func `cancel of a cancelled closure removes no other closure when modes share their timer tables`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            loop.withState { $0.maxTimerBuckets = 2 }
            func post(in mode: RunLoop.Mode) -> RunLoop.DelayedPerform {
                loop.performLocally(after: .seconds(1), in: mode) {}
            }
            #expect(loop.cancel(post(in: .default)))
            let old = post(in: .default)
            #expect(loop.cancel(old))
            #expect(loop.cancel(post(in: "second")))
            // Takes the default mode's table, which takes the one of the second mode.
            let other = post(in: "third")
            let new = post(in: .default)
            #expect(!loop.cancel(old))
            #expect(loop.cancel(new))
            #expect(loop.cancel(other))
        }
    }

    @Test func `Adding a timer traps if its set of modes needs more timer tables than a loop may have`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ManualRunLoop.with { manual in
                manual.loop.withState { $0.maxTimerBuckets = 4 }
                for number in 0..<5 {
                    manual.loop.add(RunLoop.Timer(.after(.seconds(1))) { _ in }, in: RunLoop.Mode("mode \(number)"))
                }
            }
        }
        expectText(result, "use fewer modes")
    }

    // MARK: Cost

    /// What one callout does to all other timers that are due.
    enum Deed: CaseIterable, Sendable { case putOff, remove, invalidate, tolerate, cancel, runNested }

    /// Processor time, of which a busy machine takes nothing, and the best of three: four times as many timers may cost
    /// a little more than four times as much, and not sixteen times.
    @Test(arguments: Deed.allCases)
    func `The cost of a callout that changes n due timers does not grow with the square of n`(deed: Deed) {
        func cost(_ count: Int) -> Int64 {
            ManualRunLoop.with { manual in
                let loop = manual.loop
                let others =
                    deed == .cancel ? [] : (0..<count).map { _ in RunLoop.Timer(.after(.milliseconds(2))) { _ in } }
                let names =
                    deed != .cancel ? [] : (0..<count).map { _ in loop.performLocally(after: .milliseconds(2)) {} }
                func runNested() {
                    loop.add(RunLoop.Timer(.after(.zero)) { _ in }, in: "nested")
                    loop.runTurn(in: "nested")
                }
                loop.add(
                    RunLoop.Timer(.after(.milliseconds(1))) { _ in
                        for other in others {
                            switch deed {
                            case .putOff: other.restart(after: .seconds(3600))
                            case .remove: loop.remove(other, from: .default)
                            case .invalidate: other.invalidate()
                            case .tolerate: other.tolerance = .milliseconds(1)
                            // Only the first puts the list back.
                            case .runNested: runNested()
                            case .cancel: break
                            }
                        }
                        for name in names { loop.cancel(name) }
                    }, in: .default)
                for other in others { loop.add(other, in: .default) }
                // Late, so that all are due together.
                loop.add(RunLoop.Source { _ in }, in: "other")
                manual.advance(by: .milliseconds(5), in: "other")
                let began = rl_thread_processor_time(rl_thread_id())
                loop.runTurn()
                return rl_thread_processor_time(rl_thread_id()) - began
            }
        }
        let (few, many) = (1500, 6000)
        let costs = (0..<3).map { _ in (cost(few), cost(many)) }
        let (least, most) = (costs.map(\.0).min()!, costs.map(\.1).min()!)
        #expect(most < least * 9, "\(few): \(least) ns, \(many): \(most) ns")
    }
}
