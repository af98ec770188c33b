// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsKit
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// Jobs spread over idle moments.
@Suite(.ownThread) struct IdleQueueTests {
    @Test func `One portion of jobs runs in each turn, and the loop makes no extra turn`() {
        ManualRunLoop.with { manual in
            let queue = RunLoop.IdleQueue(limits: .init(count: 3))
            let portions = Box<[Int]>([])
            let turns = Box(0)
            manual.loop.add(RunLoop.Observer(.beforeTimers) { _, _ in turns.value += 1 }, in: .default)
            queue.progressHandler = { portions.value.append($0.completed) }
            keepAlive(manual.loop)
            for _ in 0..<10 { queue.add {} }
            manual.loop.run(in: .default, for: .seconds(5))
            #expect(portions.value == [3, 6, 9, 10])
            #expect(turns.value == 4)
            #expect(manual.sleeps == 1)
            #expect(queue.isEmpty)
        }
    }

    @Test func `Higher priorities run first and equal priorities in order`() {
        ManualRunLoop.with { manual in
            let queue = RunLoop.IdleQueue()
            let lines = Box<[String]>([])
            for (name, priority) in [
                ("a", RunLoop.IdleQueue.Priority.low), ("b", .normal), ("c", .high), ("d", .normal),
            ] {
                queue.add(priority: priority) { lines.value.append(name) }
            }
            manual.advance(by: .seconds(1))
            #expect(lines.value == ["c", "b", "d", "a"])
        }
    }

    @Test func `Jobs run in the queue's mode and do not run in other modes`() {
        ManualRunLoop.with { manual in
            let queue = RunLoop.IdleQueue()
            let ran = Box(0)
            queue.add { ran.value += 1 }
            keepAlive(manual.loop, in: .tracking)
            manual.advance(by: .seconds(1), in: .tracking)
            #expect(ran.value == 0)
            #expect(manual.sleeps == 1)
            manual.advance(by: .seconds(1))
            #expect(ran.value == 1)
        }
    }

    @Test func `A job that has not run by its latest instant then runs in any common mode`() {
        ManualRunLoop.with { manual in
            let queue = RunLoop.IdleQueue()
            manual.loop.markCommon(.tracking)
            keepAlive(manual.loop, in: .tracking)
            let start = manual.now
            let dates = Box<[Duration]>([])
            queue.add(latestAfter: .seconds(3)) { dates.value.append(start.duration(to: manual.now)) }
            queue.add(latestAfter: .seconds(2)) { dates.value.append(start.duration(to: manual.now)) }
            queue.add { dates.value.append(start.duration(to: manual.now)) }
            manual.advance(by: .seconds(5), in: .tracking)
            #expect(dates.value == [.seconds(2), .seconds(3)])
            #expect(manual.loop.nextTimerDeadline(in: .tracking) == nil)
            manual.advance(by: .seconds(1))
            #expect(dates.value.last == .seconds(5))
        }
    }

    @Test func `A cancelled job does not run and is not counted`() {
        ManualRunLoop.with { manual in
            let queue = RunLoop.IdleQueue()
            let ran = Box(0)
            let jobs = (0..<4).map { _ in queue.add(latestAfter: .seconds(9)) { ran.value += 1 } }
            #expect(jobs[1].cancel())
            #expect(!jobs[1].cancel())
            #expect(queue.progress.total == 3)
            manual.advance(by: .seconds(1))
            #expect(ran.value == 3)
            #expect(!jobs[0].cancel())
            #expect(queue.progress.fraction == 1)
            queue.add { ran.value += 1 }
            queue.cancelAll()
            #expect(queue.isEmpty)
            manual.advance(by: .seconds(10))
            #expect(ran.value == 3)
        }
    }

    @Test func `Jobs added by jobs count towards the same progress`() {
        ManualRunLoop.with { manual in
            let queue = RunLoop.IdleQueue(limits: .init(count: 1))
            let told = Box<[RunLoop.IdleQueue.Progress]>([])
            queue.progressHandler = { told.value.append($0) }
            func add(_ left: Int) { queue.add { if left > 0 { add(left - 1) } } }
            add(2)
            manual.advance(by: .seconds(1))
            #expect(told.value.map(\.completed) == [1, 2, 3])
            #expect(told.value.map(\.total) == [2, 3, 3])
        }
    }

    @Test func `Jobs keep the mode alive and the run finishes after the last job`() {
        ManualRunLoop.with { manual in
            let queue = RunLoop.IdleQueue(limits: .init(count: 2))
            let ran = Box(0)
            for _ in 0..<5 { queue.add { ran.value += 1 } }
            #expect(manual.loop.run(in: .default, for: .seconds(5)) == .finished)
            #expect(ran.value == 5)
            #expect(manual.endlessSleeps == 0)
            #expect(manual.sleeps == 0)
        }
    }

