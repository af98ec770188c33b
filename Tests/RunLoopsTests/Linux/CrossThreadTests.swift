import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

/// Reaching a loop from other threads while it sleeps, wakes up and is awake.
@Suite(.timeLimit(.minutes(1))) struct CrossThreadTests {
    /// With a port the loop sleeps on epoll, without on a futex.
    private func prepare(_ loop: RunLoop, _ hasPort: Bool) -> DescriptorPair? {
        loop.addSource()
        guard hasPort else { return nil }
        let pipe = DescriptorPair.pipe()
        addPort(RunLoop.PortSource(descriptor: pipe.first) { _, _ in }, to: loop)
        return pipe
    }

    @Test(arguments: [false, true]) func `A stop ends the sleep`(hasPort: Bool) {
        withRealLoop { loop in
            let pipe = prepare(loop, hasPort)
            let stopper = TestThread {
                waitUntil { loop.isWaiting }
                loop.stop()
            }
            #expect(loop.runPlenty() == .stopped)
            stopper.join()
            withExtendedLifetime(pipe) {}
        }
    }

    @Test(arguments: [false, true]) func `A signal and a wake-up perform the source`(hasPort: Bool) {
        withRealLoop { loop in
            let pipe = prepare(loop, hasPort)
            let performed = Locked(0)
            let source = RunLoop.Source { _ in
                performed.increment()
                if performed.count == 100 { loop.stop() }
            }
            loop.add(source, in: .default)
            let signaller = TestThread {
                for round in 0..<100 {
                    waitUntil { performed.count == round }
                    source.signal()
                    loop.wakeUp()
                }
            }
            #expect(loop.runPlenty() == .stopped)
            signaller.join()
            #expect(performed.count == 100)
            withExtendedLifetime(pipe) {}
        }
    }

    @Test(arguments: [false, true]) func `A block that wakes runs on the loop's thread`(hasPort: Bool) {
        withRealLoop { loop in
            let pipe = prepare(loop, hasPort)
            let thread = SystemCalls.threadID
            let ran = Locked(0)
            let poster = TestThread {
                for round in 0..<100 {
                    waitUntil { ran.count == round }
                    loop.perform(wake: true) {
                        #expect(SystemCalls.threadID == thread)
                        ran.increment()
                        if round == 99 { RunLoop.current.stop() }
                    }
                }
            }
            #expect(loop.runPlenty() == .stopped)
            poster.join()
            #expect(ran.count == 100)
            withExtendedLifetime(pipe) {}
        }
    }

    @Test func `Signals of many threads that race with the way to sleep are all served`() {
        withRealLoop { loop in
            let rounds = 2000
            let served = Locked([0, 0, 0])
            let sources = (0..<3).map { index in
                RunLoop.Source.sendable(order: index) { _ in served.withLock { $0[index] += 1 } }
            }
            for source in sources { loop.add(source, in: .default) }
            let left = Locked(3)
            let signallers = sources.enumerated().map { index, source in
                TestThread {
                    for round in 0..<rounds {
                        source.signal()
                        loop.wakeUp()
                        // No sleep, no pause: the next signal comes as soon as this one was served.
                        while served.withLock({ $0[index] }) <= round { sched_yield() }
                    }
                    left.withLock { $0 -= 1 }
                    if left.count == 0 { loop.stop() }
                }
            }
            #expect(loop.runPlenty() == .stopped)
            for signaller in signallers { signaller.join() }
            #expect(served.withLock { $0 } == [rounds, rounds, rounds])
        }
    }

    @Test(arguments: [false, true]) func `An earlier timer added to a sleeping loop fires without an extra turn`(
        hasPort: Bool
    ) {
        withRealLoop { loop in
            let pipe = prepare(loop, hasPort)
            loop.add(RunLoop.Timer(.after(.seconds(3600))) { _ in }, in: .default)
            let turns = Locked(0)
            loop.add(RunLoop.Observer(.beforeTimers) { _, _ in turns.increment() }, in: .default)
            let adder = TestThread {
                waitUntil { loop.isWaiting }
                let timer = RunLoop.Timer.sendable(.after(.milliseconds(20))) { timer in
                    #expect(timer.fireInstant <= .now)
                    RunLoop.current.stop()
                }
                loop.add(timer, in: .default)
            }
            #expect(loop.runPlenty() == .stopped)
            adder.join()
            #expect(turns.count == 1)
            withExtendedLifetime(pipe) {}
        }
    }

    @Test(arguments: [false, true]) func `A date moved forward by another thread fires without an extra turn`(
        hasPort: Bool
    ) {
        withRealLoop { loop in
            let pipe = prepare(loop, hasPort)
            let turns = Locked(0)
            loop.add(RunLoop.Observer(.beforeTimers) { _, _ in turns.increment() }, in: .default)
            let timer = RunLoop.Timer.sendable(.after(.seconds(3600))) { timer in
                #expect(timer.fireInstant <= .now)
                RunLoop.current.stop()
            }
            loop.add(timer, in: .default)
            let mover = TestThread {
                waitUntil { loop.isWaiting }
                timer.fireInstant = .now.advanced(by: .milliseconds(20))
            }
            #expect(loop.runPlenty() == .stopped)
            mover.join()
            #expect(turns.count == 1)
            withExtendedLifetime(pipe) {}
        }
    }

    @Test func `A tolerance taken away by another thread shortens the sleep`() {
        withRealLoop { loop in
            let timer = RunLoop.Timer.sendable(.after(.milliseconds(10)), tolerance: .seconds(3600)) { _ in
                RunLoop.current.stop()
            }
            loop.add(timer, in: .default)
            let changer = TestThread {
                waitUntil { loop.isWaiting }
                timer.tolerance = .zero
            }
            #expect(loop.runPlenty() == .stopped)
            changer.join()
        }
    }

    @Test func `Items added and removed by many threads while the loop runs leave nothing`() {
        withRealLoop { loop in
            loop.addSource()
            let witness = Witness()
            do {
                let token = witness.makeToken()
                let left = Locked(3)
                let threads = (0..<3).map { number in
                    TestThread {
                        var random = SeededRandom(UInt64(number))
                        let pipe = DescriptorPair.pipe()
                        for _ in 0..<300 {
                            let timer = RunLoop.Timer.sendable(
                                .after(.microseconds(Int.random(in: 0...500, using: &random)), every: .microseconds(50))
                            ) { _ in withExtendedLifetime(token) {} }
                            let source = RunLoop.Source.sendable { _ in withExtendedLifetime(token) {} }
                            let observer = RunLoop.Observer.sendable(.all) { _, _ in withExtendedLifetime(token) {} }
                            let port = RunLoop.PortSource.sendable(descriptor: pipe.second, events: .writable) { _, _ in
                                withExtendedLifetime(token) {}
                            }
                            loop.add(timer, in: .common)
                            loop.add(source, in: .default)
                            loop.add(observer, in: .default)
                            addPort(port, to: loop)
                            source.signal()
                            loop.wakeUp()
                            if random.oneIn(2) { loop.remove(timer, from: .common) } else { timer.invalidate() }
                            if random.oneIn(2) { loop.remove(source, from: .default) } else { source.invalidate() }
                            if random.oneIn(2) { loop.remove(observer, from: .default) } else { observer.invalidate() }
                            if random.oneIn(2) { loop.remove(port, from: .default) } else { port.invalidate() }
                        }
                        left.withLock { $0 -= 1 }
                        if left.count == 0 { loop.stop() }
                    }
                }
                #expect(loop.runPlenty() == .stopped)
                for thread in threads { thread.join() }
            }
            loop.poll()
            #expect(witness.isGone)
        }
    }

    @Test func `A description may be asked for while the loop runs`() {
        withRealLoop { loop in
            loop.add(RunLoop.Timer(.every(.microseconds(100)), label: "busy") { _ in }, in: .default)
            loop.add(RunLoop.Observer(.all, label: "watch") { _, _ in }, in: .default)
            let reader = TestThread {
                for _ in 0..<200 {
                    let text = loop.debugDescription
                    expectTrue(text.contains("RunLoop.Timer busy"), text)
                    _ = (loop.description, loop.modes, loop.currentMode, loop.nextTimerDeadline(in: .default))
                }
                loop.stop()
            }
            #expect(loop.runPlenty() == .stopped)
            reader.join()
        }
    }
}
