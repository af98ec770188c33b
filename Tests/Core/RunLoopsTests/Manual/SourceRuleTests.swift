// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// Specification 3.1: signalled sources.
@Suite(.ownThread) struct SourceRuleTests {
    private func labels(_ recorder: RunLoop.TraceRecorder) -> [String] {
        recorder.callouts.filter { $0.hasPrefix("source") }.map { String($0.dropFirst(8).dropLast()) }
    }

    @Test func `Sources are performed in ascending order, and those of equal order in the order of their signals`() {
        ManualRunLoop.with { manual in
            let sources = [("c", 1), ("a", -5), ("d", 1), ("b", 0), ("e", Int.max)].map { name, order in
                RunLoop.Source(order: order, label: name) { _ in }
            }
            for source in sources { manual.loop.add(source, in: .default) }
            for source in sources.reversed() { source.signal() }
            let recorder = RunLoop.TraceRecorder(manual.loop)
            manual.loop.runTurn()
            #expect(labels(recorder) == ["a", "b", "d", "c", "e"])
        }
    }

    @Test func `A source that was not signalled is not performed`() {
        ManualRunLoop.with { manual in
            manual.loop.add(RunLoop.Source { _ in Issue.record("performed") }, in: .default)
            #expect(manual.loop.runTurn() == .timedOut)
        }
    }

    @Test func `A source signalled several times before it is performed is performed once`() {
        ManualRunLoop.with { manual in
            let performed = Box(0)
            let source = RunLoop.Source { source in
                performed.value += 1
                #expect(!source.isSignalled)
            }
            manual.loop.add(source, in: .default)
            for _ in 0..<5 { source.signal() }
            #expect(source.isSignalled)
            manual.loop.runTurn()
            manual.loop.runTurn()
            #expect(performed.value == 1)
        }
    }