    @Test func `A job added by a later beforeWaiting observer runs before the sleep`() {
        ManualRunLoop.with { manual in
            let queue = RunLoop.IdleQueue()
            let start = manual.now
            let dates = Box<[Duration]>([])
            keepAlive(manual.loop)
            let observer = RunLoop.Observer(.beforeWaiting, order: RunLoop.IdleQueue.order + 1, repeats: false) {
                _, _ in
                queue.add { dates.value.append(start.duration(to: manual.now)) }
            }
            manual.loop.add(observer, in: .default)
            manual.loop.run(in: .default, for: .seconds(5))
            #expect(dates.value == [.zero])
            #expect(manual.sleeps == 1)
        }
    }

    @Test func `A portion of jobs ends when a timer is due, but not before one job has run`() {
        ManualRunLoop.with { manual in
            let queue = RunLoop.IdleQueue(limits: .init(time: .seconds(1000)))
            let lines = Box<[String]>([])
            for _ in 0..<3 {
                queue.add {
                    lines.value.append("job")
                    // The job takes a second.
                    manual.pass(.seconds(1))
                }
            }
            manual.loop.add(
                RunLoop.Timer(.after(.milliseconds(1500))) { _ in lines.value.append("timer") }, in: .default)
            manual.loop.run(in: .default, for: .seconds(10))
            #expect(lines.value == ["job", "job", "timer", "job"])
        }
    }

    @Test func `Many jobs delay a timer by less than the time limit of a portion`() {
        ManualRunLoop.with { manual in
            let jobs = isFull ? 100_000 : 10_000
            let budget = Duration.milliseconds(4)
            let queue = RunLoop.IdleQueue(limits: .init(time: budget))
            let (ran, fires, worst) = (Box(0), Box(0), Box(Duration.zero))
            for _ in 0..<jobs {
                queue.add {
                    manual.pass(.microseconds(20))
                    ran.value += 1
                }
            }
            let timer = RunLoop.Timer(.every(.milliseconds(10))) { timer in
                fires.value += 1
                worst.value = max(worst.value, timer.deadline.duration(to: manual.now))
            }
            manual.loop.add(timer, in: .common)
            manual.loop.run(in: .default, for: .microseconds(20) * jobs)
            #expect(ran.value == jobs)
            // The work takes all the time there is, and the timer does not lose a single date to it.
            #expect(fires.value == jobs / 500)
            #expect(worst.value < budget)
        }
    }

    @Test func `A queue that is released with waiting jobs runs them and is released after the last`() {
        ManualRunLoop.with { manual in
            keepAlive(manual.loop)
            let ran = Box(0)
            weak var released: RunLoop.IdleQueue?
            do {
                let queue = RunLoop.IdleQueue(limits: .init(count: 1))
                for _ in 0..<3 { queue.add { ran.value += 1 } }
                queue.add(latestAfter: .seconds(1)) { ran.value += 1 }
                released = queue
            }
            #expect(released != nil)
            manual.advance(by: .seconds(5))
            #expect(ran.value == 4)
            #expect(released == nil)
            do {
                let queue = RunLoop.IdleQueue()
                let job = queue.add { ran.value += 1 }
                released = queue
                job.cancel()
            }
            #expect(released == nil)
        }
    }

    @Test func `An empty queue and a queue waiting for its mode cost no wake-up`() {
        ManualRunLoop.with { manual in
            let (queue, other) = (RunLoop.IdleQueue(), RunLoop.IdleQueue(in: ["other"]))
            keepAlive(manual.loop)
            queue.add {}
            other.add {}
            manual.advance(by: .zero)
            #expect(idleWakeUps(manual) == 0)
            #expect(other.count == 1)
        }
    }

    /// On the real clock: how late a timer is beside jobs that would keep the thread busy for seconds.
    @Test func `A timer on the real clock is never early while many jobs wait, and all jobs run`() {
        let thread = makeThread("idle queue")
        let jobs = isFull ? 100_000 : 2000
        let result = try? thread.performAndWait { busyTimer(jobs: jobs) }
        #expect(result?.ran == jobs)
        #expect(result.map { $0.lateness.min().map { $0 >= 0 } ?? true } == true)
        if isFull, let late = result?.lateness.sorted(), let last = late.last {
            print(
                "FIG \(jobs) jobs of 20 us: \(late.count) fires of the 10 ms timer, late by median",
                "\(late[late.count / 2] / 1000) us, 99 % \(late[late.count * 99 / 100] / 1000) us, worst \(last / 1000) us"
            )
        }
    }
}

private func busyTimer(jobs: Int) -> (ran: Int, lateness: [Int64]) {
    let loop = RunLoop.current
    let queue = RunLoop.IdleQueue(limits: .init(time: .milliseconds(4)))
    let (ran, lateness) = (Box(0), Box<[Int64]>([]))
    for _ in 0..<jobs {
        queue.add {
            let end = SystemCalls.now(.monotonic) + 20_000
            while SystemCalls.now(.monotonic) < end {}
            ran.value += 1
            if ran.value == jobs { loop.stop() }
        }
    }
    let timer = RunLoop.Timer(.every(.milliseconds(10))) { timer in
        lateness.value.append(SystemCalls.now(.monotonic) - timer.deadline.nanoseconds)
    }
    loop.add(timer, in: .common)
    loop.run(in: .default, for: plenty)
    timer.invalidate()
    return (ran.value, lateness.value)
}
