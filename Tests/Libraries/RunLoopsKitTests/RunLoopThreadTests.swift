// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsKit
import RunLoopsTestSupport
import Testing

/// A thread that its loop keeps alive: starting, posting, stopping from everywhere.
@Suite(.ownThread) struct RunLoopThreadTests {
    @Test func `Tasks run in the order in which they were posted`() {
        let thread = makeThread("ordered")
        let numbers = Locked<[Int]>([])
        for number in 0..<1000 { thread.post { numbers.withLock { $0.append(number) } } }
        thread.stop()
        thread.join()
        #expect(numbers.withLock { $0 } == Array(0..<1000))
    }

    @Test func `A draining stop runs posted tasks and a dropping stop releases them`() {
        for (ending, expected) in [(RunLoopThread.Ending.draining, 3), (.dropping, 0)] {
            let thread = makeThread("ending")
            let (busy, proceed) = (Permit(), Permit())
            let (ran, released) = (Locked(0), Locked(0))
            thread.post {
                busy.signal()
                proceed.wait()
            }
            busy.wait()
            for _ in 0..<3 {
                let token = Token { released.increment() }
                thread.post { withExtendedLifetime(token) { ran.increment() } }
            }
            thread.stop(ending)
            #expect(!thread.post { ran.increment() })
            proceed.signal()
            thread.join()
            #expect(ran.count == expected)
            #expect(released.count == 3)
        }
    }

    @Test func `A second stop can change draining to dropping, but not dropping to draining`() {
        let thread = makeThread("twice")
        let (busy, proceed) = (Permit(), Permit())
        let ran = Locked(0)
        thread.post {
            busy.signal()
            proceed.wait()
        }
        busy.wait()
        thread.post { ran.increment() }
        thread.stop(.draining)
        thread.stop(.dropping)
        thread.stop(.draining)
        proceed.signal()
        thread.join()
        thread.join()
        #expect(ran.count == 0)
    }

    @Test func `A thread may be stopped and released by its own task`() {
        let thread = makeThread("own")
        thread.post { thread.stop() }
        thread.join()
        #expect(!thread.post {})

        let ended = Permit()
        let witness = Witness()
        var other: RunLoopThread? = makeThread("dropped")
        if let other { witness.watch(other) }
        let holder = Locked(other)
        let loop = other?.loop
        other?.post {
            holder.withLock { $0 = nil }
            // Released with the loop, at the end of the thread.
            let token = Token { ended.signal() }
            RunLoop.current.add(RunLoop.Source { _ in withExtendedLifetime(token) {} }, in: .default)
        }
        other = nil
        ended.wait()
        #expect(witness.isGone)
        #expect(loop?.isEnded == true)
    }

    @Test func `Releasing a thread ends it after its posted tasks`() {
        let ended = Permit()
        let ran = Locked(0)
        do {
            let thread = makeThread("released")
            let token = Token { ended.signal() }
            thread.post { RunLoop.current.add(RunLoop.Source { _ in withExtendedLifetime(token) {} }, in: .default) }
            thread.post { ran.increment() }
        }
        ended.wait()
        #expect(ran.count == 1)
    }

    @Test func `RunLoopThread.stop ends a nested run and RunLoop.stop does not end the thread`() throws {
        let thread = makeThread("nested")
        thread.post { RunLoop.current.stop() }
        #expect(try thread.performAndWait { 1 } == 1)
        let inside = Permit()
        let left = Locked(0)
        thread.post {
            inside.signal()
            RunLoop.current.run()
            left.increment()
        }
        inside.wait()
        thread.stop()
        thread.join()
        #expect(left.count == 1)
    }

    @Test func `Tasks posted while the thread stops are run or refused`() {
        for round in 0..<50 {
            let thread = makeThread("racing")
            let (ran, taken) = (Locked(0), Locked(0))
            let posters = (0..<2).map { makeThread("poster \($0)") }
            for poster in posters {
                poster.post { for _ in 0..<200 where thread.post({ ran.increment() }) { taken.increment() } }
            }
            for _ in 0..<round * 20 { _ = SystemCalls.now(.monotonic) }
            thread.stop()
            thread.join()
            for poster in posters { poster.stop() }
            for poster in posters { poster.join() }
            #expect(ran.count == taken.count)
        }
    }

    @Test func `A thread has the attributes it was created with`() throws {
        let thread = try RunLoopThread(
            RunLoopThread.Attributes(
                name: "eine längere Bezeichnung", stackSize: 1 << 20, nice: 7, schedulingClass: .batch, processors: [0])
        )
        let (found, asked) = (Locked<[Int]>([]), Permit())
        // Not waited on, which would lend it this thread's.
        thread.post {
            let here = [
                Int(rl_thread_stack_size()), 20 - Int(rl_thread_nice()), Int(Self.schedule.policy),
                Int(rl_thread_processor_count()),
            ]
            found.withLock { $0 = here }
            asked.signal()
        }
        asked.wait()
        #expect(found.copy == [1 << 20, 7, Int(Self.batch), 1])
        let waiting = makeThread("asking")
        let busy = Permit()
        thread.post { busy.wait() }
        defer { busy.signal() }
        // The kernel's name, cut between two characters.
        let error: RunLoop.PerformError? = try waiting.performAndWait {
            do {
                try thread.loop.performAndWait(startingWithin: .zero) {}
                return nil
            } catch { return error as? RunLoop.PerformError }
        }
        guard case .notStarted(_, let on, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(on.name == "eine längere B")
    }

    /// `SCHED_BATCH` and `SCHED_RESET_ON_FORK`, which Glibc's module does not name.
    private static let (batch, resetOnFork): (CInt, CInt) = (3, 0x4000_0000)

    /// The scheduling of the calling thread.
    private static var schedule: rl_schedule {
        var schedule = rl_schedule()
        #expect(rl_schedule_read(0, &schedule) == 0)
        return schedule
    }

    @Test func `The class of a thread is read apart from the mark that its children do not inherit it`() {
        TestThread.run {
            var parameters = sched_param()
            #expect(sched_setscheduler(0, Self.batch | Self.resetOnFork, &parameters) == 0)
            #expect(Self.schedule.policy == Self.batch)
            #expect(Self.schedule.resets)
        }
    }

    @Test func `A refused attribute throws and starts no thread`() {
        let refusals: [(RunLoopThread.Attributes, String, CInt)] = [
            (RunLoopThread.Attributes(name: "stack", stackSize: 1), "pthread_create", EINVAL),
            (RunLoopThread.Attributes(name: "processors", processors: [1000]), "sched_setaffinity", EINVAL),
            (
                RunLoopThread.Attributes(name: "priority", schedulingClass: .firstInFirstOut(priority: 1000)),
                "sched_setscheduler", EINVAL
            ),
        ]
        for (attributes, call, code) in refusals {
            #expect(throws: RunLoop.SystemCallError(call: call, code: code)) { try RunLoopThread(attributes) }
        }
    }
}
