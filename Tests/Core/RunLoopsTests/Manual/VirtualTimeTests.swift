// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// The manual clock: advances, suspension, changes of the date.
@Suite(.ownThread) struct VirtualTimeTests {
    /// The same random timers each time for a seed, with what they did and when, as text.
    private func run(_ seed: UInt64, withTolerance: Bool, _ advances: [Duration]) -> [String] {
        ManualRunLoop.with { manual in
            var random = SeededRandom(seed)
            let start = manual.now
            let trace = Box<[String]>([])
            func note(_ text: String) { trace.value.append("\(text) at \(start.duration(to: manual.now))") }
            let source = RunLoop.Source { _ in note("source") }
            manual.loop.add(source, in: .default)
            for number in 0..<12 {
                let delay = Duration.milliseconds(Int.random(in: 0...800, using: &random))
                let interval = Duration.milliseconds(Int.random(in: 1...300, using: &random))
                let repeats = !random.oneIn(4)
                let tolerance: Duration = withTolerance ? interval * Int.random(in: 0...4, using: &random) / 10 : .zero
                let kind = Int.random(in: 0..<4, using: &random)
                let timer = RunLoop.Timer(.after(delay, every: repeats ? interval : nil), tolerance: tolerance) {
                    timer in
                    note("timer \(number)")
                    switch kind {
                    case 0: source.signal()
                    case 1: manual.loop.performLocally { note("block of \(number)") }
                    case 2: timer.deadline = manual.now.advanced(by: interval * 2)
                    default: break
                    }
                }
                manual.loop.add(timer, in: .default)
            }
            for advance in advances { manual.advance(by: advance) }
            note("end")
            return trace.value
        }
    }

    /// Random parts that make up `whole`.
    private func parts(of whole: Duration, _ seed: UInt64) -> [Duration] {
        var random = SeededRandom(seed)
        var left = whole
        var parts: [Duration] = []
        while left > .zero {
            let part = min(left, .microseconds(Int.random(in: 0...150_000, using: &random)))
            parts.append(part)
            left -= part
        }
        return parts
    }

    /// Shows where they part, and not the whole of two long lists.
    private func expectEqual(
        _ lines: [String], _ expected: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let difference = zip(lines, expected).first { $0 != $1 }
        #expect(difference?.0 == difference?.1, sourceLocation: sourceLocation)
        #expect(lines.count == expected.count, sourceLocation: sourceLocation)
    }

    @Test(arguments: 1...8) func `Many small advances have the result of one large advance`(seed: UInt64) {
        let whole = Duration.seconds(3)
        let once = run(seed, withTolerance: false, [whole])
        #expect(once.count > 50)
        expectEqual(run(seed, withTolerance: false, parts(of: whole, seed + 100)), once)
        expectEqual(run(seed, withTolerance: false, Array(repeating: .milliseconds(1), count: 3000)), once)
    }

    @Test(arguments: 1...4) func `Many small advances have the result of one large advance for tolerant timers`(
        seed: UInt64
    ) {
        let whole = Duration.seconds(3)
        let once = run(seed, withTolerance: true, [whole])
        #expect(once.count > 50)
        expectEqual(run(seed, withTolerance: true, parts(of: whole, seed + 100)), once)
    }

    @Test func `Virtual time stands still during a poll`() {
        ManualRunLoop.with { manual in
            let start = manual.now
            manual.loop.addSource()
            manual.loop.runTurn()
            #expect(manual.now == start)
            #expect(RunLoop.current === manual.loop)
        }
    }

    @Test func `An advance in an empty mode moves the clock`() {
        ManualRunLoop.with { manual in
            let start = manual.now
            #expect(manual.advance(by: .seconds(3600)) == .timedOut)
            #expect(start.duration(to: manual.now) == .seconds(3600))
        }
    }

