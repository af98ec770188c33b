// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport
import Synchronization
import Testing

// The loop that the handler wakes: a handler can capture nothing.
nonisolated(unsafe) private var wokenLoop: RunLoop?
private let handled = Atomic<Int>(0)

/// `wakeUp()` is safe in a signal handler, whatever the thread is in the middle of.
@Suite(.ownThread, .serialized) struct SignalHandlerTests {
    /// The signal interrupts the loop's own thread at any place: in the turn, on the way to sleep, in the allocator, with
    /// the loop's lock held.
    @Test
    func `A signal handler may call wakeUp at any time without waiting or losing the wake-up`() {
        var old = sigaction()
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in
            wokenLoop?.wakeUp()
            handled.add(1, ordering: .sequentiallyConsistent)
        }
        sigaction(SIGXFSZ, &action, &old)
        defer { sigaction(SIGXFSZ, &old, nil) }
        let isOver = Locked(false)
        let turns = Locked(0)
        let thread = TestThread {
            let loop = RunLoop.current
            wokenLoop = loop
            loop.addSource()
            let observer = RunLoop.Observer(.beforeTimers) { _, _ in
                turns.increment()
                // Work that allocates and takes the loop's lock.
                loop.performLocally { _ = [Int](repeating: 1, count: 100) }
                loop.add(RunLoop.Timer(.after(.microseconds(10))) { _ in }, in: .default)
                if isOver.withLock({ $0 }) { loop.stop() }
            }
            loop.add(observer, in: .default)
            #expect(loop.runPlenty() == .stopped)
        }
        waitUntil { turns.count > 0 }
        let signals = isFull ? 200_000 : 10_000
        handled.store(0, ordering: .sequentiallyConsistent)
        for _ in 0..<signals { thread.signal(SIGXFSZ) }
        // Signals collapse, but the last one is handled, and the turn that it asks for comes.
        waitUntil { handled.load(ordering: .sequentiallyConsistent) > 0 }
        let seen = turns.count
        thread.signal(SIGXFSZ)
        waitUntil { turns.count > seen }
        isOver.withLock { $0 = true }
        thread.signal(SIGXFSZ)
        thread.join()
        wokenLoop = nil
    }

    /// The loop sleeps with nothing to wait for: only the handler of another thread's signal ends the sleep.
    @Test func `A wakeUp in a signal handler on another thread ends the sleep`() {
        var old = sigaction()
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in wokenLoop?.wakeUp() }
        sigaction(SIGXFSZ, &action, &old)
        defer { sigaction(SIGXFSZ, &old, nil) }
        let turns = Locked(0)
        let thread = TestThread {
            wokenLoop = RunLoop.current
            RunLoop.current.addSource()
            RunLoop.current.add(RunLoop.Observer(.beforeWaiting) { _, _ in turns.increment() }, in: .default)
            #expect(RunLoop.current.runPlenty() == .stopped)
        }
        // A worker of Dispatch, which the test runs on, blocks all signals.
        let signaller = TestThread {
            for round in 1...(isFull ? 2000 : 200) {
                waitUntil { turns.count >= round && wokenLoop?.isWaiting == true }
                pthread_kill(pthread_self(), SIGXFSZ)
            }
        }
        signaller.join()
        wokenLoop?.stop()
        thread.join()
        wokenLoop = nil
    }
}
