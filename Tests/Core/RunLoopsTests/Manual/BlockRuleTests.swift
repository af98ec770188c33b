// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// Specification 3.7: blocks.
@Suite(.ownThread) struct BlockRuleTests {
    /// Posts a block for each name and notes which ran.
    private final class Poster {
        let loop: RunLoop
        private(set) var ran: [String] = []

        init(_ loop: RunLoop) { self.loop = loop }

        func post(_ name: String, _ modes: RunLoop.Mode..., then: @escaping () -> Void = {}) {
            loop.performLocally(in: modes.isEmpty ? [.default] : modes) { [self] in
                ran.append(name)
                then()
            }
        }
    }

    @Test func `A block runs once in the next turn of one of its modes`() {
        ManualRunLoop.with { manual in
            manual.loop.addSource()
            manual.loop.addSource(in: "other")
            let poster = Poster(manual.loop)
            poster.post("default")
            poster.post("other", "other")
            poster.post("either", "other", .default)
            poster.post("common", .common)
            manual.loop.runTurn()
            #expect(poster.ran == ["default", "either", "common"])
            manual.loop.runTurn(in: "other")
            #expect(poster.ran.last == "other")
            manual.loop.runTurn()
            #expect(poster.ran.count == 4)
        }
    }

    @Test func `A mode marked as common runs the common blocks that were posted before`() {
        ManualRunLoop.with { manual in
            manual.loop.addSource(in: "later")
            let poster = Poster(manual.loop)
            poster.post("common", .common)
            manual.loop.runTurn(in: "later")
            #expect(poster.ran == [])
            manual.loop.markCommon("later")
            manual.loop.runTurn(in: "later")
            #expect(poster.ran == ["common"])
        }
    }

    @Test func `A block that another block posts runs at the next step that runs blocks`() {
        ManualRunLoop.with { manual in
            manual.loop.addSource()
            let poster = Poster(manual.loop)
            // The two drains of a turn without a source: steps 4 and 10.
            poster.post("1") {
                poster.post("1.1") { poster.post("1.1.1") }
            }
            poster.post("2")
            manual.loop.runTurn()
            #expect(poster.ran == ["1", "2", "1.1"])
            manual.loop.runTurn()
            #expect(poster.ran == ["1", "2", "1.1", "1.1.1"])
        }
    }

    @Test func `A turn ends even if each block posts another block`() {
        ManualRunLoop.with { manual in
            manual.loop.addSource()
            let poster = Poster(manual.loop)
            func again() { poster.post("again", then: again) }
            again()
            manual.loop.runTurn()
            #expect(poster.ran.count == 2)
        }
    }

