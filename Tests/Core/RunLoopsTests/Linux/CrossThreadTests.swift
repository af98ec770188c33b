// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import Synchronization
import Testing

@testable import RunLoops

/// Reaching a loop from other threads while it sleeps, wakes up and is awake.
@Suite(.ownThread) struct CrossThreadTests {
    /// With a descriptor the loop sleeps on epoll, without on a futex.
    private func prepare(_ loop: RunLoop, _ hasDescriptor: Bool) -> DescriptorPair? {
        loop.addSource()
        guard hasDescriptor else { return nil }
        let pipe = DescriptorPair.pipe()
        addDescriptorSource(RunLoop.DescriptorSource(pipe.first) { _, _ in }, to: loop)
        return pipe
    }

    @Test(arguments: [false, true]) func `A stop from another thread ends the sleep`(hasDescriptor: Bool) {
        withRealLoop { loop in
            let pipe = prepare(loop, hasDescriptor)
            let stopper = TestThread {
                waitUntil { loop.isWaiting }
                loop.stop()
            }
            #expect(loop.runPlenty() == .stopped)
            stopper.join()
            withExtendedLifetime(pipe) {}
        }
    }

    @Test func `sleepTime grows while the loop sleeps, and runTime does not`() {
        withRealLoop { loop in
            loop.addSource()
            let reader = TestThread {
                waitUntilAtRest(loop)
                let (began, slept, ran) = (SystemCalls.now(.monotonic), loop.sleepTime, loop.runTime)
                waitUntil { SystemCalls.now(.monotonic) >= began + 20_000_000 }
                #expect(loop.sleepTime - slept >= .milliseconds(19))
                #expect(loop.runTime - ran < .milliseconds(1))
                loop.stop()
            }
            #expect(loop.runPlenty() == .stopped)
            reader.join()
        }
    }

    @Test func `runTime grows while the loop's thread computes, and neither time grows after its end`() throws {
        let ended = Locked<RunLoop?>(nil)
        let thread = TestThread {
            let loop = RunLoop.current
            while loop.runTime < .milliseconds(2) {}
            ended.withLock { $0 = loop }
        }
        thread.join()
        let loop = try #require(ended.copy)
        waitUntil { loop.isEnded }
        let times = (loop.runTime, loop.sleepTime)
        #expect(times.0 >= .milliseconds(2))
        usleep(2000)
        #expect(loop.runTime == times.0 && loop.sleepTime == times.1)
    }

