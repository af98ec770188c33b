// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// Specification 5: what is promised of every turn.
@Suite(.ownThread) struct TurnRuleTests {
    // MARK: Specification 5.2, 5.3

    @Test func `After beforeWaiting no callout is made until the thread has slept`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let source = RunLoop.Source(label: "source") { _ in }
            loop.add(source, in: .default)
            loop.add(
                RunLoop.Observer(.beforeWaiting, repeats: false, label: "observer") { _, _ in
                    source.signal()
                    loop.performLocally(fileID: "block", line: 1) {}
                    loop.add(RunLoop.Timer(.after(.zero), label: "timer") { _ in }, in: .default)
                }, in: .default)
            let recorder = RunLoop.TraceRecorder(loop)
            loop.run(in: .default, for: .seconds(1))
            #expect(
                recorder.text == """
                    run kCFRunLoopDefaultMode
                      entry
                      beforeTimers
                      beforeSources
                      beforeWaiting
                      > observer "observer"
                      afterWaiting
                      > timer "timer"
                      > block "block:1"
                      beforeTimers
                      beforeSources
                      > source "source"
                      beforeTimers
                      beforeSources
                      beforeWaiting
                      afterWaiting
                      exit
                    timedOut
                    """)
        }
    }

    @Test(arguments: [RunLoop.Activities.beforeTimers, .beforeSources, .beforeWaiting])
    func `Wake-ups before the sleep cause one extra turn`(moment: RunLoop.Activities) {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            loop.addSource()
            loop.add(
                RunLoop.Observer(moment, repeats: false) { _, _ in
                    // Wake-ups collapse.
                    for _ in 0..<3 { loop.wakeUp() }
                }, in: .default)
            let recorder = RunLoop.TraceRecorder(loop)
            loop.run(in: .default, for: .seconds(1))
            #expect(recorder.count(of: "beforeTimers") == 2)
            #expect(recorder.count(of: "beforeWaiting") == 2)
            #expect(manual.sleeps == 1)
            #expect(manual.wakeUps == 0)
        }
    }

    @Test func `A wake-up after the sleep causes no extra turn`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            loop.add(RunLoop.Timer(.after(.milliseconds(1))) { _ in loop.wakeUp() }, in: .default)
            loop.addSource()
            let recorder = RunLoop.TraceRecorder(loop)
            loop.run(in: .default, for: .seconds(1))
            // The turn of the timer, and the turn that sleeps until the end.
            #expect(recorder.count(of: "beforeTimers") == 2)
        }
    }

    @Test func `A wake-up without a run has no effect`() {
        ManualRunLoop.with { manual in
            manual.loop.addSource()
            manual.loop.wakeUp()
            let recorder = RunLoop.TraceRecorder(manual.loop)
            manual.loop.run(in: .default, for: .seconds(1))
            #expect(recorder.count(of: "beforeTimers") == 1)
            #expect(manual.wakeUps == 0)
        }
    }

    @Test func `A wake-up does not count as a handled source`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            loop.addSource()
            loop.add(RunLoop.Observer(.beforeWaiting, repeats: false) { _, _ in loop.wakeUp() }, in: .default)
            let recorder = RunLoop.TraceRecorder(loop)
            #expect(loop.run(in: .default, for: .seconds(1), returnsAfterSource: true) == .timedOut)
            #expect(recorder.callouts.count == 1)
        }
    }

    @Test(arguments: [false, true])
    func `A run nested in an afterWaiting observer may serve the timer that ended the sleep`(nests: Bool) {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            loop.addSource()
            loop.add(RunLoop.Timer(.after(.milliseconds(1)), label: "due") { _ in }, in: .default)
            loop.add(
                RunLoop.Observer(.afterWaiting, repeats: false, label: "nests") { _, _ in
                    if nests { loop.runTurn() }
                }, in: .default)
            let recorder = RunLoop.TraceRecorder(loop)
            #expect(loop.run(in: .default, for: .seconds(1)) == .timedOut)
            #expect(recorder.callouts == ["observer \"nests\"", "timer \"due\""])
            // Inside the observer's callout, or after it.
            #expect(recorder.lines.contains("      > timer \"due\"") == nests)
            #expect(recorder.lines.contains("  > timer \"due\"") == !nests)
        }
    }

    @Test func `A removed timer causes no turn at its old date`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            loop.addSource()
            let timers = (1...4).map { second in RunLoop.Timer(.after(.seconds(second))) { _ in } }
            for timer in timers { loop.add(timer, in: .default) }
            // One of several modes that is called in another of them.
            loop.add(timers[3], in: "other")
            loop.addSource(in: "other")
            let delayed = loop.perform(after: .milliseconds(1500)) {}
            let turns = Box(0)
            loop.add(RunLoop.Observer(.beforeTimers) { _, _ in turns.value += 1 }, in: .default)
            loop.add(
                RunLoop.Observer(.beforeWaiting, repeats: false) { _, _ in
                    timers[0].invalidate()
                    loop.remove(timers[1], from: .default)
                    timers[2].deadline = manual.now.advanced(by: .seconds(100))
                    #expect(loop.cancel(delayed))
                    manual.idle(for: .milliseconds(3500))
                    loop.run(in: "other", for: .seconds(1))
                    #expect(!timers[3].isValid)
                }, in: .default)
            #expect(loop.run(in: .default, for: .seconds(10)) == .timedOut)
            #expect(turns.value == 1)
            // Two of them in the other mode.
            #expect(manual.sleeps == 3)
        }
    }

    @Test func `A firing timer that was removed and added again causes no extra turn in a nested run`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let turns = Box(0)
            let calls = Box(0)
            let timer = RunLoop.Timer(.after(.seconds(1))) { _ in
                calls.value += 1
                turns.value = 0
                #expect(loop.run(in: .default, for: .seconds(1)) == .timedOut)
                #expect(turns.value == 1)
            }
            loop.addSource()
            loop.add(timer, in: .default)
            loop.add(RunLoop.Observer(.beforeTimers) { _, _ in turns.value += 1 }, in: .default)
            loop.add(
                RunLoop.Observer(.afterWaiting, repeats: false) { _, _ in
                    loop.remove(timer, from: .default)
                    loop.add(timer, in: .default)
                }, in: .default)
            #expect(loop.run(in: .default, for: .seconds(10)) == .timedOut)
            #expect(calls.value == 1)
        }
    }

    // MARK: Specification 5.4

    @Test func `A stop without a run does not stop a later run`() {
        ManualRunLoop.with { manual in
            manual.loop.addSource()
            manual.loop.stop()
            #expect(manual.loop.run(in: .default, for: .seconds(1)) == .timedOut)
        }
    }

    @Test func `A stop in an entry observer ends the run without a turn`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            loop.addSource()
            loop.performLocally { Issue.record("a turn was made") }
            loop.add(RunLoop.Observer(.entry, label: "stopper") { _, _ in loop.stop() }, in: .default)
            let recorder = RunLoop.TraceRecorder(loop)
            #expect(loop.run(in: .default, for: .seconds(1)) == .stopped)
            #expect(
                recorder.text == """
                    run kCFRunLoopDefaultMode
                      entry
                      > observer "stopper"
                      exit
                    stopped
                    """)
        }
    }

    @Test(arguments: [RunLoop.Activities.beforeTimers, .beforeSources, .beforeWaiting, .afterWaiting])
    func `A stop in an observer of a turn ends the run at the end of that turn`(moment: RunLoop.Activities) {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            loop.addSource()
            loop.add(RunLoop.Timer(.after(.milliseconds(1)), label: "due") { _ in }, in: .default)
            loop.add(RunLoop.Observer(moment, label: "stopper") { _, _ in loop.stop() }, in: .default)
            let recorder = RunLoop.TraceRecorder(loop)
            #expect(loop.run(in: .default, for: .seconds(1)) == .stopped)
            #expect(recorder.count(of: "beforeTimers") == 1)
            #expect(recorder.count(of: "exit") == 1)
            // After a stop past the sleep the turn goes on to its end, and the timer that ended the sleep fires. After
            // a stop before the sleep the turn does not sleep.
            #expect(recorder.callouts.contains("timer \"due\"") == (moment == .afterWaiting))
        }
    }

    @Test func `A stop in an exit observer does not stop a later run`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            loop.addSource()
            loop.add(RunLoop.Observer(.exit, repeats: false) { _, _ in loop.stop() }, in: .default)
            #expect(loop.runTurn() == .timedOut)
            #expect(loop.run(in: .default, for: .seconds(1)) == .timedOut)
        }
    }

    // MARK: Specification 5.5

    @Test func `No kind of item starves another kind`() throws {
        try ManualRunLoop.with { manual in
            let loop = manual.loop
            let calls = Box<[String: Int]>([:])
            func call(_ name: String) {
                calls.value[name, default: 0] += 1
                // Each callout takes longer than the timer's interval.
                manual.idle(for: .milliseconds(2))
                if calls.value.values.reduce(0, +) == 1000 { loop.stop() }
            }
            let source = RunLoop.Source { source in
                call("source")
                source.signal()
                loop.wakeUp()
            }
            loop.add(source, in: .default)
            source.signal()
            for descriptor: CInt in 1...2 {
                try loop.add(
                    RunLoop.DescriptorSource(descriptor) { _, _ in call("descriptor \(descriptor)") }, in: .default)
                manual.setReady(descriptor, .readable)
            }
            loop.add(RunLoop.Timer(.every(.milliseconds(1))) { _ in call("timer") }, in: .default)
            func post() {
                loop.performLocally {
                    call("block")
                    post()
                }
            }
            post()
            #expect(loop.run(in: .default, for: .seconds(100)) == .stopped)
            for name in ["source", "descriptor 1", "descriptor 2", "timer", "block"] {
                #expect(calls.value[name, default: 0] >= 20, "\(name): \(calls.value)")
            }
        }
    }
}

extension RunLoop.TraceRecorder {
    /// How often `activity` was passed.
    func count(of activity: String) -> Int { lines.count { $0.drop { $0 == " " } == activity } }
}
