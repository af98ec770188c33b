import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// Specification 4: runs and their results.
@Suite struct RunRuleTests {
    // MARK: Specification 4.1, 4.2

    @Test func `An empty or unknown mode is finished and no observer is told`() {
        ManualRunLoop.with { manual in
            manual.loop.add(RunLoop.Observer(.all) { _, _ in Issue.record("told") }, in: .default)
            let recorder = TraceRecorder(manual.loop)
            #expect(manual.loop.run(mode: .default, until: nil) == .finished)
            #expect(manual.loop.run(mode: "unknown", for: .seconds(1)) == .finished)
            #expect(recorder.lines.isEmpty)
            #expect(manual.loop.modes == [.default])
        }
    }

    @Test func `A run ends when its time is over`() {
        ManualRunLoop.with { manual in
            manual.loop.addSource()
            let start = manual.now
            #expect(manual.loop.run(mode: .default, for: .milliseconds(1234)) == .timedOut)
            #expect(start.duration(to: manual.now) == .milliseconds(1234))
            #expect(manual.loop.run(mode: .default, until: start.advanced(by: .seconds(2))) == .timedOut)
            #expect(start.duration(to: manual.now) == .seconds(2))
        }
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min)])
    func `A run for no time or less looks once and does not sleep`(duration: Duration) {
        ManualRunLoop.with { manual in
            manual.loop.addSource()
            let recorder = TraceRecorder(manual.loop)
            #expect(manual.loop.run(mode: .default, for: duration) == .timedOut)
            #expect(recorder.count(of: "beforeTimers") == 1)
            #expect(recorder.count(of: "beforeWaiting") == 0)
            #expect(manual.sleeps == 0)
            #expect(manual.loop.run(mode: .default, until: manual.now) == .timedOut)
            #expect(manual.loop.run(mode: .default, until: RunLoop.Instant(nanoseconds: .min)) == .timedOut)
            #expect(manual.sleeps == 0)
        }
    }

    @Test func `A run with a limit that does not fit has none`() {
        ManualRunLoop.with { manual in
            manual.loop.addSource()
            #expect(manual.loop.run(mode: .default, for: .seconds(Int64.max)) == .stopped)
            #expect(manual.endlessSleeps == 1)
        }
    }

    @Test func `A run that returns after a source does so after one`() {
        ManualRunLoop.with { manual in
            let performed = Box(0)
            let sources = (0..<3).map { order in RunLoop.Source(order: order) { _ in performed.value += 1 } }
            for source in sources.reversed() {
                manual.loop.add(source, in: .default)
                source.signal()
            }
            for number in 1...3 {
                let result = manual.loop.run(mode: .default, for: .seconds(1), returnAfterSourceHandled: true)
                #expect(result == .handledSource)
                #expect(performed.value == number)
                #expect(sources.map(\.isSignalled) == [number < 1, number < 2, number < 3])
            }
            #expect(manual.loop.poll(returnAfterSourceHandled: true) == .timedOut)
        }
    }

    @Test func `Timers blocks and wake-ups are no sources to return after`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            loop.addSource()
            loop.add(RunLoop.Timer(.every(.milliseconds(100))) { _ in loop.performLocally {} }, in: .default)
            loop.add(RunLoop.Observer(.beforeWaiting) { _, _ in }, in: .default)
            #expect(loop.run(mode: .default, for: .seconds(1), returnAfterSourceHandled: true) == .timedOut)
        }
    }

    @Test func `A run is finished when its mode has become empty`() {
        ManualRunLoop.with { manual in
            let source = RunLoop.Source { $0.invalidate() }
            manual.loop.add(source, in: .default)
            source.signal()
            #expect(manual.loop.run(mode: .default, until: nil) == .finished)
            #expect(manual.sleeps == 0)
        }
    }

    @Test func `A source handled goes before the time and the time before a stop and a stop before emptiness`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let source = RunLoop.Source { source in
                loop.stop()
                source.invalidate()
            }
            loop.add(source, in: .default)
            source.signal()
            #expect(loop.poll(returnAfterSourceHandled: true) == .handledSource)
            loop.performLocally { loop.stop() }
            #expect(loop.poll() == .timedOut)
            loop.performLocally { loop.stop() }
            #expect(loop.run(mode: .default, for: .seconds(1)) == .stopped)
            #expect(loop.poll() == .finished)
        }
    }

    @Test func `Running the default mode goes on until it is stopped or finished`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let fires = Box(0)
            let timer = RunLoop.Timer(.every(.seconds(1))) { timer in
                fires.value += 1
                if fires.value == 3 { loop.stop() }
                if fires.value == 5 { timer.invalidate() }
            }
            loop.add(timer, in: .default)
            loop.run()
            #expect(fires.value == 3)
            loop.run()
            #expect(fires.value == 5)
            loop.run()
            #expect(fires.value == 5)
        }
    }

    // MARK: Specification 4.3

    @Test func `Nested runs have their own mode and the current one is the innermost`() {
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
                    loop.poll(mode: "inner")
                    note()
                }
                loop.poll(mode: "middle")
                note()
            }
            loop.poll()
            note()
            #expect(
                seen.value == [
                    "kCFRunLoopDefaultMode", "middle", "inner", "middle", "kCFRunLoopDefaultMode", "none",
                ])
        }
    }

    @Test func `A nested run has its own time`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let start = manual.now
            loop.addSource()
            loop.performLocally {
                #expect(loop.run(mode: .default, for: .seconds(10)) == .timedOut)
                #expect(start.duration(to: manual.now) == .seconds(10))
            }
            #expect(loop.run(mode: .default, for: .seconds(1)) == .timedOut)
            #expect(start.duration(to: manual.now) == .seconds(10))
        }
    }

    @Test func `A stop ends the innermost run alone`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let results = Box<[RunLoop.RunResult]>([])
            loop.addSource()
            loop.performLocally {
                loop.performLocally { loop.stop() }
                results.value.append(loop.run(mode: .default, for: .seconds(1)))
            }
            results.value.append(loop.run(mode: .default, for: .seconds(1)))
            #expect(results.value == [.stopped, .timedOut])
        }
    }

    @Test func `A stop followed by a nested run ends the outer one at the end of its turn`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let start = manual.now
            loop.add(RunLoop.Timer(.after(.seconds(3))) { _ in }, in: .default)
            loop.addSource()
            loop.performLocally {
                loop.stop()
                #expect(loop.run(mode: .default, for: .seconds(2)) == .timedOut)
            }
            // The nested run has taken the wake-up; the outer one does not sleep all the same (Specification 5.4.4).
            #expect(loop.run(mode: .default, for: .seconds(5)) == .stopped)
            #expect(start.duration(to: manual.now) == .seconds(2))
        }
    }
}