    @Test func `A block posted without a wake-up before the sleep runs only after something else ends the sleep`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let start = manual.now
            let ran = Box<Duration?>(nil)
            loop.add(RunLoop.Timer(.after(.seconds(2))) { _ in }, in: .default)
            loop.add(
                RunLoop.Observer(.beforeWaiting, repeats: false) { _, _ in
                    loop.performLocally(wake: false) { ran.value = start.duration(to: manual.now) }
                }, in: .default)
            loop.run(in: .default, for: .seconds(5))
            #expect(ran.value == .seconds(2))
        }
    }

    @Test func `A block posted with a wake-up before the sleep runs without a sleep`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let start = manual.now
            let ran = Box<[Duration]>([])
            loop.add(RunLoop.Timer(.after(.seconds(2))) { _ in }, in: .default)
            loop.add(
                RunLoop.Observer(.beforeWaiting, repeats: false) { _, _ in
                    loop.performLocally { ran.value.append(start.duration(to: manual.now)) }
                }, in: .default)
            loop.run(in: .default, for: .seconds(5))
            #expect(ran.value == [.zero])
        }
    }

    /// The trace of a run in which a callout posts a block, and the same with a block that does not wake.
    private func twins(_ prepare: (RunLoop, Bool) -> Void) -> (waking: String, quiet: String) {
        func trace(_ wake: Bool) -> String {
            ManualRunLoop.with { manual in
                manual.loop.addSource()
                prepare(manual.loop, wake)
                let recorder = RunLoop.TraceRecorder(manual.loop)
                manual.loop.run(in: .default, for: .seconds(5))
                #expect(manual.wakeUps == 0)
                return "\(recorder.text)\n\(manual.sleeps) sleeps"
            }
        }
        return (trace(true), trace(false))
    }

    @Test(arguments: [RunLoop.Activities.entry, .beforeTimers, .beforeSources, .afterWaiting])
    func `A block posted with a wake-up on the loop's thread costs no extra turn if a turn follows anyway`(
        moment: RunLoop.Activities
    ) {
        let (waking, quiet) = twins { loop, wake in
            loop.add(
                RunLoop.Observer(moment, repeats: false) { _, _ in loop.performLocally(wake: wake) {} }, in: .default)
        }
        #expect(waking == quiet)
    }

    @Test func `A block posted with a wake-up by a timer or a source costs no extra turn`() {
        let timers = twins { loop, wake in
            loop.add(RunLoop.Timer(.after(.seconds(1))) { _ in loop.performLocally(wake: wake) {} }, in: .default)
        }
        #expect(timers.waking == timers.quiet)
        let sources = twins { loop, wake in
            let source = RunLoop.Source { _ in loop.performLocally(wake: wake) {} }
            loop.add(source, in: .default)
            source.signal()
        }
        #expect(sources.waking == sources.quiet)
    }

    @Test func `A block posted by a block runs before the loop sleeps`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            loop.addSource()
            let start = manual.now
            let ran = Box<[Duration]>([])
            loop.performLocally {
                loop.performLocally { ran.value.append(start.duration(to: manual.now)) }
            }
            let recorder = RunLoop.TraceRecorder(loop)
            loop.run(in: .default, for: .seconds(5))
            #expect(ran.value == [.zero])
            // The turn that runs both, and the turn that sleeps until the end.
            #expect(recorder.count(of: "beforeTimers") == 2)
            #expect(manual.sleeps == 1)
        }
    }

    @Test func `A block runs before the sleep even if a nested run in another mode has consumed its wake-up`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            loop.addSource()
            loop.addSource(in: "nested")
            let calls = Locked<[String]>()
            loop.add(RunLoop.Timer.sendable(.after(.seconds(2))) { _ in calls.note("timer") }, in: .default)
            loop.performLocally {
                TestThread { loop.perform { calls.note("block") } }.join()
                #expect(loop.run(in: "nested", for: .milliseconds(1)) == .timedOut)
            }
            loop.run(in: .default, for: .seconds(5))
            #expect(calls.lines == ["block", "timer"])
            // In the nested run, until the timer, and until the end.
            #expect(manual.sleeps == 3)
        }
    }

    @Test func `A block of another mode does not keep the thread awake`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            loop.addSource()
            loop.addSource(in: "other")
            loop.performLocally(in: "other") {}
            let recorder = RunLoop.TraceRecorder(loop)
            loop.run(in: .default, for: .seconds(5))
            #expect(recorder.count(of: "beforeTimers") == 1)
            #expect(manual.sleeps == 1)
        }
    }

    @Test func `A nested run in a block runs newly posted blocks but not blocks that the outer run is about to run`() {
        ManualRunLoop.with { manual in
            manual.loop.addSource()
            let poster = Poster(manual.loop)
            poster.post("outer 1") {
                poster.post("inner")
                manual.loop.runTurn()
            }
            poster.post("outer 2")
            manual.loop.runTurn()
            #expect(poster.ran == ["outer 1", "inner", "outer 2"])
        }
    }

    @Test func `Blocks posted by a source run in the same turn`() {
        ManualRunLoop.with { manual in
            let poster = Poster(manual.loop)
            let source = RunLoop.Source { _ in poster.post("block") }
            manual.loop.add(source, in: .default)
            source.signal()
            manual.loop.runTurn()
            #expect(poster.ran == ["block"])
        }
    }

    @Test func `Blocks posted by a timer run at the end of its turn`() {
        ManualRunLoop.with { manual in
            let poster = Poster(manual.loop)
            manual.loop.add(RunLoop.Timer(.after(.zero)) { _ in poster.post("block") }, in: .default)
            #expect(manual.loop.run(in: .default, for: .seconds(1)) == .finished)
            #expect(poster.ran == ["block"])
        }
    }

    @Test func `A mode with only a block is not empty`() {
        ManualRunLoop.with { manual in
            let poster = Poster(manual.loop)
            poster.post("only")
            #expect(manual.loop.run(in: .default, for: .seconds(1)) == .timedOut)
            #expect(poster.ran == ["only"])
            #expect(manual.loop.run(in: .default, for: .seconds(1)) == .finished)
        }
    }

    @Test func `A run without items sleeps even if each block posts another block without a wake-up`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let source = loop.addSource()
            let runs = Box(0)
            func post() {
                loop.performLocally(wake: false) {
                    source.invalidate()
                    runs.value += 1
                    post()
                }
            }
            post()
            #expect(loop.run(in: .default, for: .seconds(1)) == .timedOut)
            // Twice a turn: one turn that has lost the source, and one that sleeps.
            #expect(runs.value == 4)
        }
    }
}
