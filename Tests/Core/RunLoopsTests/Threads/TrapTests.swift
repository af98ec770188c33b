// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

/// Misuse ends the process, and says what was wrong and what to do instead.
@Suite(.ownThread) struct TrapTests {
    @Test func `Adding a local item to the loop of another thread traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let other = TestThread.run { RunLoop.current }
            TestThread.run { other.add(RunLoop.Timer(.after(.zero), label: "local") { _ in }, in: .default) }
        }
        expectText(result, "<RunLoop.Timer local>")
        expectText(result, "cannot be added to the loop of thread")
        expectText(result, "Make it with .sendable(")
    }

    @Test func `Adding a timer or an observer that is in another loop traps and names the remedy`() async {
        let timer = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let timer = RunLoop.Timer.sendable(.after(.seconds(1)), label: "shared") { _ in }
            let other = RunningLoop()
            other.loop.add(timer, in: .default)
            TestThread.run { RunLoop.current.add(timer, in: .default) }
        }
        expectText(timer, "<RunLoop.Timer shared>")
        expectText(timer, "is in a mode of another loop")
        expectText(timer, "remove it from the modes of that loop first, or make one for each loop")
        let observer = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let observer = RunLoop.Observer.sendable(.all, label: "shared") { _, _ in }
            let other = RunningLoop()
            other.loop.add(observer, in: .common)
            TestThread.run { RunLoop.current.add(observer, in: .common) }
        }
        expectText(observer, "<RunLoop.Observer shared>")
        expectText(observer, "remove it from the modes of that loop first, or make one for each loop")
    }

    @Test func `Adding a main actor item to a loop other than the main loop traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let timer = RunLoop.Timer.mainActor(.after(.zero)) { _ in }
            RunLoop.main.add(timer, in: "fine")
            timer.invalidate()
            TestThread.run { RunLoop.current.add(RunLoop.Source.mainActor { _ in }, in: .default) }
        }
        expectText(result, "RunLoop.Source")
        expectText(result, "cannot be added to the loop of thread")
    }

    @Test func `Running a loop on another thread traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let other = TestThread.run { RunLoop.current }
            TestThread.run { _ = other.run(in: .default, for: .zero) }
        }
        expectText(result, "A run loop can only be run by its own thread")
        expectText(result, "Use perform, signal or stop")
    }

    @Test func `performLocally on another thread traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let other = TestThread.run { RunLoop.current }
            TestThread.run { other.performLocally {} }
        }
        expectText(result, "performLocally was called on thread")
        expectText(result, "use perform with a @Sendable closure")
    }

    @Test func `An interval that is not positive traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = RunLoop.Timer.Schedule.every(.zero)
        }
        expectText(result, "an interval must be at least a nanosecond")
        let negative = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = RunLoop.Timer.Schedule.after(.zero, every: .seconds(-1))
        }
        expectText(negative, "an interval must be at least a nanosecond")
        expectText(negative, "max(interval, .milliseconds(1)), or leave it out for a timer that fires once")
    }

    @Test func `A negative descriptor traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = RunLoop.DescriptorSource(-1) { _, _ in }
        }
        expectText(result, "was the result of open or socket checked?")
    }

    @Test func `A run limit or a deadline on the wrong clock traps`() async {
        let run = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            TestThread.run { _ = RunLoop.current.run(in: .default, until: .now(.realtime)) }
        }
        expectText(run, "A run ends at an instant of the monotonic clock")
        expectText(run, "give instant.converted(to: .monotonic)")
        let timer = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            RunLoop.Timer(.after(.zero)) { _ in }.deadline = .now(.boottime)
        }
        expectText(timer, "was given an instant of the boottime clock: give instant.converted(to: .monotonic)")
    }

    @Test func `Waking a loop inherited through fork traps in the child, and the parent's loop continues`() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let fires = Locked(0)
            let status = TestThread.run { () -> CInt in
                let loop = RunLoop.current
                let pipe = DescriptorPair.pipe()
                addDescriptorSource(RunLoop.DescriptorSource(pipe.first) { _, _ in }, to: loop)
                loop.add(
                    RunLoop.Timer(.every(.milliseconds(2))) { _ in
                        fires.increment()
                        if fires.count == 20 { loop.stop() }
                    }, in: .default)
                _ = loop.run(in: .default, for: .milliseconds(5))
                let child = fork()
                if child == 0 {
                    // The output shows only the trap.
                    loop.wakeUp()
                    _exit(0)
                }
                let result = loop.runPlenty()
                var status: CInt = 0
                waitpid(child, &status, 0)
                return result == .stopped ? status : -1
            }
            #expect(fires.count >= 20)
            // Ended by a signal, not by an exit.
            #expect(status & 0x7F != 0)
        }
        expectText(result, "A run loop made before fork() was used in the child process")
        expectText(result, "Call exec after fork")
    }

    @Test func `Using a loop inherited through fork traps`() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let uses: [@Sendable (RunLoop) -> Void] = [
                { $0.stop() }, { $0.perform {} }, { $0.add(RunLoop.Source.sendable { _ in }, in: .default) },
                { $0.run(in: .default, for: .zero) }, { $0.markCommon("x") },
                { $0.remove(RunLoop.Source.sendable { _ in }, from: .default) },
            ]
            let statuses = TestThread.run { () -> [CInt] in
                let loop = RunLoop.current
                loop.addSource()
                return uses.map { use in
                    let child = fork()
                    if child == 0 {
                        use(loop)
                        _exit(0)
                    }
                    var status: CInt = 0
                    waitpid(child, &status, 0)
                    return status
                }
            }
            for (index, status) in statuses.enumerated() { #expect(status & 0x7F != 0, "use \(index): \(status)") }
        }
        expectText(result, "A run loop made before fork()")
    }

    // The thread sanitizer cannot follow threads that are made after a fork.
    @Test(.disabled(if: Sanitizer.isThread)) func `New threads of a forked child have working loops`() async {
        await #expect(processExitsWith: .success) {
            let status = TestThread.run { () -> CInt in
                RunLoop.current.addSource()
                let child = fork()
                if child == 0 {
                    let fired = TestThread.run { () -> Bool in
                        let fired = Box(false)
                        RunLoop.current.add(
                            RunLoop.Timer(.after(.milliseconds(1))) { _ in fired.value = true }, in: .default)
                        RunLoop.current.run()
                        return fired.value
                    }
                    _exit(fired ? 0 : 1)
                }
                var status: CInt = 0
                waitpid(child, &status, 0)
                return status
            }
            #expect(status == 0)
        }
    }
}
