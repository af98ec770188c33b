// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// Specification 4: runs and their results.
@Suite(.ownThread) struct RunRuleTests {
    // MARK: Specification 4.1, 4.2

    @Test func `A run in an empty or unknown mode finishes without calling observers`() {
        ManualRunLoop.with { manual in
            manual.loop.add(RunLoop.Observer(.all) { _, _ in Issue.record("told") }, in: .default)
            let recorder = RunLoop.TraceRecorder(manual.loop)
            #expect(manual.loop.run(in: .default, until: nil) == .finished)
            #expect(manual.loop.run(in: "unknown", for: .seconds(1)) == .finished)
            #expect(recorder.lines.isEmpty)
            #expect(manual.loop.modes == [.default])
        }
    }

    @Test func `A run ends at its limit`() {
        ManualRunLoop.with { manual in
            manual.loop.addSource()
            let start = manual.now
            #expect(manual.loop.run(in: .default, for: .milliseconds(1234)) == .timedOut)
            #expect(start.duration(to: manual.now) == .milliseconds(1234))
            #expect(manual.loop.run(in: .default, until: start.advanced(by: .seconds(2))) == .timedOut)
            #expect(start.duration(to: manual.now) == .seconds(2))
        }
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min)])
    func `A run with a limit that has passed makes one turn without a sleep`(duration: Duration) {
        ManualRunLoop.with { manual in
            manual.loop.addSource()
            let recorder = RunLoop.TraceRecorder(manual.loop)
            #expect(manual.loop.run(in: .default, for: duration) == .timedOut)
            #expect(recorder.count(of: "beforeTimers") == 1)
            #expect(recorder.count(of: "beforeWaiting") == 0)
            #expect(manual.sleeps == 0)
            #expect(manual.loop.run(in: .default, until: manual.now) == .timedOut)
            #expect(manual.loop.run(in: .default, until: RunLoop.Instant(nanoseconds: .min)) == .timedOut)
            #expect(manual.sleeps == 0)
        }
    }

    @Test func `A run limit too large for an Instant is no limit`() {
        ManualRunLoop.with { manual in
            manual.loop.addSource()
            #expect(manual.loop.run(in: .default, for: .seconds(Int64.max)) == .stopped)
            #expect(manual.endlessSleeps == 1)
        }
    }

    @Test func `returnsAfterSource ends the run after one source`() {
        ManualRunLoop.with { manual in
            let performed = Box(0)
            let sources = (0..<3).map { order in RunLoop.Source(order: order) { _ in performed.value += 1 } }
            for source in sources.reversed() {
                manual.loop.add(source, in: .default)
                source.signal()
            }
            for number in 1...3 {
                let result = manual.loop.run(in: .default, for: .seconds(1), returnsAfterSource: true)
                #expect(result == .handledSource)
                #expect(performed.value == number)
                #expect(sources.map(\.isSignalled) == [number < 1, number < 2, number < 3])
            }
            #expect(manual.loop.runTurn(returnsAfterSource: true) == .timedOut)
        }
    }

    @Test func `returnsAfterSource does not count timers, blocks and wake-ups`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            loop.addSource()
            loop.add(RunLoop.Timer(.every(.milliseconds(100))) { _ in loop.performLocally {} }, in: .default)
            loop.add(RunLoop.Observer(.beforeWaiting) { _, _ in }, in: .default)
            #expect(loop.run(in: .default, for: .seconds(1), returnsAfterSource: true) == .timedOut)
        }
    }

    @Test func `A run finishes when its mode becomes empty`() {
        ManualRunLoop.with { manual in
            let source = RunLoop.Source { $0.invalidate() }
            manual.loop.add(source, in: .default)
            source.signal()
            #expect(manual.loop.run(in: .default, until: nil) == .finished)
            #expect(manual.sleeps == 0)
        }
    }

    @Test func `If several results apply, run returns the first of handledSource, timedOut, stopped and finished`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let source = RunLoop.Source { source in
                loop.stop()
                source.invalidate()
            }
            loop.add(source, in: .default)
            source.signal()
            #expect(loop.runTurn(returnsAfterSource: true) == .handledSource)
            loop.performLocally { loop.stop() }
            #expect(loop.runTurn() == .timedOut)
            loop.performLocally { loop.stop() }
            #expect(loop.run(in: .default, for: .seconds(1)) == .stopped)
            #expect(loop.runTurn() == .finished)
        }
    }

    @Test func `run begins one run of the default mode after another until one ends as stopped or finished`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let fires = Box(0)
            let timer = RunLoop.Timer(.every(.seconds(1))) { timer in
                fires.value += 1
                if fires.value == 3 { loop.stop() }
                if fires.value == 5 { timer.invalidate() }
            }
            loop.add(timer, in: .default)
            #expect(loop.run() == .stopped)
            #expect(fires.value == 3)
            #expect(loop.run() == .finished)
            #expect(fires.value == 5)
            #expect(loop.run() == .finished)
            #expect(fires.value == 5)
        }
    }

    // MARK: Specification 4.3

    @Test func `currentMode is the mode of the innermost run`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let seen = Box<[String]>([])
            func note() { seen.value.append(loop.currentMode?.rawValue ?? "none") }
            loop.addSource(in: "middle")
            loop.addSource(in: "inner")
            loop.performLocally {
                note()
                loop.performLocally(in: "middle") {
                    note()
                    loop.performLocally(in: "inner") { note() }
                    loop.runTurn(in: "inner")
                    note()
                }
                loop.runTurn(in: "middle")
                note()
            }
            loop.runTurn()
            note()
            #expect(
                seen.value == [
                    "kCFRunLoopDefaultMode", "middle", "inner", "middle", "kCFRunLoopDefaultMode", "none",
                ])
        }
    }

    @Test func `A nested run has its own limit`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let start = manual.now
            loop.addSource()
            loop.performLocally {
                #expect(loop.run(in: .default, for: .seconds(10)) == .timedOut)
                #expect(start.duration(to: manual.now) == .seconds(10))
            }
            #expect(loop.run(in: .default, for: .seconds(1)) == .timedOut)
            #expect(start.duration(to: manual.now) == .seconds(10))
        }
    }

    @Test func `A stop ends only the innermost run`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let results = Box<[RunLoop.RunResult]>([])
            loop.addSource()
            loop.performLocally {
                loop.performLocally { loop.stop() }
                results.value.append(loop.run(in: .default, for: .seconds(1)))
            }
            results.value.append(loop.run(in: .default, for: .seconds(1)))
            #expect(results.value == [.stopped, .timedOut])
        }
    }

    @Test func `If a callout stops the run and then runs the loop, the stopped run ends at the end of its turn`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let start = manual.now
            loop.add(RunLoop.Timer(.after(.seconds(3))) { _ in }, in: .default)
            loop.addSource()
            loop.performLocally {
                loop.stop()
                #expect(loop.run(in: .default, for: .seconds(2)) == .timedOut)
            }
            // The turn does not sleep before its end, although the nested run has slept.
            #expect(loop.run(in: .default, for: .seconds(5)) == .stopped)
            #expect(start.duration(to: manual.now) == .seconds(2))
        }
    }

    @Test func `A stopped outer run ends without a sleep after a nested run`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            loop.addSource()
            loop.performLocally {
                loop.stop()
                let recorder = RunLoop.TraceRecorder(loop)
                #expect(loop.run(in: .default, for: .milliseconds(1)) == .timedOut)
                // It has served the wake-up of the stop with a turn of its own, and then slept.
                #expect(recorder.count(of: "beforeTimers") == 2)
            }
            #expect(loop.run(in: .default, until: nil) == .stopped)
            #expect(manual.endlessSleeps == 0)
        }
    }

    // MARK: 4.5.1

    /// Where a run loses its last item.
    enum Loss: CaseIterable {
        case block, observer, invalidation, move
    }

    @Test(arguments: Loss.allCases, RunLoop.ClockID.allCases)
    func `A run finishes without sleeping if its mode loses its last timer before the sleep`(
        loss: Loss, clock: RunLoop.ClockID
    ) {
        let timer = RunLoop.Timer(.after(.seconds(5), clock: clock)) { _ in Issue.record("fired") }
        expectNoSleep(losing: timer, loss)
    }

    @Test(arguments: Loss.allCases)
    func `A run finishes without sleeping if its mode loses its last source before the sleep`(loss: Loss) {
        expectNoSleep(losing: RunLoop.Source { _ in Issue.record("performed") }, loss)
    }

    private func add(_ item: RunLoop.Item, to loop: RunLoop, in mode: RunLoop.Mode) {
        switch item {
        case let timer as RunLoop.Timer: loop.add(timer, in: mode)
        case let source as RunLoop.Source: loop.add(source, in: mode)
        default: Issue.record("neither a timer nor a source")
        }
    }

    private func expectNoSleep(losing item: RunLoop.Item, _ loss: Loss) {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let start = manual.now
            add(item, to: loop, in: .default)
            switch loss {
            case .block: loop.performLocally { loop.remove(item, from: .default) }
            case .invalidation: loop.performLocally { item.invalidate() }
            case .observer:
                let observer = RunLoop.Observer(.beforeWaiting, repeats: false) { _, _ in
                    loop.remove(item, from: .default)
                }
                loop.add(observer, in: .default)
            case .move:
                loop.performLocally {
                    loop.remove(item, from: .default)
                    add(item, to: loop, in: "other")
                }
            }
            let recorder = RunLoop.TraceRecorder(loop)
            #expect(loop.run(in: .default, for: .seconds(100)) == .finished)
            #expect(manual.now == start)
            // One turn, with both observers of the sleep.
            #expect(recorder.count(of: "beforeTimers") == 1)
            #expect(recorder.count(of: "afterWaiting") == 1)
        }
    }

    @Test func `A block posted while the mode loses its last item runs, and a timer that it adds keeps the run going`()
    {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let source = loop.addSource()
            let fires = Box(0)
            let observer = RunLoop.Observer(.beforeWaiting, repeats: false) { _, _ in
                source.invalidate()
                loop.performLocally(wake: false) {
                    loop.add(RunLoop.Timer(.after(.seconds(1))) { _ in fires.value += 1 }, in: .default)
                }
            }
            loop.add(observer, in: .default)
            #expect(loop.run(in: .default, for: .seconds(100)) == .finished)
            #expect(fires.value == 1)
        }
    }

    @Test func `A run ends without a sleep if the item that a block added is removed before the sleep`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let start = manual.now
            let source = RunLoop.Source { _ in }
            loop.performLocally { loop.add(source, in: .default) }
            let observer = RunLoop.Observer(.beforeWaiting, repeats: false) { _, _ in source.invalidate() }
            loop.add(observer, in: .default)
            #expect(loop.run(in: .default, for: .seconds(100)) == .finished)
            #expect(manual.now == start)
        }
    }

    @Test
    func `A sleeping run finishes after another thread has removed its timer and its source`() {
        withRealLoop { loop in
            let source = loop.addSource()
            let timer = RunLoop.Timer.sendable(.after(.milliseconds(200))) { _ in Issue.record("fired") }
            loop.add(timer, in: .default)
            let remover = TestThread {
                waitUntil { loop.isWaiting }
                timer.invalidate()
                source.invalidate()
            }
            #expect(loop.runPlenty() == .finished)
            remover.join()
        }
    }

    @Test(arguments: [false, true])
    func `A run finishes if its mode loses its last timer during the sleep`(isDelayed: Bool) {
        withRealLoop { loop in
            let delay = Duration.milliseconds(200)
            let timer = RunLoop.Timer.sendable(.after(delay)) { _ in }
            let delayed = isDelayed ? loop.perform(after: delay) {} : nil
            if !isDelayed { loop.add(timer, in: .default) }
            let sleeps = Locked(0)
            loop.add(RunLoop.Observer(.afterWaiting) { _, _ in sleeps.increment() }, in: .default)
            let remover = TestThread {
                waitUntil { loop.isWaiting }
                if let delayed { _ = loop.cancel(delayed) } else { timer.invalidate() }
            }
            #expect(loop.runPlenty() == .finished)
            remover.join()
            // One turn, which it slept in.
            #expect(sleeps.count == 1)
        }
    }

    @Test
    func `A sleeping run whose mode loses its last source finishes when something wakes it`() {
        withRealLoop { loop in
            let source = loop.addSource()
            let waker = TestThread {
                waitUntil { loop.isWaiting }
                source.invalidate()
                loop.wakeUp()
            }
            #expect(loop.runPlenty() == .finished)
            waker.join()
        }
    }

    // MARK: 4.6

    @Test func `A stop of an outer run ends that run after the runs nested in it`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let start = manual.now
            loop.addSource()
            #expect(loop.currentRun == nil)
            loop.performLocally {
                let outer = loop.currentRun
                loop.perform(after: .seconds(1)) {
                    #expect(loop.currentRun != outer)
                    if let outer { loop.stop(outer) }
                }
                #expect(loop.run(in: .default, for: .seconds(2)) == .timedOut)
                #expect(loop.currentRun == outer)
            }
            #expect(loop.run(in: .default, for: .seconds(9)) == .stopped)
            #expect(start.duration(to: manual.now) == .seconds(2))
        }
    }

    @Test func `A stop through a middle run ends that run and the runs in it at once, and no run around it`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let start = manual.now
            let results = Box<[RunLoop.RunResult]>([])
            loop.addSource()
            func run(_ seconds: Int) { results.value.append(loop.run(in: .default, for: .seconds(seconds))) }
            loop.performLocally {
                let middle = loop.nextRun
                loop.performLocally {
                    loop.performLocally {
                        loop.performLocally { loop.stop(through: middle) }
                        run(1)
                    }
                    run(2)
                }
                run(5)
                #expect(start.duration(to: manual.now) == .zero)
                // The name of a run that has ended has no effect.
                loop.performLocally { loop.stop(through: middle) }
                run(1)
            }
            run(9)
            #expect(results.value == [.stopped, .stopped, .stopped, .timedOut, .timedOut])
        }
    }

    @Test func `A stop of a middle run does not end the runs around it`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let results = Box<[RunLoop.RunResult]>([])
            loop.addSource()
            func run(_ seconds: Int) { results.value.append(loop.run(in: .default, for: .seconds(seconds))) }
            loop.performLocally {
                loop.performLocally {
                    let middle = loop.currentRun
                    loop.performLocally {
                        if let middle { loop.stop(middle) }
                    }
                    run(1)
                }
                run(5)
            }
            run(9)
            #expect(results.value == [.timedOut, .stopped, .timedOut])
        }
    }

    @Test func `A stop of the innermost run ends it, and a stop of an ended run has no effect`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let ended = Box<RunLoop.RunID?>(nil)
            loop.addSource()
            loop.performLocally {
                ended.value = loop.currentRun
                if let run = loop.currentRun { loop.stop(run) }
            }
            #expect(loop.run(in: .default, for: .seconds(1)) == .stopped)
            #expect(manual.sleeps == 0)
            loop.performLocally {
                if let run = ended.value { loop.stop(run) }
            }
            #expect(loop.run(in: .default, for: .seconds(1)) == .timedOut)
        }
    }

    @Test func `Another thread stops an outer run while a nested run sleeps`() {
        withRealLoop { loop in
            loop.addSource()
            let nested = Locked<RunLoop.RunResult?>(nil)
            let outer = Locked<RunLoop.RunID?>(nil)
            loop.performLocally {
                outer.withLock { $0 = loop.currentRun }
                let result = loop.runPlenty()
                nested.withLock { $0 = result }
            }
            let stopper = TestThread {
                waitUntil { outer.copy != nil && loop.currentRun != outer.copy && loop.isWaiting }
                if let outer = outer.copy { loop.stop(outer) }
                // The nested run goes on until it is stopped itself.
                #expect(nested.copy == nil)
                if let nested = loop.currentRun { loop.stop(nested) }
            }
            #expect(loop.runPlenty() == .stopped)
            stopper.join()
            #expect(nested.copy == .stopped)
        }
    }

    // MARK: 4.7

    @Test func `runUntilIdle returns after the first turn that finds no work`() throws {
        try ManualRunLoop.with { manual in
            let loop = manual.loop
            let calls = Box<[String]>([])
            loop.add(RunLoop.Timer(.after(.zero)) { _ in calls.value.append("timer") }, in: .default)
            loop.add(RunLoop.Timer(.after(.milliseconds(1))) { _ in calls.value.append("later") }, in: .default)
            let source = RunLoop.Source { source in
                calls.value.append("source")
                if calls.value.count(where: { $0 == "source" }) < 3 { source.signal() }
            }
            loop.add(source, in: .default)
            source.signal()
            for descriptor: CInt in 1...2 {
                try loop.add(
                    RunLoop.DescriptorSource(descriptor) { _, _ in
                        manual.setReady(descriptor, [])
                        calls.value.append("descriptor")
                        if descriptor == 2 { loop.performLocally { calls.value.append("block") } }
                    }, in: .default)
                manual.setReady(descriptor, .readable)
            }
            let recorder = RunLoop.TraceRecorder(loop)
            #expect(loop.runUntilIdle() == .timedOut)
            #expect(
                calls.value.sorted() == ["block", "descriptor", "descriptor", "source", "source", "source", "timer"])
            #expect(manual.sleeps == 0)
            #expect(recorder.count(of: "entry") == 1)
            #expect(recorder.count(of: "exit") == 1)
            #expect(recorder.count(of: "beforeWaiting") == 0)
            #expect(recorder.count(of: "afterWaiting") == 0)
            // Nothing has come since: one turn.
            recorder.takeLines()
            #expect(loop.runUntilIdle() == .timedOut)
            #expect(recorder.count(of: "beforeTimers") == 1)
        }
    }

    @Test func `runUntilIdle returns finished for an empty mode and stopped after a stop`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            #expect(loop.runUntilIdle() == .finished)
            let calls = Box(0)
            loop.performLocally { loop.performLocally { calls.value += 1 } }
            #expect(loop.runUntilIdle() == .finished)
            #expect(calls.value == 1)
            let source = RunLoop.Source { source in
                source.signal()
                calls.value += 1
                if calls.value == 10 { loop.stop() }
            }
            loop.add(source, in: .default)
            source.signal()
            #expect(loop.runUntilIdle() == .stopped)
            #expect(calls.value == 10)
        }
    }
}
