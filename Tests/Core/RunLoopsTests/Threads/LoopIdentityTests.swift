// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

/// Specification 1: loops and threads.
@Suite(.ownThread) struct LoopIdentityTests {
    @Test func `RunLoop.current is the same loop for the whole thread`() {
        TestThread.run {
            let loop = RunLoop.current
            #expect(RunLoop.current === loop)
            #expect(loop.description == "<RunLoop of thread \(SystemCalls.threadID)>{not running}")
        }
    }

    @Test func `Two threads have different loops`() {
        let first = TestThread.run { RunLoop.current }
        let second = TestThread.run { RunLoop.current }
        #expect(first !== second)
    }

    @Test func `RunLoop.main is the same on every thread and differs from other threads' loops`() {
        let loops = (0..<3).map { _ in TestThread.run { (RunLoop.main, RunLoop.current) } }
        for (main, current) in loops {
            #expect(main === RunLoop.main)
            #expect(main !== current)
        }
        #expect(RunLoop.main.description.hasPrefix("<RunLoop of main thread \(getpid())>"))
    }

    @Test func `A loop that is never run calls nothing`() {
        TestThread.run {
            RunLoop.current.add(RunLoop.Timer(.after(.zero)) { _ in Issue.record("fired") }, in: .default)
            RunLoop.current.performLocally { Issue.record("ran") }
            usleep(1000)
        }
    }

