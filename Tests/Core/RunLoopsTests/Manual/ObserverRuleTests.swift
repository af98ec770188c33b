// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// Specification 3.5 and 3.6: observers.
@Suite(.ownThread) struct ObserverRuleTests {
    @Test func `Observers are called in ascending order, and those of equal order in the order of their addition`() {
        ManualRunLoop.with { manual in
            manual.loop.addSource()
            for (label, order) in [("c", 0), ("e", 9), ("a", Int.min), ("d", 0), ("b", -1)] {
                manual.loop.add(RunLoop.Observer(.entry, order: order, label: label) { _, _ in }, in: .default)
            }
            let recorder = RunLoop.TraceRecorder(manual.loop)
            manual.loop.runTurn()
            #expect(recorder.callouts == ["a", "b", "c", "d", "e"].map { "observer \"\($0)\"" })
        }
    }

    @Test(arguments: [
        RunLoop.Activities.entry, .beforeTimers, .beforeSources, .beforeWaiting, .afterWaiting, .exit,
        [.entry, .exit], .all,
    ])
    func `An observer is called only for the activities that it asks for`(wanted: RunLoop.Activities) {
        ManualRunLoop.with { manual in
            manual.loop.addSource()
            let told = Box<[RunLoop.Activities]>([])
            let observer = RunLoop.Observer(wanted) { _, activity in told.value.append(activity) }
            #expect(observer.activities == wanted)
            manual.loop.add(observer, in: .default)
            manual.loop.run(in: .default, for: .seconds(1))
            let all: [RunLoop.Activities] = [
                .entry, .beforeTimers, .beforeSources, .beforeWaiting, .afterWaiting, .exit,
            ]
            #expect(told.value == all.filter { wanted.contains($0) })
        }
    }

    @Test func `An observer that does not repeat is invalid after its first call`() {
        ManualRunLoop.with { manual in
            manual.loop.addSource()
            let told = Box(0)
            let observer = RunLoop.Observer(.all, repeats: false) { observer, activity in
                #expect(activity == .entry)
                #expect(observer.isValid)
                told.value += 1
            }
            #expect(!observer.repeats)
            manual.loop.add(observer, in: .default)
            manual.loop.runTurn()
            #expect(told.value == 1)
            #expect(!observer.isValid)
            #expect(!manual.loop.contains(observer, in: .default))
        }
    }

    @Test func `An observer is not called again inside its own callout`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            loop.addSource()
            let told = Box<[String]>([])
            let depth = Box(0)
            loop.add(
                RunLoop.Observer(.entry, order: 1) { _, _ in
                    told.value.append("nests \(depth.value)")
                    depth.value += 1
                    if depth.value < 3 { loop.runTurn() }
                    depth.value -= 1
                }, in: .default)
            loop.add(RunLoop.Observer(.entry) { _, _ in told.value.append("plain \(depth.value)") }, in: .default)
            loop.runTurn()
            #expect(told.value == ["plain 0", "nests 0", "plain 1"])
        }
    }

    @Test func `An observer can be in many modes of one loop but not in two loops`() {
        ManualRunLoop.with { outer in
            ManualRunLoop.with { inner in
                let told = Box(0)
                let observer = RunLoop.Observer(.entry) { _, _ in told.value += 1 }
                for mode: RunLoop.Mode in ["a", "b"] {
                    outer.loop.addSource(in: mode)
                    outer.loop.add(observer, in: mode)
                }
                inner.loop.add(observer, in: .default)
                #expect(!inner.loop.contains(observer, in: .default))
                for mode: RunLoop.Mode in ["a", "b"] { outer.loop.runTurn(in: mode) }
                #expect(told.value == 2)
                for mode: RunLoop.Mode in ["a", "b"] { outer.loop.remove(observer, from: mode) }
                inner.loop.add(observer, in: .default)
                #expect(inner.loop.contains(observer, in: .default))
            }
        }
    }

    @Test func `An observer added in a callout is called from the next activity on`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            loop.addSource()
            let told = Box<[RunLoop.Activities]>([])
            let late = RunLoop.Observer(.all, order: 10) { _, activity in told.value.append(activity) }
            loop.add(RunLoop.Observer(.beforeTimers) { _, _ in loop.add(late, in: .default) }, in: .default)
            loop.runTurn()
            #expect(told.value == [.beforeSources, .exit])
        }
    }

    @Test func `An observer invalidated by an earlier observer is not called`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            loop.addSource()
            let victim = RunLoop.Observer(.entry, order: 2) { _, _ in Issue.record("told") }
            loop.add(victim, in: .default)
            loop.add(RunLoop.Observer(.entry, order: 1) { _, _ in victim.invalidate() }, in: .default)
            loop.runTurn()
            #expect(!loop.contains(victim, in: .default))
        }
    }

    @Test func `currentMode and isWaiting are set during callouts`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            loop.addSource(in: "seen")
            let waiting = Box<[RunLoop.Activities]>([])
            loop.add(
                RunLoop.Observer(.all) { _, activity in
                    #expect(loop.currentMode == "seen")
                    if loop.isWaiting { waiting.value.append(activity) }
                }, in: "seen")
            #expect(loop.currentMode == nil)
            loop.run(in: "seen", for: .seconds(1))
            #expect(loop.currentMode == nil)
            #expect(!loop.isWaiting)
            #expect(!waiting.value.contains(.entry))
            #expect(!waiting.value.contains(.afterWaiting))
        }
    }
}
