// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// Specification 5, step by step, as exact traces.
@Suite(.ownThread) struct OneTurnTests {
    @Test func `poll performs the steps of a turn in order`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            loop.add(RunLoop.Timer(.after(.zero), label: "due") { _ in }, in: .default)
            let late = RunLoop.Source(order: 2, label: "late") { _ in }
            let early = RunLoop.Source(order: 1, label: "early") { _ in
                loop.performLocally(fileID: "blocks", line: 2) {}
            }
            for source in [late, early] {
                loop.add(source, in: .default)
                source.signal()
            }
            loop.performLocally(fileID: "blocks", line: 1) {}
            let recorder = RunLoop.TraceRecorder(loop)
            #expect(loop.runTurn() == .timedOut)
            #expect(
                recorder.text == """
                    run kCFRunLoopDefaultMode
                      entry
                      beforeTimers
                      beforeSources
                      > block "blocks:1"
                      > source "early"
                      > source "late"
                      > block "blocks:2"
                      > timer "due"
                      exit
                    timedOut
                    """)
        }
    }

    @Test func `A turn without ready items calls beforeWaiting and afterWaiting`() {
        ManualRunLoop.with { manual in
            manual.loop.addSource()
            let recorder = RunLoop.TraceRecorder(manual.loop)
            #expect(manual.loop.run(in: .default, for: .seconds(1)) == .timedOut)
            #expect(
                recorder.text == """
                    run kCFRunLoopDefaultMode
                      entry
                      beforeTimers
                      beforeSources
                      beforeWaiting
                      afterWaiting
                      exit
                    timedOut
                    """)
            #expect(manual.sleeps == 1)
        }
    }

    @Test func `A turn that performed a source does not wait and the next turn waits`() {
        ManualRunLoop.with { manual in
            let source = RunLoop.Source(label: "input") { _ in }
            manual.loop.add(source, in: .default)
            source.signal()
            let recorder = RunLoop.TraceRecorder(manual.loop)
            manual.loop.run(in: .default, for: .seconds(1))
            #expect(
                recorder.text == """
                    run kCFRunLoopDefaultMode
                      entry
                      beforeTimers
                      beforeSources
                      > source "input"
                      beforeTimers
                      beforeSources
                      beforeWaiting
                      afterWaiting
                      exit
                    timedOut
                    """)
        }
    }

    @Test func `A one-shot timer ends the sleep, and the run finishes after the timer has fired`() {
        ManualRunLoop.with { manual in
            let start = manual.now
            manual.loop.add(RunLoop.Timer(.after(.seconds(1)), label: "once") { _ in }, in: .default)
            let recorder = RunLoop.TraceRecorder(manual.loop)
            #expect(manual.loop.run(in: .default, for: .seconds(5)) == .finished)
            #expect(start.duration(to: manual.now) == .seconds(1))
            #expect(
                recorder.text == """
                    run kCFRunLoopDefaultMode
                      entry
                      beforeTimers
                      beforeSources
                      beforeWaiting
                      afterWaiting
                      > timer "once"
                      exit
                    finished
                    """)
        }
    }

    @Test func `A descriptor ends the sleep and is served in the same turn`() throws {
        try ManualRunLoop.with { manual in
            let descriptorSource = RunLoop.DescriptorSource(3, label: "socket") { _, _ in manual.setReady(3, []) }
            try manual.loop.add(descriptorSource, in: .default)
            manual.setReady(3, .readable)
            let recorder = RunLoop.TraceRecorder(manual.loop)
            let result = manual.loop.run(in: .default, for: .seconds(1), returnsAfterSource: true)
            #expect(result == .handledSource)
            #expect(
                recorder.text == """
                    run kCFRunLoopDefaultMode
                      entry
                      beforeTimers
                      beforeSources
                      beforeWaiting
                      afterWaiting
                      > descriptor "socket"
                      exit
                    handledSource
                    """)
            #expect(manual.sleeps == 0)
        }
    }

    @Test func `Observers are called at each activity they ask for`() {
        ManualRunLoop.with { manual in
            manual.loop.addSource()
            manual.loop.add(
                RunLoop.Observer([.entry, .beforeWaiting], order: 1, label: "second") { _, _ in }, in: .default)
            manual.loop.add(RunLoop.Observer(.all, label: "first") { _, _ in }, in: .default)
            let recorder = RunLoop.TraceRecorder(manual.loop)
            manual.loop.run(in: .default, for: .seconds(1))
            #expect(
                recorder.text == """
                    run kCFRunLoopDefaultMode
                      entry
                      > observer "first"
                      > observer "second"
                      beforeTimers
                      > observer "first"
                      beforeSources
                      > observer "first"
                      beforeWaiting
                      > observer "first"
                      > observer "second"
                      afterWaiting
                      > observer "first"
                      exit
                      > observer "first"
                    timedOut
                    """)
        }
    }

    @Test func `In a trace, a nested run is inside the callout that started it`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            loop.addSource(in: "inner")
            loop.add(
                RunLoop.Timer(.after(.zero), label: "outer") { _ in
                    #expect(loop.run(in: "inner", for: .seconds(1)) == .timedOut)
                }, in: .default)
            let recorder = RunLoop.TraceRecorder(loop)
            loop.runTurn()
            #expect(
                recorder.text == """
                    run kCFRunLoopDefaultMode
                      entry
                      beforeTimers
                      beforeSources
                      > timer "outer"
                        run inner
                          entry
                          beforeTimers
                          beforeSources
                          beforeWaiting
                          afterWaiting
                          exit
                        timedOut
                      exit
                    timedOut
                    """)
        }
    }

    @Test func `TraceRecorder records callouts and notes, and nothing after stop`() {
        ManualRunLoop.with { manual in
            let recorder = RunLoop.TraceRecorder(manual.loop)
            manual.loop.add(
                RunLoop.Timer(.after(.zero), label: "t") { _ in recorder.note("a note") }, in: .default)
            manual.loop.runTurn()
            #expect(recorder.callouts == ["timer \"t\""])
            #expect(recorder.takeLines().contains("    a note"))
            #expect(recorder.lines.isEmpty)
            recorder.stop()
            manual.loop.addSource()
            manual.loop.runTurn()
            #expect(recorder.lines.isEmpty)
        }
    }
}
