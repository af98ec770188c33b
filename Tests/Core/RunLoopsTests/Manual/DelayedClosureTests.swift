// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsTestSupport
import RunLoopsTesting
import Testing

@testable import RunLoops

/// Specification 3.9: closures that are called once after a delay.
@Suite(.ownThread) struct DelayedClosureTests {
    /// What was called, in order.
    private typealias Calls = Locked<[String]>

    @Test func `Delayed closures and timers run in the order of their dates`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let calls = Calls()
            func add(_ label: String, _ delay: Int, tolerance: Duration = .zero) {
                let timer = RunLoop.Timer(.after(.milliseconds(delay)), tolerance: tolerance) { _ in calls.note(label) }
                loop.add(timer, in: .default)
            }
            loop.perform(after: .milliseconds(9)) { calls.note("last") }
            add("a", 5)
            loop.perform(after: .milliseconds(5)) { calls.note("b") }
            add("c", 5, tolerance: .milliseconds(1))
            loop.performLocally(after: .milliseconds(5)) { calls.note("d") }
            add("e", 5)
            loop.perform(after: .milliseconds(3)) { calls.note("first") }
            manual.idle(for: .milliseconds(20))
            loop.runTurn()
            #expect(calls.lines == ["first", "a", "b", "c", "d", "e", "last"])
        }
    }

    @Test func `A delayed closure is called once, at its instant`() {
        ManualRunLoop.with { manual in
            let calls = Locked(0)
            manual.loop.perform(after: .milliseconds(300)) { calls.increment() }
            manual.advance(by: .milliseconds(299))
            #expect(calls.count == 0)
            manual.advance(by: .milliseconds(1))
            #expect(calls.count == 1)
            manual.advance(by: .seconds(10))
            #expect(calls.count == 1)
        }
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min)])
    func `A closure with a delay that is not positive is called in the next turn`(delay: Duration) {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let calls = Calls()
            loop.performLocally(after: delay) {
                calls.note("first")
                loop.performLocally(after: delay) { calls.note("second") }
            }
            loop.runTurn()
            #expect(calls.lines == ["first"])
            loop.runTurn()
            #expect(calls.lines == ["first", "second"])
        }
    }

    @Test func `A closure whose delay is too large for an Instant is not called`() {
        ManualRunLoop.with { manual in
            manual.loop.perform(after: .seconds(Int64.max)) { Issue.record("called") }
            manual.advance(by: .seconds(1_000_000))
            #expect(!manual.loop.isEmpty(in: .default))
        }
    }

    @Test func `A delayed closure is called only in its mode`() {
        ManualRunLoop.with { manual in
            let calls = Locked(0)
            manual.loop.addSource()
            manual.loop.perform(after: .milliseconds(1), in: "other") { calls.increment() }
            manual.advance(by: .seconds(1))
            #expect(calls.count == 0)
            manual.advance(by: .seconds(1), in: "other")
            #expect(calls.count == 1)
        }
    }

    @Test func `A mode is not empty until its delayed closure has been called`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            #expect(loop.isEmpty(in: .default))
            let start = manual.now
            loop.perform(after: .seconds(3)) {}
            #expect(!loop.isEmpty(in: .default))
            #expect(loop.nextTimerDeadline(in: .default) == start.advanced(by: .seconds(3)))
            #expect(loop.run(in: .default, until: nil) == .finished)
            #expect(manual.now == start.advanced(by: .seconds(3)))
            #expect(manual.sleeps == 1)
            #expect(loop.nextTimerDeadline(in: .default) == nil)
            #expect(loop.isEmpty(in: .default))
        }
    }

    // MARK: Cancelling

    @Test func `Any thread may cancel a delayed closure`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            loop.addSource()
            let witnesses = [Witness(), Witness()]
            func put(_ witness: Witness, in mode: RunLoop.Mode) -> RunLoop.DelayedPerform {
                let token = witness.makeToken()
                return loop.perform(after: .seconds(1), in: mode) {
                    withExtendedLifetime(token) {}
                    Issue.record("called")
                }
            }
            let here = put(witnesses[0], in: .default)
            let there = put(witnesses[1], in: "other")
            #expect(here != there)
            #expect(loop.cancel(here))
            #expect(witnesses[0].isGone)
            #expect(!witnesses[1].isGone)
            #expect(TestThread.run { loop.cancel(there) })
            #expect(witnesses[1].isGone)
            #expect(!loop.cancel(here) && !loop.cancel(there))
            manual.advance(by: .seconds(2))
            manual.advance(by: .seconds(2), in: "other")
            #expect(loop.isEmpty(in: "other"))
        }
    }

    @Test func `A closure cannot be cancelled during or after its call`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let delayed = Box<RunLoop.DelayedPerform?>(nil)
            let calls = Locked(0)
            func cancel() -> Bool { delayed.value.map(loop.cancel) ?? true }
            delayed.value = loop.performLocally(after: .zero) {
                calls.increment()
                #expect(!cancel())
                // Nor does a nested run call it again.
                loop.runTurn()
            }
            loop.addSource()
            loop.runTurn()
            #expect(calls.count == 1)
            #expect(!cancel())
        }
    }

    @Test func `The Delayed value of a cancelled closure does not cancel a later closure`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let calls = Locked(0)
            let old = loop.perform(after: .seconds(1)) {}
            #expect(loop.cancel(old))
            let new = loop.perform(after: .seconds(1)) { calls.increment() }
            #expect(old != new)
            #expect(!loop.cancel(old))
            manual.advance(by: .seconds(1))
            #expect(calls.count == 1)
        }
    }

    @Test func `A closure cancelled by an earlier closure of the same turn is not called`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let second = loop.perform(after: .milliseconds(2)) { Issue.record("called") }
            let results = Box<[Bool]>([])
            loop.performLocally(after: .milliseconds(1)) { results.value.append(loop.cancel(second)) }
            manual.idle(for: .milliseconds(5))
            loop.runTurn()
            #expect(results.value == [true])
        }
    }

    @Test func `Cancelling a closure of another loop traps and names the remedy`() async {
        let inOneMode = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            cancelElsewhere(.default)
        }
        expectText(inOneMode, "call cancel of the loop that perform was called on")
        let inCommonModes = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            cancelElsewhere(.common)
        }
        expectText(inCommonModes, "call cancel of the loop that perform was called on")
    }

    // MARK: In common modes

    @Test func `A common closure is called once, in the first common mode that runs`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let calls = Locked(0)
            loop.perform(after: .seconds(1), in: .common) { calls.increment() }
            loop.markCommon("later")
            #expect(!loop.isEmpty(in: "later") && !loop.isEmpty(in: .default))
            manual.advance(by: .seconds(1), in: "later")
            #expect(calls.count == 1)
            manual.advance(by: .seconds(1))
            #expect(calls.count == 1)
            #expect(loop.isEmpty(in: "later") && loop.isEmpty(in: .default))
        }
    }

    @Test func `A cancelled common closure is released and not called`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let witness = Witness()
            let delayed: RunLoop.DelayedPerform
            do {
                let token = witness.makeToken()
                delayed = loop.perform(after: .seconds(1), in: .common) {
                    withExtendedLifetime(token) {}
                    Issue.record("called")
                }
            }
            #expect(!witness.isGone)
            #expect(TestThread.run { loop.cancel(delayed) })
            #expect(witness.isGone)
            #expect(!loop.cancel(delayed))
            manual.advance(by: .seconds(2))
        }
    }

    @Test func `A common closure cannot be cancelled during its call`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let delayed = Box<RunLoop.DelayedPerform?>(nil)
            let results = Box<[Bool]>([])
            delayed.value = loop.performLocally(after: .zero, in: .common) {
                if let delayed = delayed.value { results.value.append(loop.cancel(delayed)) }
            }
            loop.runTurn()
            #expect(results.value == [false])
        }
    }

    // MARK: Life

    @Test func `A closure is released after its call`() {
        ManualRunLoop.with { manual in
            let witness = Witness()
            do {
                let token = witness.makeToken()
                manual.loop.perform(after: .zero) { withExtendedLifetime(token) {} }
            }
            #expect(!witness.isGone)
            manual.loop.runTurn()
            #expect(witness.isGone)
        }
    }

    @Test func `The end of a thread releases its delayed closures without calling them`() {
        let witnesses = (0..<3).map { _ in Witness() }
        let ended = TestThread.run { () -> (RunLoop, RunLoop.DelayedPerform) in
            let loop = RunLoop.current
            func put(_ witness: Witness, in mode: RunLoop.Mode) -> RunLoop.DelayedPerform {
                let token = witness.makeToken()
                return loop.perform(after: .zero, in: mode) {
                    withExtendedLifetime(token) {}
                    Issue.record("called")
                }
            }
            _ = (put(witnesses[1], in: "other"), put(witnesses[2], in: .common))
            return (loop, put(witnesses[0], in: .default))
        }
        #expect(witnesses.map(\.isGone) == [true, true, true])
        #expect(!ended.0.cancel(ended.1))
    }

    @Test(arguments: [RunLoop.Mode.default, .common])
    func `A Delayed value does not keep a called or cancelled closure alive`(mode: RunLoop.Mode) {
        ManualRunLoop.with { manual in
            let witnesses = [Witness(), Witness()]
            let values = witnesses.map { witness in
                let token = witness.makeToken()
                return manual.loop.perform(after: .seconds(1), in: mode) { withExtendedLifetime(token) {} }
            }
            #expect(witnesses.map(\.isGone) == [false, false])
            #expect(manual.loop.cancel(values[0]))
            #expect(witnesses.map(\.isGone) == [true, false])
            manual.advance(by: .seconds(1))
            #expect(witnesses.map(\.isGone) == [true, true])
            withExtendedLifetime(values) {}
        }
    }

    @Test func `After the end of the thread, a Delayed value retains a common closure but not a closure of one mode`() {
        let witnesses = [Witness(), Witness()]
        var ended: (loop: RunLoop, values: [RunLoop.DelayedPerform])? = TestThread.run {
            let loop = RunLoop.current
            return (
                loop,
                zip(witnesses, [RunLoop.Mode.default, .common]).map { witness, mode in
                    let token = witness.makeToken()
                    return loop.perform(after: .zero, in: mode) { withExtendedLifetime(token) {} }
                }
            )
        }
        #expect(ended?.values.count == 2)
        #expect(witnesses.map(\.isGone) == [true, false])
        ended?.values = []
        #expect(witnesses.map(\.isGone) == [true, true])
        ended = nil
    }

    @Test(arguments: [RunLoop.Mode.default, .common])
    func `A closure released by the end of the thread cannot be cancelled`(mode: RunLoop.Mode) {
        let (loop, delayed) = TestThread.run {
            let loop = RunLoop.current
            return (loop, loop.perform(after: .zero, in: mode) { Issue.record("called") })
        }
        #expect(!loop.cancel(delayed))
    }

    @Test(arguments: [RunLoop.Mode.default, .common])
    func `A closure posted after the end of the thread is released and cannot be cancelled`(mode: RunLoop.Mode) {
        let loop = TestThread.run { RunLoop.current }
        let witness = Witness()
        let delayed: RunLoop.DelayedPerform
        do {
            let token = witness.makeToken()
            delayed = loop.perform(after: .zero, in: mode) { withExtendedLifetime(token) {} }
        }
        #expect(witness.isGone)
        #expect(!loop.cancel(delayed))
    }

    // MARK: Other threads

    @Test func `A closure posted by another thread shortens the sleep without a turn`() {
        withRealLoop { loop in
            loop.add(RunLoop.Timer(.after(.seconds(3600))) { _ in }, in: .default)
            let turns = Locked(0)
            loop.add(RunLoop.Observer(.beforeTimers) { _, _ in turns.increment() }, in: .default)
            let date = Locked<RunLoop.Instant?>(nil)
            let poster = TestThread {
                waitUntil { loop.isWaiting }
                date.withLock { $0 = .now.advanced(by: .milliseconds(20)) }
                loop.perform(after: .milliseconds(20)) { loop.stop() }
            }
            #expect(loop.runPlenty() == .stopped)
            poster.join()
            #expect(turns.count == 1)
            #expect(date.copy.map { $0 <= .now } == true)
        }
    }

    @Test(arguments: [RunLoop.Mode.default, .common])
    func `A closure that another thread cancels when it is due is either called or cancelled`(mode: RunLoop.Mode) {
        withRealLoop { loop in
            loop.addSource()
            let rounds = isFull ? 20_000 : 2000
            let calls = Locked(0)
            let cancelled = Locked(0)
            let canceller = TestThread {
                var random = SeededRandom(7)
                for round in 0..<rounds {
                    let delay = Duration.microseconds(Int.random(in: 0...20, using: &random))
                    let delayed = loop.perform(after: delay, in: mode) { calls.increment() }
                    for _ in 0..<Int.random(in: 0...40, using: &random) { _ = loop.isWaiting }
                    if loop.cancel(delayed) { cancelled.increment() }
                    waitUntil { calls.count + cancelled.count > round }
                }
                loop.stopWhenRunning()
            }
            #expect(loop.runPlenty() == .stopped)
            canceller.join()
            #expect(calls.count + cancelled.count == rounds)
        }
    }

    @Test func `performLocally with a delay traps on another thread`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let loop = TestThread.run { RunLoop.current }
            TestThread.run { _ = loop.performLocally(after: .zero) {} }
        }
        expectText(result, "performLocally was called on thread")
    }

    // MARK: What tools see

    @Test func `The description and the label of a delayed closure name the line that posted it`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            loop.perform(after: .milliseconds(1500), fileID: "Module/File.swift", line: 12) {}
            let date = manual.now.nanoseconds + 1_500_000_000
            let text = "<Delayed closure Module/File.swift:12>{next fire = 1500.000 ms from now (monotonic \(date))}"
            #expect(loop.detailedDescription().contains(text), "\(loop.detailedDescription())")
            let recorder = RunLoop.TraceRecorder(loop)
            manual.advance(by: .seconds(2))
            #expect(recorder.callouts == ["timer \"Module/File.swift:12\""])
            #expect(!loop.detailedDescription().contains("Delayed closure"))
        }
    }

    @Test func `itemsInModes returns delayed closures too`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            loop.perform(after: .seconds(1), in: "other", fileID: "Module/File.swift", line: 12) {}
            loop.perform(after: .seconds(1), in: .common, fileID: "Module/File.swift", line: 13) {}
            #expect(
                loop.itemsInModes()?.items == [
                    LoopItem(kind: .timer, label: "Module/File.swift:13", modes: [.default], isCommon: true),
                    LoopItem(kind: .timer, label: "Module/File.swift:12", modes: ["other"], isCommon: false),
                ])
        }
    }
}

private func cancelElsewhere(_ mode: RunLoop.Mode) {
    ManualRunLoop.with { outer in
        ManualRunLoop.with { inner in
            let waiting = outer.loop.perform(after: .zero, in: mode) {}
            inner.loop.perform(after: .zero, in: mode) {}
            inner.loop.cancel(waiting)
        }
    }
}