    @Test func `The end of a thread cancels sources and releases items, closures and blocks`() {
        let told = Locked<[String]>()
        let witnesses = (0..<7).map { _ in Witness() }
        let ran = Locked(0)
        let thread = Locked<Int32>(0)
        let ended = TestThread.run { () -> RunLoop in
            let loop = RunLoop.current
            thread.withLock { $0 = SystemCalls.threadID }
            func hold(_ index: Int) -> Token { witnesses[index].makeToken() }
            let (a, b, c, d, e, f) = (hold(0), hold(1), hold(2), hold(3), hold(4), hold(5))
            let source = RunLoop.Source(
                schedule: { _, mode in told.note("+\(mode)") },
                cancel: { cancelled, mode in
                    told.note("-\(mode) \(cancelled === loop) \(SystemCalls.threadID == thread.withLock { $0 })")
                }
            ) { _ in withExtendedLifetime(a) {} }
            loop.add(source, in: "private")
            loop.markCommon("marked")
            loop.add(source, in: .common)
            witnesses[6].watch(source)
            loop.add(RunLoop.Timer(.after(.seconds(9))) { _ in withExtendedLifetime(b) {} }, in: .common)
            loop.add(
                RunLoop.Timer(.every(.seconds(9)), tolerance: .seconds(1)) { _ in withExtendedLifetime(c) {} },
                in: "private")
            loop.add(RunLoop.Observer(.all) { _, _ in withExtendedLifetime(d) {} }, in: .default)
            let pipe = DescriptorPair.pipe()
            addDescriptorSource(RunLoop.DescriptorSource(pipe.first) { _, _ in withExtendedLifetime(e) {} }, to: loop)
            loop.performLocally {
                withExtendedLifetime(f) {}
                ran.increment()
            }
            return loop
        }
        #expect(witnesses.map(\.isGone) == Array(repeating: true, count: 7))
        #expect(ran.count == 0)
        #expect(
            told.lines.sorted()
                == [
                    "+kCFRunLoopDefaultMode", "+marked", "+private",
                    "-kCFRunLoopDefaultMode true true", "-marked true true", "-private true true",
                ].sorted())
        withExtendedLifetime(ended) {}
    }

    @Test func `Calls on the loop of an ended thread do nothing`() {
        let ended = TestThread.run { RunLoop.current }
        let witness = Witness()
        do {
            let token = witness.makeToken()
            let source = RunLoop.Source.sendable { _ in withExtendedLifetime(token) {} }
            let timer = RunLoop.Timer.sendable(.every(.seconds(1))) { _ in withExtendedLifetime(token) {} }
            let observer = RunLoop.Observer.sendable(.all) { _, _ in withExtendedLifetime(token) {} }
            let pipe = DescriptorPair.pipe()
            let descriptorSource = RunLoop.DescriptorSource.sendable(pipe.first) { _, _ in
                withExtendedLifetime(token) {}
            }
            for item in [source, timer, observer] {
                ended.addAny(item, in: .default)
                ended.addAny(item, in: .common)
                #expect(!ended.contains(item, in: .default))
                #expect(!ended.contains(item, in: .common))
                ended.remove(item, from: .default)
            }
            addDescriptorSource(descriptorSource, to: ended)
            #expect(!ended.contains(descriptorSource, in: .default))
            ended.perform { withExtendedLifetime(token) {} }
            ended.perform(in: [.default, "new"]) { withExtendedLifetime(token) {} }
            ended.markCommon("marked")
            ended.wakeUp()
            ended.stop()
            #expect(ended.currentMode == nil)
            #expect(!ended.isWaiting)
            #expect(ended.nextTimerDeadline(in: .default) == nil)
            #expect(!ended.detailedDescription().isEmpty)
            timer.deadline = .now
            timer.tolerance = .seconds(1)
            source.signal()
            for item in [source, timer, observer, descriptorSource] { item.invalidate() }
        }
        #expect(witness.isGone)
    }

    @Test func `A timer of an ended thread can be added to another loop`() {
        let timer = RunLoop.Timer.sendable(.after(.zero)) { _ in RunLoop.current.stop() }
        TestThread.run { RunLoop.current.add(timer, in: .default) }
        #expect(timer.isValid)
        withRealLoop { loop in
            loop.addSource()
            loop.add(timer, in: .default)
            #expect(loop.contains(timer, in: .default))
            #expect(loop.runPlenty() == .stopped)
        }
    }

    // Such a loop goes in the last round of the thread's destructors, when the sanitizer has given the thread up.
    @Test(.disabled(if: Sanitizer.isThread)) func `A loop made while its thread ends is torn down`() {
        let witness = Witness()
        TestThread.run {
            // A destructor of the thread that uses its loop, made before the loop has one.
            var key = pthread_key_t()
            pthread_key_create(&key) { pointer in
                guard let pointer else { return }
                let witness = Unmanaged<Witness>.fromOpaque(pointer).takeRetainedValue()
                let token = witness.makeToken()
                RunLoop.current.add(
                    RunLoop.Timer(.after(.seconds(1))) { _ in withExtendedLifetime(token) {} }, in: .default)
            }
            pthread_setspecific(key, Unmanaged.passRetained(witness).toOpaque())
        }
        #expect(witness.isGone)
    }

    /// What makes a loop in a round of a thread's destructors.
    private final class LateMaker {
        let key: pthread_key_t
        var roundsLeft: Int
        let witness: Witness

        init(_ key: pthread_key_t, _ round: Int, _ witness: Witness) {
            (self.key, roundsLeft, self.witness) = (key, round, witness)
        }

        func makeLoop() {
            let token = witness.makeToken()
            RunLoop.current.add(
                RunLoop.Timer(.after(.seconds(1))) { _ in withExtendedLifetime(token) {} }, in: .default)
        }
    }

    @Test(.disabled(if: Sanitizer.isThread), arguments: 1...3, [false, true])
    func `A loop made in one of the first three rounds of a thread's destructors is torn down`(
        round: Int, hadLoop: Bool
    ) {
        let witness = Witness()
        TestThread.run {
            if hadLoop { _ = RunLoop.current }
            var key = pthread_key_t()
            pthread_key_create(&key) { pointer in
                guard let pointer else { return }
                let maker = Unmanaged<LateMaker>.fromOpaque(pointer)
                let roundsLeft = maker.takeUnretainedValue().roundsLeft - 1
                maker.takeUnretainedValue().roundsLeft = roundsLeft
                if roundsLeft > 0 {
                    pthread_setspecific(maker.takeUnretainedValue().key, pointer)
                } else {
                    maker.takeRetainedValue().makeLoop()
                }
            }
            pthread_setspecific(key, Unmanaged.passRetained(LateMaker(key, round, witness)).toOpaque())
        }
        #expect(witness.isGone)
    }

    @Test func `Many threads may add items to one loop`() {
        withRealLoop { loop in
            loop.addSource()
            let fired = Locked(0)
            let threads = (0..<4).map { number in
                TestThread {
                    loop.add(
                        RunLoop.Timer.sendable(.after(.milliseconds(number))) { _ in
                            fired.increment()
                            if fired.count == 4 { RunLoop.current.stop() }
                        }, in: .default)
                }
            }
            #expect(loop.runPlenty() == .stopped)
            for thread in threads { thread.join() }
        }
    }
}
