// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsKit
import RunLoopsTestSupport
import Testing

/// What the kernel says of a thread.
private struct Schedule: Equatable, Sendable {
    var policy = CInt(SCHED_OTHER)
    var nice: CInt = 0
    var priority: CInt = 0

    /// As threads usually are.
    static let usual = Schedule()

    static func realTime(_ priority: CInt) -> Schedule { Schedule(policy: SCHED_FIFO, priority: priority) }

    static let batch: CInt = 3
    static let idle: CInt = 5

    init(policy: CInt = SCHED_OTHER, nice: CInt = 0, priority: CInt = 0) {
        (self.policy, self.nice, self.priority) = (policy, nice, priority)
    }

    /// The schedule of a thread; without a number, of the calling thread.
    init(of thread: Int32 = 0) {
        var found = rl_schedule()
        let code = rl_schedule_read(thread, &found)
        precondition(code == 0, "no thread \(thread): \(code)")
        self.init(policy: found.policy, nice: found.nice, priority: found.priority)
    }
}

/// A waiting thread lends its priority to the thread that it waits for.
@Suite(.ownThread, .enabled(if: mayRaise, "needs CAP_SYS_NICE and usual scheduling"))
struct PriorityTests {
    private func realTime(_ name: String, _ priority: Int) throws -> RunLoopThread {
        try RunLoopThread(RunLoopThread.Attributes(name: name, schedulingClass: .firstInFirstOut(priority: priority)))
    }

    /// Occupies a thread until the semaphore is signalled.
    private func occupy(_ thread: RunLoopThread) -> Permit {
        let (busy, proceed) = (Permit(), Permit())
        thread.post {
            busy.signal()
            proceed.wait()
        }
        busy.wait()
        return proceed
    }

    private func schedule(of thread: RunLoopThread) -> Schedule { Schedule(of: thread.identity.number) }

    @Test func `A thread gets the real-time priority of the waiting thread and its own priority afterwards`() throws {
        let waiter = try realTime("waiter", 10)
        let other = try RunLoopThread(RunLoopThread.Attributes(name: "other", nice: 5))
        let inside = try waiter.performAndWait { try other.performAndWait { Schedule() } }
        #expect(inside == .realTime(10))
        #expect(schedule(of: other) == Schedule(nice: 5))
        #expect(schedule(of: waiter) == .realTime(10))
        // The same through the thread's loop.
        #expect(try waiter.performAndWait { try other.loop.performAndWait { Schedule() } } == .realTime(10))
        #expect(schedule(of: other) == Schedule(nice: 5))
    }

    @Test func `A thread gets the nice value of the waiting thread in its own scheduling class`() throws {
        let waiter = try RunLoopThread(RunLoopThread.Attributes(name: "waiter", nice: -5))
        let other = try RunLoopThread(RunLoopThread.Attributes(name: "other", nice: 5, schedulingClass: .batch))
        let inside = try waiter.performAndWait { try other.performAndWait { Schedule() } }
        #expect(inside == Schedule(policy: Schedule.batch, nice: -5))
        #expect(schedule(of: other) == Schedule(policy: Schedule.batch, nice: 5))
        let idle = try RunLoopThread(RunLoopThread.Attributes(name: "idle", nice: 5, schedulingClass: .idle))
        #expect(try waiter.performAndWait { try idle.performAndWait { Schedule() } } == Schedule(nice: -5))
        #expect(schedule(of: idle) == Schedule(policy: Schedule.idle, nice: 5))
    }

    @Test func `A thread keeps its priority while a thread of lower priority waits for it`() throws {
        let (ten, twenty) = (try realTime("ten", 10), try realTime("twenty", 20))
        let usual = makeThread("usual")
        #expect(try ten.performAndWait { try twenty.performAndWait { Schedule() } } == .realTime(20))
        #expect(try usual.performAndWait { try twenty.performAndWait { Schedule() } } == .realTime(20))
        #expect(try twenty.performAndWait { try ten.performAndWait { Schedule() } } == .realTime(20))
        #expect(schedule(of: ten) == .realTime(10))
    }

