// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsDiagnostics
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

extension RunLoop.Trace {
    var kinds: [Event.Kind] { loops.first?.events.map(\.kind) ?? [] }

    var waits: [Event.Wait] {
        kinds.compactMap { if case .wanted(let wait) = $0 { wait } else { nil } }
    }

    var wakings: [Event.Waking] {
        kinds.compactMap { if case .woke(let waking) = $0 { waking } else { nil } }
    }
}

@Suite("A recording", .ownThread)
struct RecordingTests {
    @Test func `a recording has every phase and callout of a run, with its depth`() {
        ManualRunLoop.with { manual in
            let recording = RunLoop.Recording()
            recording.add(manual.loop)
            let source = RunLoop.Source(label: "input") { _ in }
            manual.loop.add(source, in: .default)
            source.signal()
            manual.loop.runTurn()
            let kinds = recording.trace().kinds
            #expect(kinds.first == .runBegan(.default))
            #expect(kinds.contains(.passed(.entry)) && kinds.contains(.passed(.beforeSources)))
            #expect(kinds.contains(.calloutBegan(.source, "input")))
            #expect(kinds.last == .runEnded(.timedOut))
            #expect(recording.trace().loops[0].events.allSatisfy { $0.depth == 1 })
        }
    }

    @Test func `a recording has the lateness of a timer and the wake-up it caused`() {
        ManualRunLoop.with { manual in
            let recording = RunLoop.Recording()
            recording.add(manual.loop)
            let start = manual.now.nanoseconds
            let timer = RunLoop.Timer(.every(.milliseconds(100)), tolerance: .milliseconds(20), label: "tick") { _ in }
            manual.loop.add(timer, in: .default)
            manual.advance(by: .milliseconds(250))
            let trace = recording.trace()
            #expect(trace.waits.map { $0.since - start } == [100_000_000, 200_000_000])
            #expect(trace.waits.allSatisfy { $0.tolerance == 20_000_000 && $0.interval == 100_000_000 })
            #expect(trace.wakings.map(\.cause) == [.timer, .timer, .limit])
            let fires = trace.loops[0].events.filter { $0.kind == .calloutBegan(.timer, "tick") }
            #expect(fires.count == 2)
            #expect(zip(fires, trace.waits).allSatisfy { 0...20_000_000 ~= $0.time - $1.since })
        }
    }