    @Test(arguments: [false, true]) func `A source signalled by another thread is performed after a wake-up`(
        hasDescriptor: Bool
    ) {
        withRealLoop { loop in
            let pipe = prepare(loop, hasDescriptor)
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

    @Test(arguments: [false, true]) func `A block posted with a wake-up by another thread runs on the loop's thread`(
        hasDescriptor: Bool
    ) {
        withRealLoop { loop in
            let pipe = prepare(loop, hasDescriptor)
            let thread = SystemCalls.threadID
            let ran = Locked(0)
            let poster = TestThread {
                for round in 0..<100 {
                    waitUntil { ran.count == round }
                    loop.perform {
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

    @Test func `All signals of many threads are served while the loop repeatedly falls asleep`() {
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
                    if left.count == 0 { loop.stopWhenRunning() }
                }
            }
            #expect(loop.runPlenty() == .stopped)
            for signaller in signallers { signaller.join() }
            #expect(served.withLock { $0 } == [rounds, rounds, rounds])
        }
    }

    @Test(arguments: [false, true]) func `An earlier timer added to a sleeping loop fires without an extra turn`(
        hasDescriptor: Bool
    ) {
        withRealLoop { loop in
            let pipe = prepare(loop, hasDescriptor)
            loop.add(RunLoop.Timer(.after(.seconds(3600))) { _ in }, in: .default)
            let turns = Locked(0)
            loop.add(RunLoop.Observer(.beforeTimers) { _, _ in turns.increment() }, in: .default)
            let adder = TestThread {
                waitUntil { loop.isWaiting }
                let timer = RunLoop.Timer.sendable(.after(.milliseconds(20))) { timer in
                    #expect(timer.deadline <= .now)
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

    @Test(arguments: [false, true]) func `A timer set to an earlier date by another thread fires without an extra turn`(
        hasDescriptor: Bool
    ) {
        withRealLoop { loop in
            let pipe = prepare(loop, hasDescriptor)
            let turns = Locked(0)
            loop.add(RunLoop.Observer(.beforeTimers) { _, _ in turns.increment() }, in: .default)
            let timer = RunLoop.Timer.sendable(.after(.seconds(3600))) { timer in
                #expect(timer.deadline <= .now)
                RunLoop.current.stop()
            }
            loop.add(timer, in: .default)
            let mover = TestThread {
                waitUntil { loop.isWaiting }
                timer.deadline = .now.advanced(by: .milliseconds(20))
            }
            #expect(loop.runPlenty() == .stopped)
            mover.join()
            #expect(turns.count == 1)
            withExtendedLifetime(pipe) {}
        }
    }

    @Test func `A tolerance set to zero by another thread shortens the sleep`() {
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

    @Test func `Items added and removed by many threads while the loop runs are all released`() {
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
                            let descriptorSource = RunLoop.DescriptorSource.sendable(pipe.second, for: .writable) {
                                _, _ in
                                withExtendedLifetime(token) {}
                            }
                            loop.add(timer, in: .common)
                            loop.add(source, in: .default)
                            loop.add(observer, in: .default)
                            addDescriptorSource(descriptorSource, to: loop)
                            source.signal()
                            loop.wakeUp()
                            if random.oneIn(2) { loop.remove(timer, from: .common) } else { timer.invalidate() }
                            if random.oneIn(2) { loop.remove(source, from: .default) } else { source.invalidate() }
                            if random.oneIn(2) { loop.remove(observer, from: .default) } else { observer.invalidate() }
                            if random.oneIn(2) {
                                loop.remove(descriptorSource, from: .default)
                            } else {
                                descriptorSource.invalidate()
                            }
                        }
                        left.withLock { $0 -= 1 }
                        if left.count == 0 { loop.stopWhenRunning() }
                    }
                }
                #expect(loop.runPlenty() == .stopped)
                for thread in threads { thread.join() }
            }
            loop.runTurn()
            #expect(witness.isGone)
        }
    }

    @Test func `Another thread may read the description while the loop runs`() {
        withRealLoop { loop in
            loop.add(RunLoop.Timer(.every(.microseconds(100)), label: "busy") { _ in }, in: .default)
            loop.add(RunLoop.Observer(.all, label: "watch") { _, _ in }, in: .default)
            let reader = TestThread {
                for _ in 0..<200 {
                    let text = loop.detailedDescription()
                    expectTrue(text.contains("RunLoop.Timer busy"), text)
                    _ = (loop.description, loop.modes, loop.currentMode, loop.nextTimerDeadline(in: .default))
                }
                loop.stopWhenRunning()
            }
            #expect(loop.runPlenty() == .stopped)
            reader.join()
        }
    }

    // MARK: Timers that leave

    @Test(arguments: [false, true]) func `A timer removed while the loop sleeps causes no turn at its old date`(
        hasDescriptor: Bool
    ) {
        withRealLoop { loop in
            let pipe = prepare(loop, hasDescriptor)
            let turns = Locked(0)
            loop.add(RunLoop.Observer(.beforeTimers) { _, _ in turns.increment() }, in: .default)
            let timer = RunLoop.Timer.sendable(.after(.milliseconds(50))) { _ in }
            loop.add(timer, in: .default)
            let gone = Locked(false)
            let thief = TestThread {
                waitUntil { loop.isWaiting }
                timer.invalidate()
                gone.withLock { $0 = turns.count == 1 }
            }
            #expect(loop.run(in: .default, for: .milliseconds(100)) == .timedOut)
            thief.join()
            // On a machine so busy that the timer has fired before there is nothing to see.
            if gone.copy { #expect(turns.count == 1) }
            withExtendedLifetime(pipe) {}
        }
    }

    @Test func `A repeating timer whose callout moves it to another thread's loop fires there`() {
        let other = Locked<RunLoop?>(nil)
        let (isReady, mayEnd) = (Permit(), Permit())
        let host = TestThread {
            RunLoop.current.addSource()
            other.withLock { $0 = RunLoop.current }
            isReady.signal()
            #expect(RunLoop.current.runPlenty() == .stopped)
            mayEnd.wait()
        }
        isReady.wait()
        guard let second = other.copy else { preconditionFailure("the other thread has left its loop") }
        withRealLoop { first in
            let turns = Locked(0)
            first.addSource()
            first.add(RunLoop.Observer(.beforeTimers) { _, _ in turns.increment() }, in: .default)
            let fires = Locked<[(thread: Int32, date: Int64)]>([])
            let timer = RunLoop.Timer.sendable(.every(.milliseconds(5))) { timer in
                let date = timer.deadline.nanoseconds
                fires.withLock { $0.append((SystemCalls.threadID, date)) }
                switch fires.copy.count {
                case 1:
                    first.remove(timer, from: .default)
                    second.add(timer, in: .default)
                case 6:
                    timer.invalidate()
                    second.stop()
                    first.stop()
                default: break
                }
            }
            first.add(timer, in: .default)
            #expect(first.runPlenty() == .stopped)
            let all = fires.copy
            #expect(all.map(\.thread) == [first.threadID] + Array(repeating: second.threadID, count: 5))
            for (one, next) in zip(all, all.dropFirst()) {
                #expect(next.date > one.date)
                #expect((next.date - one.date) % 5_000_000 == 0)
            }
            // The turn of the timer, and the turn that has slept until the stop.
            #expect(turns.count == 2)
            #expect(!first.contains(timer, in: .default))
            #expect(first.nextTimerDeadline(in: .default) == nil)
        }
        mayEnd.signal()
        host.join()
    }

    // MARK: Invalid items

    enum ItemKind: CaseIterable {
        case source, descriptor, timer, observer

        func make(_ pipe: DescriptorPair) -> RunLoop.Item {
            switch self {
            case .source: RunLoop.Source.sendable { _ in }
            case .descriptor: RunLoop.DescriptorSource.sendable(pipe.first) { _, _ in }
            case .timer: RunLoop.Timer.sendable(.every(.seconds(3600))) { _ in }
            case .observer: RunLoop.Observer.sendable(.all) { _, _ in }
            }
        }
    }

    /// An item on its way from one thread to another, by its number.
    // Unchecked: the numbers hand the item over.
    private final class Handover: @unchecked Sendable {
        private var item: RunLoop.Item?
        private let given = Atomic<Int>(0)
        private let done = Atomic<Int>(0)

        func give(_ item: RunLoop.Item, _ round: Int) {
            self.item = item
            given.store(round, ordering: .releasing)
        }

        func take(_ round: Int) -> RunLoop.Item? {
            while given.load(ordering: .acquiring) < round { sched_yield() }
            return item
        }

        func finish(_ round: Int) { done.store(round, ordering: .releasing) }
        func waitForEnd(of round: Int) { while done.load(ordering: .acquiring) < round { sched_yield() } }
    }

    @Test(arguments: ItemKind.allCases, [RunLoop.Mode.default, .common])
    func `An item invalidated while another thread adds it ends up in no mode`(
        kind: ItemKind, mode: RunLoop.Mode
    ) {
        withRealLoop { loop in
            let rounds = isThorough && !Sanitizer.isAny ? 20_000 : 2000
            let pipe = DescriptorPair.pipe()
            let handover = Handover()
            let invalidator = TestThread {
                for round in 1...rounds {
                    let item = handover.take(round)
                    // Each round another distance between the two.
                    for _ in 0..<(round % 37) { _ = item?.isValid }
                    item?.invalidate()
                    handover.finish(round)
                }
            }
            var left = 0
            for round in 1...rounds {
                let item = kind.make(pipe)
                handover.give(item, round)
                for _ in 0..<(round / 37 % 37) { _ = item.isValid }
                if let descriptorSource = item as? RunLoop.DescriptorSource {
                    addDescriptorSource(descriptorSource, to: loop, in: mode)
                } else {
                    loop.addAny(item, in: mode)
                }
                handover.waitForEnd(of: round)
                if loop.contains(item, in: .default) || loop.contains(item, in: .common) { left += 1 }
            }
            invalidator.join()
            #expect(left == 0)
            #expect(loop.isEmpty(in: .default))
        }
    }
}