    @Test func `A signal does not wake the loop and the next turn performs the source`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let start = manual.now
            let performed = Box<Duration?>(nil)
            let source = RunLoop.Source { _ in performed.value = start.duration(to: manual.now) }
            loop.add(source, in: .default)
            loop.add(RunLoop.Timer(.after(.seconds(2))) { _ in }, in: .default)
            loop.add(RunLoop.Observer(.beforeWaiting, repeats: false) { _, _ in source.signal() }, in: .default)
            loop.run(in: .default, for: .seconds(5))
            #expect(performed.value == .seconds(2))
        }
    }

    @Test func `A wake-up after the signal performs the source at once`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let start = manual.now
            let performed = Box<Duration?>(nil)
            let source = RunLoop.Source { _ in performed.value = start.duration(to: manual.now) }
            loop.add(source, in: .default)
            loop.add(RunLoop.Timer(.after(.seconds(2))) { _ in }, in: .default)
            loop.add(
                RunLoop.Observer(.beforeWaiting, repeats: false) { _, _ in
                    source.signal()
                    loop.wakeUp()
                }, in: .default)
            loop.run(in: .default, for: .seconds(5))
            #expect(performed.value == .zero)
        }
    }

    @Test func `A source that signals itself is performed once a turn`() {
        ManualRunLoop.with { manual in
            let performed = Box(0)
            let source = RunLoop.Source { source in
                performed.value += 1
                source.signal()
            }
            manual.loop.add(source, in: .default)
            source.signal()
            for turn in 1...3 {
                manual.loop.runTurn()
                #expect(performed.value == turn)
            }
        }
    }

    @Test func `A source signalled by another source of the same turn waits for the next turn`() {
        ManualRunLoop.with { manual in
            let second = RunLoop.Source(order: 2, label: "second") { _ in }
            let first = RunLoop.Source(order: 1, label: "first") { _ in second.signal() }
            for source in [first, second] { manual.loop.add(source, in: .default) }
            first.signal()
            let recorder = RunLoop.TraceRecorder(manual.loop)
            manual.loop.runTurn()
            #expect(labels(recorder) == ["first"])
            manual.loop.runTurn()
            #expect(labels(recorder) == ["first", "second"])
        }
    }

    @Test func `A source in several modes is performed once, in the first mode that runs`() {
        ManualRunLoop.with { manual in
            let performed = Box<[RunLoop.Mode?]>([])
            let source = RunLoop.Source { _ in performed.value.append(manual.loop.currentMode) }
            for mode: RunLoop.Mode in ["a", "b"] { manual.loop.add(source, in: mode) }
            source.signal()
            manual.loop.runTurn(in: "b")
            manual.loop.runTurn(in: "a")
            #expect(performed.value == ["b"])
            source.signal()
            manual.loop.runTurn(in: "a")
            #expect(performed.value == ["b", "a"])
        }
    }

    @Test func `A source in several loops is performed once, by the first loop that runs`() {
        ManualRunLoop.with { outer in
            ManualRunLoop.with { inner in
                let performed = Box(0)
                let source = RunLoop.Source { _ in performed.value += 1 }
                outer.loop.add(source, in: .default)
                inner.loop.add(source, in: .default)
                source.signal()
                inner.loop.runTurn()
                outer.loop.runTurn()
                #expect(performed.value == 1)
                source.signal()
                outer.loop.runTurn()
                #expect(performed.value == 2)
                source.invalidate()
                #expect(outer.loop.runTurn() == .finished)
                #expect(inner.loop.runTurn() == .finished)
            }
        }
    }

    @Test func `A source signalled before it was added is performed`() {
        ManualRunLoop.with { manual in
            let performed = Box(0)
            let source = RunLoop.Source { _ in performed.value += 1 }
            source.signal()
            manual.loop.add(source, in: .default)
            manual.loop.runTurn()
            #expect(performed.value == 1)
        }
    }

    @Test func `The schedule and cancel closures are called for each mode`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let told = Box<[String]>([])
            let source = RunLoop.Source(
                schedule: { loop, mode in told.value.append("+\(mode) \(loop === manual.loop)") },
                cancel: { loop, mode in told.value.append("-\(mode) \(loop === manual.loop)") }
            ) { _ in }
            loop.add(source, in: "a")
            loop.add(source, in: "a")
            loop.markCommon("b")
            loop.add(source, in: .common)
            #expect(told.value == ["+a true", "+kCFRunLoopDefaultMode true", "+b true"])
            told.value = []
            loop.remove(source, from: "a")
            loop.remove(source, from: "a")
            #expect(told.value == ["-a true"])
            told.value = []
            source.invalidate()
            source.invalidate()
            #expect(told.value.sorted() == ["-b true", "-kCFRunLoopDefaultMode true"])
        }
    }

    @Test func `An invalid source is in no mode and cannot be signalled or added`() {
        ManualRunLoop.with { manual in
            let source = RunLoop.Source { _ in Issue.record("performed") }
            manual.loop.add(source, in: .default)
            manual.loop.add(source, in: .common)
            source.signal()
            source.invalidate()
            #expect(!source.isValid)
            #expect(!source.isSignalled)
            #expect(!manual.loop.contains(source, in: .default))
            #expect(!manual.loop.contains(source, in: .common))
            source.signal()
            #expect(!source.isSignalled)
            manual.loop.add(source, in: .default)
            #expect(!manual.loop.contains(source, in: .default))
            #expect(manual.loop.runTurn() == .finished)
        }
    }

    @Test func `A signalled source that is removed and added again is performed`() {
        ManualRunLoop.with { manual in
            let performed = Box(0)
            let source = RunLoop.Source { _ in performed.value += 1 }
            manual.loop.addSource()
            manual.loop.add(source, in: .default)
            source.signal()
            manual.loop.remove(source, from: .default)
            manual.loop.runTurn()
            #expect(performed.value == 0)
            manual.loop.add(source, in: .default)
            manual.loop.runTurn()
            #expect(performed.value == 1)
        }
    }

    @Test func `The closures of an invalid source are released`() {
        ManualRunLoop.with { manual in
            let witness = Witness()
            let source: RunLoop.Source
            do {
                let token = witness.makeToken()
                source = RunLoop.Source { _ in withExtendedLifetime(token) {} }
            }
            manual.loop.add(source, in: .default)
            #expect(!witness.isGone)
            source.invalidate()
            #expect(witness.isGone)
        }
    }

    /// A signalled source is queued in each of its modes, and a mode that is never run takes nothing out of its queue.
    @Test(arguments: [true, false])
    func `Signalled sources are released even if one of their common modes is never run`(isRemoved: Bool) {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            loop.addSource(in: "never")
            loop.markCommon("never")
            let performed = Box(0)
            let kept = RunLoop.Source { _ in performed.value += 1 }
            loop.add(kept, in: "never")
            kept.signal()
            var witnesses: [Witness] = []
            for _ in 0..<2000 {
                let source = RunLoop.Source { _ in performed.value += 1 }
                loop.add(source, in: .common)
                source.signal()
                loop.runTurn()
                if isRemoved { loop.remove(source, from: .common) } else { source.invalidate() }
                let witness = Witness()
                witness.watch(source)
                witnesses.append(witness)
            }
            #expect(performed.value == 2000)
            #expect(witnesses.count { !$0.isGone } < 200)
            // What is signalled and still there is performed all the same.
            loop.runTurn(in: "never")
            #expect(performed.value == 2001)
        }
    }

    @Test func `Sources added and invalidated while the loop sleeps are released`() {
        withRealLoop { loop in
            loop.addSource()
            let alive = Locked(0)
            let turns = Locked(0)
            loop.add(RunLoop.Observer(.beforeTimers) { _, _ in turns.increment() }, in: .default)
            let other = TestThread {
                waitUntil { loop.isWaiting }
                var witnesses: [Witness] = []
                for _ in 0..<2000 {
                    let source = RunLoop.Source.sendable { _ in Issue.record("performed") }
                    loop.add(source, in: .default)
                    source.signal()
                    source.invalidate()
                    let witness = Witness()
                    witness.watch(source)
                    witnesses.append(witness)
                }
                // The thread that sleeps throws them out, as soon as it gets to it.
                waitUntil { witnesses.count { !$0.isGone } < 200 || turns.count > 1 }
                alive.withLock { $0 = witnesses.count { !$0.isGone } }
                loop.stop()
            }
            #expect(loop.runPlenty() == .stopped)
            other.join()
            #expect(alive.count < 200)
            #expect(turns.count == 1)
        }
    }
}