    @Test func `An advance serves timers due at its beginning and at its end`() {
        ManualRunLoop.with { manual in
            let fires = Box(0)
            manual.loop.add(RunLoop.Timer(.after(.zero)) { _ in fires.value += 1 }, in: .default)
            manual.loop.add(RunLoop.Timer(.after(.seconds(1))) { _ in fires.value += 1 }, in: .default)
            manual.advance(by: .zero)
            #expect(fires.value == 1)
            manual.advance(by: .seconds(1))
            #expect(fires.value == 2)
        }
    }

    @Test func `Stopping the loop ends an advance of virtual time at the present instant`() {
        ManualRunLoop.with { manual in
            let start = manual.now
            manual.loop.add(RunLoop.Timer(.every(.seconds(1))) { _ in manual.loop.stop() }, in: .default)
            #expect(manual.advance(by: .seconds(10)) == .stopped)
            #expect(start.duration(to: manual.now) == .seconds(1))
        }
    }

    @Test func `A sleep that no event can end stops the run and counts in endlessSleeps`() {
        ManualRunLoop.with { manual in
            manual.loop.addSource()
            #expect(manual.loop.run(in: .default, until: nil) == .stopped)
            #expect(manual.endlessSleeps == 1)
        }
    }

    @Test func `A suspended machine delays monotonic timers only`() {
        ManualRunLoop.with { manual in
            let fired = Box<Set<RunLoop.ClockID>>([])
            for base in RunLoop.ClockID.allCases {
                manual.loop.add(
                    RunLoop.Timer(.after(.seconds(10), clock: base)) { _ in fired.value.insert(base) }, in: .default)
            }
            manual.advance(by: .seconds(4))
            manual.suspend(for: .seconds(6))
            manual.advance(by: .zero)
            #expect(fired.value == [.boottime, .realtime])
            manual.advance(by: .seconds(6))
            #expect(fired.value == [.boottime, .realtime, .monotonic])
        }
    }

    @Test func `Setting the wall clock forward makes a realtime timer due and setting it back postpones the timer`() {
        ManualRunLoop.with { manual in
            let fired = Box<[String]>([])
            let date = manual.now(.realtime).advanced(by: .seconds(3600))
            manual.loop.add(RunLoop.Timer(.at(date)) { _ in fired.value.append("date") }, in: .default)
            manual.loop.add(
                RunLoop.Timer(.after(.seconds(3600), clock: .boottime)) { _ in fired.value.append("boottime") },
                in: .default)
            manual.changeWallClock(by: .seconds(-1800))
            manual.advance(by: .seconds(3600))
            #expect(fired.value == ["boottime"])
            manual.changeWallClock(by: .seconds(1000))
            manual.advance(by: .seconds(799))
            #expect(fired.value == ["boottime"])
            manual.advance(by: .seconds(1))
            #expect(fired.value == ["boottime", "date"])
        }
    }

    @Test func `A repeating realtime timer keeps its grid after the wall clock is set forward`() {
        ManualRunLoop.with { manual in
            let start = manual.now(.realtime)
            let dates = Box<[Duration]>([])
            let timer = RunLoop.Timer(.every(.seconds(10), clock: .realtime)) { timer in
                dates.value.append(start.duration(to: timer.deadline))
            }
            manual.loop.add(timer, in: .default)
            manual.changeWallClock(by: .seconds(35))
            manual.advance(by: .seconds(6))
            #expect(dates.value == [.seconds(10), .seconds(40)])
            #expect(start.duration(to: timer.deadline) == .seconds(50))
        }
    }

    @Test func `Due timers of several clocks fire in the order of their dates, compared on one clock`() {
        ManualRunLoop.with { manual in
            for (delay, base) in [(30, RunLoop.ClockID.realtime), (10, .boottime), (20, .monotonic), (0, .realtime)] {
                manual.loop.add(
                    RunLoop.Timer(.after(.milliseconds(delay), clock: base), label: "\(delay)") { _ in }, in: .default)
            }
            manual.idle(for: .milliseconds(30))
            let recorder = RunLoop.TraceRecorder(manual.loop)
            manual.loop.runTurn()
            #expect(recorder.callouts == [0, 10, 20, 30].map { "timer \"\($0)\"" })
        }
    }
}
