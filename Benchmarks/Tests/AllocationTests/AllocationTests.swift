// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import AllocationCounting
import Glibc
import RunLoops
import Synchronization
import Testing

/// What operations cost in allocations, once the loop has what it keeps: counts do not wobble.
///
/// Without optimisation closures that never leave a call are allocated like others, so that only a release build tells.
/// They are here, and not beside the other tests, because this package is built for release anyway.
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
        onLoop { loop in
            let meter = Meter()
            let source = RunLoop.Source { source in if meter.tick() { source.signal() } else { loop.stop() } }
            loop.add(source, in: .default)
            source.signal()
            #expect(loop.run(in: .default, for: .seconds(30)) == .stopped)
            #expect(meter.allocations == 0)
        }
    }

    @Test func `A turn with observers of every activity allocates nothing`() {
        onLoop { loop in
            let meter = Meter()
            for order in 0..<3 { loop.add(RunLoop.Observer(.all, order: order) { _, _ in }, in: .default) }
            loop.add(
                RunLoop.Observer(.beforeWaiting) { _, _ in if meter.tick() { loop.wakeUp() } else { loop.stop() } },
                in: .default)
            loop.add(RunLoop.Source { _ in }, in: .default)
            #expect(loop.run(in: .default, for: .seconds(30)) == .stopped)
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
        onLoop { loop in
            loop.add(RunLoop.Source { _ in }, in: .default)
            let reposter = Reposter(loop)
            reposter.post()
            loop.add(RunLoop.Timer(.every(.nanoseconds(1))) { _ in }, in: .default)
            #expect(loop.run(in: .default, for: .seconds(30)) == .stopped)
            #expect(reposter.meter.allocations == 0)
        }
    }

    @Test func `A post on the main actor allocates nothing but what its closure does`() {
        final class Posted: Sendable {
            func post() { RunLoop.performOnMainActor(wake: false) { self.isPosted() } }
            @MainActor func isPosted() {}
        }
        // Nobody runs the main loop here.
        let posted = Posted()
        for _ in 0..<10 { posted.post() }
        let before = allocations_of_this_thread()
        for _ in 0..<1000 { posted.post() }
        // The row of memory grows a few times.
        #expect(allocations_of_this_thread() - before <= 20)
    }

    @Test func `Posts of another thread allocate nothing on the loop's`() {
        onLoop { loop in
            loop.add(RunLoop.Source { _ in }, in: .default)
            let meter = Meter()
            // Only the loop's thread uses it.
            nonisolated(unsafe) let unshared = meter
            let isOver = Flag()
            let poster = Thread {
                while !isOver.isSet.load(ordering: .relaxed) {
                    loop.perform {
                        if !unshared.tick() {
                            isOver.isSet.store(true, ordering: .relaxed)
                            loop.stop()
                        }
                    }
                    sched_yield()
                }
            }
            #expect(loop.run(in: .default, for: .seconds(30)) == .stopped)
            poster.join()
            // The row of memory may still have grown once or twice.
            #expect((meter.allocations ?? .max) <= 8)
        }
    }

    @Test func `A repeating timer that fires allocates nothing`() {
        onLoop { loop in
            let meter = Meter()
            loop.add(
                RunLoop.Timer(.every(.microseconds(1))) { _ in if !meter.tick() { loop.stop() } }, in: .default)
            #expect(loop.run(in: .default, for: .seconds(30)) == .stopped)
            #expect(meter.allocations == 0)
        }
    }

    @Test func `A timer that is put off allocates nothing`() {
        onLoop { loop in
            let timer = RunLoop.Timer(.after(.seconds(3600))) { _ in }
            loop.add(timer, in: .default)
            let instant = timer.deadline
            let before = allocations_of_this_thread()
            for step in 1...100 { timer.deadline = instant.advanced(by: .seconds(step)) }
            #expect(allocations_of_this_thread() - before == 0)
        }
    }

    @Test func `A timer that is made added and made invalid allocates itself and its closure`() {
        onLoop { loop in
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
        onLoop { loop in
            var ends: [CInt] = [-1, -1]
            #expect(pipe(&ends) == 0)
            let (first, second) = (ends[0], ends[1])
            let meter = Meter()
            let source = RunLoop.DescriptorSource(first) { _, _ in
                var byte: UInt8 = 0
                _ = Glibc.read(first, &byte, 1)
                if meter.tick() { _ = Glibc.write(second, &byte, 1) } else { loop.stop() }
            }
            #expect(throws: Never.self) { try loop.add(source, in: .default) }
            _ = Glibc.write(second, [1], 1)
            #expect(loop.run(in: .default, for: .seconds(30)) == .stopped)
            #expect(meter.allocations == 0)
            source.invalidate()
            _ = close(first)
            _ = close(second)
        }
    }
}

/// Runs `body` with the loop of a thread of its own.
private func onLoop(_ body: @escaping @Sendable (RunLoop) -> Void) {
    Thread { body(.current) }.join()
}

private final class Flag: Sendable {
    let isSet = Atomic(false)
}

private final class Thread {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    private var handle = pthread_t()

    init(_ run: @escaping @Sendable () -> Void) {
        let argument = Unmanaged.passRetained(Body(run)).toOpaque()
        let result = pthread_create(
            &handle, nil,
            { argument in
                // SAFETY: given away above.
                if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, argument)
        precondition(result == 0, "no thread")
    }

    func join() { pthread_join(handle, nil) }
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
