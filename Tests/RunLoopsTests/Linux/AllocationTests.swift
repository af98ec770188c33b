// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import AllocationCounting
import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

/// What operations cost in allocations, once the loop has what it keeps: counts do not wobble.
///
/// Without optimisation closures that never leave a call are allocated like others, so that only a release build tells.
@Suite(.enabled(if: allocations_are_counted() && isOptimised), .timeLimit(.minutes(10))) struct AllocationTests {
    /// A callback that counts the allocations of its thread from one call to another.
    private final class Meter {
        private let warmUp: Int
        private let rounds: Int
        private var calls = 0
        private var began: Int64 = 0
        private(set) var allocations: Int64?

        init(warmUp: Int = 200, rounds: Int = 500) {
            self.warmUp = warmUp
            self.rounds = rounds
        }

        /// Whether to go on.
        func tick() -> Bool {
            calls += 1
            if calls == warmUp { began = allocations_of_this_thread() }
            if calls < warmUp + rounds { return true }
            allocations = allocations_of_this_thread() - began
            return false
        }
    }

    @Test func `A turn with a signalled source allocates nothing`() {
        withRealLoop { loop in
            let meter = Meter()
            let source = RunLoop.Source { source in if meter.tick() { source.signal() } else { loop.stop() } }
            loop.add(source, in: .default)
            source.signal()
            #expect(loop.runPlenty() == .stopped)
            #expect(meter.allocations == 0)
        }
    }

    @Test func `A turn with observers of every activity allocates nothing`() {
        withRealLoop { loop in
            let meter = Meter()
            for order in 0..<3 { loop.add(RunLoop.Observer(.all, order: order) { _, _ in }, in: .default) }
            loop.add(
                RunLoop.Observer(.beforeWaiting) { _, _ in if meter.tick() { loop.wakeUp() } else { loop.stop() } },
                in: .default)
            loop.addSource()
            #expect(loop.runPlenty() == .stopped)
            #expect(meter.allocations == 0)
        }
    }

    /// Posts itself again and again; the closure is a method of an object, which has nothing to allocate.
    private final class Reposter {
        let meter = Meter()
        let loop: RunLoop
        init(_ loop: RunLoop) { self.loop = loop }

        func post() { loop.performLocally { self.run() } }
        func run() { if meter.tick() { post() } else { loop.stop() } }
    }

    @Test func `A post allocates nothing but what its closure does`() {
        withRealLoop { loop in
            loop.addSource()
            let reposter = Reposter(loop)
            reposter.post()
            loop.add(RunLoop.Timer(.every(.nanoseconds(1))) { _ in }, in: .default)
            #expect(loop.runPlenty() == .stopped)
            #expect(reposter.meter.allocations == 0)
        }
    }

    @Test func `Posts of another thread allocate nothing on the loop's`() {
        withRealLoop { loop in
            loop.addSource()
            let meter = Meter()
            // Only the loop's thread uses it.
            nonisolated(unsafe) let unshared = meter
            let isOver = Locked(0)
            let poster = TestThread {
                while isOver.count == 0 {
                    loop.perform {
                        if !unshared.tick() {
                            isOver.increment()
                            loop.stop()
                        }
                    }
                    sched_yield()
                }
            }
            #expect(loop.runPlenty() == .stopped)
            poster.join()
            // The row of memory may still have grown once or twice.
            #expect((meter.allocations ?? .max) <= 8)
        }
    }

    @Test func `A repeating timer that fires allocates nothing`() {
        withRealLoop { loop in
            let meter = Meter()
            loop.add(
                RunLoop.Timer(.every(.microseconds(1))) { _ in if !meter.tick() { loop.stop() } }, in: .default)
            #expect(loop.runPlenty() == .stopped)
            #expect(meter.allocations == 0)
        }
    }

    @Test func `A timer that is put off allocates nothing`() {
        withRealLoop { loop in
            let timer = RunLoop.Timer(.after(.seconds(3600))) { _ in }
            loop.add(timer, in: .default)
            let instant = timer.fireInstant
            let before = allocations_of_this_thread()
            for step in 1...100 { timer.fireInstant = instant.advanced(by: .seconds(step)) }
            #expect(allocations_of_this_thread() - before == 0)
        }
    }

    @Test func `A timer that is made added and made invalid allocates itself and its closure`() {
        withRealLoop { loop in
            var fired = 0
            func churn() {
                let timer = RunLoop.Timer(.after(.seconds(3600))) { _ in fired += 1 }
                loop.add(timer, in: .default)
                timer.invalidate()
            }
            for _ in 0..<20 { churn() }
            let before = allocations_of_this_thread()
            for _ in 0..<100 { churn() }
            // The object and the closure's context, which holds a variable.
            #expect(allocations_of_this_thread() - before <= 200)
            #expect(fired == 0)
        }
    }

    @Test func `An event of a descriptor allocates nothing`() {
        withRealLoop { loop in
            let pipe = DescriptorPair.pipe()
            let meter = Meter()
            addDescriptorSource(
                RunLoop.DescriptorSource(pipe.first) { _, _ in
                    if meter.tick() { pass(pipe) } else { loop.stop() }
                }, to: loop)
            pass(pipe, reads: false)
            #expect(loop.runPlenty() == .stopped)
            #expect(meter.allocations == 0)
        }
    }

    private func pass(_ pipe: DescriptorPair, reads: Bool = true) {
        var byte: UInt8 = 1
        if reads { _ = Glibc.read(pipe.first, &byte, 1) }
        _ = Glibc.write(pipe.second, &byte, 1)
    }
}

/// Whether this is a release build, in which `assert` is not evaluated.
private let isOptimised: Bool = {
    var isDebug = false
    assert(
        {
            isDebug = true
            return true
        }())
    return !isDebug
}()