    @Test func `a recording has the time and thread of a source's signal`() async {
        // A process of its own: a storm in another test's threads pushes the signal out of the process's row.
        await #expect(processExitsWith: .success) {
            ManualRunLoop.with { manual in
                let recording = RunLoop.Recording()
                recording.add(manual.loop)
                let source = RunLoop.Source.sendable(label: "input") { _ in }
                manual.loop.add(source, in: .default)
                let other = TestThread.run {
                    source.signal()
                    return SystemCalls.threadID
                }
                let signalled = manual.now.nanoseconds
                manual.loop.runTurn()
                #expect(recording.trace().waits.map(\.since) == [signalled])
                #expect(recording.trace().waits.map(\.thread) == [other])
            }
        }
    }

    @Test func `a recording has the time and thread that posted a block`() {
        ManualRunLoop.with { manual in
            let recording = RunLoop.Recording()
            recording.add(manual.loop)
            let loop = manual.loop
            let other = TestThread.run {
                loop.perform {}
                return SystemCalls.threadID
            }
            manual.loop.runTurn()
            let trace = recording.trace()
            #expect(trace.waits.map(\.thread) == [other])
            #expect(trace.waits.map(\.since) == [manual.now.nanoseconds])
        }
    }

    @Test func `a recording has the time at which a descriptor was found ready`() {
        ManualRunLoop.with { manual in
            let recording = RunLoop.Recording()
            recording.add(manual.loop)
            let descriptorSource = RunLoop.DescriptorSource(7, label: "pipe") { _, _ in }
            #expect(throws: Never.self) { try manual.loop.add(descriptorSource, in: .default) }
            manual.setReady(7, .readable)
            manual.loop.runTurn()
            #expect(recording.trace().waits.map(\.since) == [manual.now.nanoseconds])
            #expect(recording.trace().kinds.contains(.calloutBegan(.descriptor, "pipe")))
        }
    }

    @Test func `a recording has the thread that woke the loop`() async {
        // A process of its own: a storm in another test's threads pushes the wake-up out of the process's row.
        await #expect(processExitsWith: .success) {
            let (waker, wakings, threads) = TestThread.run { () -> (Int32, [RunLoop.Trace.Event.Waking], [Int32]) in
                let loop = RunLoop.current
                let recording = RunLoop.Recording()
                recording.add(loop)
                let waker = Locked<Int32>(0)
                let keep = RunLoop.Source { _ in }
                loop.add(keep, in: .default)
                // Before it sleeps, so that the wake-up finds it on its way to sleep or asleep.
                var thread: TestThread?
                loop.add(
                    RunLoop.Observer(.beforeWaiting, repeats: false) { _, _ in
                        thread = TestThread {
                            waker.withLock { $0 = SystemCalls.threadID }
                            loop.perform { RunLoop.current.stop() }
                            loop.wakeUp()
                        }
                    }, in: .default)
                _ = loop.runPlenty()
                thread?.join()
                let trace = recording.trace()
                return (waker.copy, trace.wakings, trace.waits.map(\.thread))
            }
            let first = wakings.first { $0.cause == .wakeUp }
            #expect(first?.thread == waker)
            #expect(threads.contains(waker))
        }
    }

    @Test func `a recording has a greater depth for nested runs`() {
        ManualRunLoop.with { manual in
            let recording = RunLoop.Recording()
            recording.add(manual.loop)
            manual.loop.performLocally {
                manual.loop.performLocally {}
                manual.loop.runTurn()
            }
            manual.loop.runTurn()
            #expect(recording.trace().loops[0].events.map(\.depth).max() == 2)
        }
    }

    @Test func `a recording keeps the last events and counts the lost ones`() {
        ManualRunLoop.with { manual in
            let recording = RunLoop.Recording(capacity: 60)
            #expect(recording.capacity == 64)
            recording.add(manual.loop)
            manual.loop.add(RunLoop.Source { _ in }, in: .default)
            for _ in 0..<100 { manual.loop.runTurn() }
            let loop = recording.trace().loops[0]
            #expect(loop.events.count == 64)
            #expect(loop.lost > 100)
        }
    }

    @Test func `a recording keeps the labels of released items`() {
        ManualRunLoop.with { manual in
            let recording = RunLoop.Recording()
            recording.add(manual.loop)
            for number in 0..<10 {
                let source = RunLoop.Source(label: "number \(number)") { _ in }
                manual.loop.add(source, in: .default)
                source.signal()
                manual.loop.runTurn()
                source.invalidate()
            }
            #expect(recording.trace().kinds.contains(.calloutBegan(.source, "number 3")))
        }
    }

    @Test func `a recording keeps the labels of its events even beyond the limit of unused labels`() {
        ManualRunLoop.with { manual in
            let recording = RunLoop.Recording()
            recording.add(manual.loop)
            for number in 0..<6500 {
                let source = RunLoop.Source(label: "number \(number)") { _ in }
                manual.loop.add(source, in: .default)
                source.signal()
                manual.loop.runTurn()
                source.invalidate()
            }
            #expect(recording.trace().kinds.contains(.calloutBegan(.source, "number 3")))
            #expect(recording.trace().kinds.contains(.calloutBegan(.source, "number 6499")))
        }
    }

    @Test func `a recording records nothing after stop and is removed from the loop`() {
        ManualRunLoop.with { manual in
            let recording = RunLoop.Recording()
            recording.add(manual.loop)
            manual.loop.performLocally {}
            manual.loop.runTurn()
            let count = recording.trace().loops[0].events.count
            recording.stop()
            manual.loop.performLocally {}
            manual.loop.runTurn()
            #expect(recording.trace().loops[0].events.count == count)
            #expect(!recording.add(manual.loop))
            let another = RunLoop.Recording()
            #expect(another.add(manual.loop))
        }
    }

    @Test func `a recording cannot be added to a loop with a trace recorder`() {
        ManualRunLoop.with { manual in
            let recorder = RunLoop.TraceRecorder(manual.loop)
            #expect(!RunLoop.Recording().add(manual.loop))
            recorder.stop()
            #expect(RunLoop.Recording().add(manual.loop))
        }
    }

    @Test func `a recording can be read by another thread while the loop runs`() {
        let recording = RunLoop.Recording(capacity: 256)
        let isDone = Locked(false)
        let thread = TestThread {
            let loop = RunLoop.current
            recording.add(loop)
            for _ in 0..<2000 {
                loop.perform {}
                loop.runTurn()
            }
            isDone.withLock { $0 = true }
        }
        var reads = 0
        repeat {
            for loop in recording.trace().loops {
                let times = loop.events.map(\.time)
                #expect(times == times.sorted())
            }
            reads += 1
        } while !isDone.copy
        thread.join()
        #expect(reads > 0)
        #expect(recording.trace().loops[0].lost > 0)
    }
}