    @Test func `A thread gets the highest priority of the threads that wait for it, and its own after the last wait`()
        throws
    {
        let other = makeThread("other")
        let proceed = occupy(other)
        let (ten, twenty) = (try realTime("ten", 10), try realTime("twenty", 20))
        let givenUp = Permit()
        ten.post { try? other.performAndWait {} }
        waitUntil { schedule(of: other) == .realTime(10) }
        let mayLeave = Locked(false)
        twenty.post {
            // Many short waits; each of them ends.
            while !mayLeave.copy { try? other.performAndWait(startingWithin: .milliseconds(20)) {} }
            givenUp.signal()
        }
        waitUntil { schedule(of: other) == .realTime(20) }
        mayLeave.withLock { $0 = true }
        givenUp.wait()
        #expect(schedule(of: other) == .realTime(10))
        proceed.signal()
        ten.stop()
        ten.join()
        #expect(schedule(of: other) == .usual)
    }

    @Test func `The last thread of a chain of waits gets the priority of the first`() throws {
        let (middle, last) = (makeThread("middle"), makeThread("last"))
        let proceed = occupy(last)
        middle.post { try? last.performAndWait {} }
        let first = try realTime("first", 10)
        first.post { try? middle.performAndWait {} }
        waitUntil { schedule(of: last) == .realTime(10) }
        #expect(schedule(of: middle) == .realTime(10))
        proceed.signal()
        first.stop()
        first.join()
        #expect(schedule(of: middle) == .usual)
        #expect(schedule(of: last) == .usual)
    }

    @Test func `A wait that times out restores the priorities of the whole chain`() throws {
        let (middle, last) = (makeThread("middle"), makeThread("last"))
        let proceed = occupy(last)
        let first = try realTime("first", 10)
        let begun = Permit()
        middle.post {
            begun.signal()
            try? last.performAndWait {}
        }
        begun.wait()
        _ = try? first.performAndWait { try middle.performAndWait(startingWithin: .milliseconds(20)) {} }
        #expect(schedule(of: middle) == .usual)
        #expect(schedule(of: last) == .usual)
        proceed.signal()
        middle.stop()
        middle.join()
    }

    @Test func `A joined thread gets the priority of the thread that joins it`() throws {
        let other = makeThread("other")
        let proceed = occupy(other)
        let waiter = try realTime("waiter", 10)
        waiter.post { other.join() }
        waitUntil { schedule(of: other) != .usual }
        #expect(schedule(of: other) == .realTime(10))
        other.stop()
        proceed.signal()
        try waiter.performAndWait {}
        #expect(schedule(of: waiter) == .realTime(10))
        waiter.stop()
        waiter.join()
    }

    @Test func `A priority that the program sets during a wait is kept`() throws {
        let waiter = try realTime("waiter", 10)
        let other = makeThread("other")
        try waiter.performAndWait {
            try other.performAndWait { #expect(rl_thread_set_schedule(CInt(RL_SCHEDULE_ROUND_ROBIN), 5) == 0) }
        }
        #expect(schedule(of: other) == Schedule(policy: SCHED_RR, priority: 5))
        let third = makeThread("third")
        try waiter.performAndWait { try third.performAndWait { #expect(rl_thread_set_nice(3) == 0) } }
        #expect(schedule(of: third) == Schedule(nice: 3))
    }

    @Test func `A thread started during a wait does not inherit the real-time class`() throws {
        let waiter = try realTime("waiter", 10)
        let other = makeThread("other")
        let child = try waiter.performAndWait { try other.performAndWait { TestThread.run { Schedule() } } }
        // The kernel resets a real-time class at the start of a thread to the usual class with the nice value 0, whatever the process has.
        #expect(child == Schedule(policy: SCHED_OTHER, nice: 0))
    }
}

/// In processes of their own, which give the privilege up.
@Suite(
    .ownThread,
    .enabled(if: mayRaise && getuid() == 0, "needs the superuser, to be it no more"))
struct PriorityRefusalProcessTests {
    @Test func `Without the right to change priorities a wait still works`() async {
        await #expect(processExitsWith: .success) {
            let waiter = try RunLoopThread(
                RunLoopThread.Attributes(name: "waiter", schedulingClass: .firstInFirstOut(priority: 10)))
            let other = try RunLoopThread(RunLoopThread.Attributes(name: "other", nice: 5))
            precondition(setuid(65_534) == 0)
            let inside = try TestThread.run {
                try waiter.performAndWait { try other.performAndWait { Schedule() } }
            }
            precondition(inside == Schedule(nice: 5), "\(inside)")
        }
    }
}

/// Whether this process is scheduled as usual, and may schedule its threads better than that.
private let mayRaise: Bool = {
    if Schedule().policy != SCHED_OTHER { return false }
    let best = RunLoopThread.Attributes(name: "may raise", nice: -1, schedulingClass: .firstInFirstOut(priority: 1))
    return (try? RunLoopThread(best)) != nil
}()
