// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsKit
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// What is given its modes when it is made is at work until it is invalidated.
@Suite(.ownThread) struct InvalidationTests {
    @Test func `A display link invalidated in its callout draws no further frame`() {
        ManualRunLoop.with { manual in
            keepAlive(manual.loop)
            let box = Box<RunLoop.DisplayLink?>(nil)
            let link = RunLoop.DisplayLink(framesPerSecond: 10) { frame in
                if frame.number == 4 { box.value?.invalidate() }
            }
            box.value = link
            manual.advance(by: .seconds(2))
            #expect(link.delivered == 5)
            link.isPaused = true
            link.isPaused = false
            link.framesPerSecond = 60
            manual.advance(by: .seconds(2))
            #expect(link.delivered == 5)
            #expect(manual.loop.nextTimerDeadline(in: .default) == nil)
            box.value = nil
        }
    }

    @Test func `Invalidating a throttle, debouncer or watchdog cancels pending and later calls`() {
        ManualRunLoop.with { manual in
            keepAlive(manual.loop)
            let lines = Box<[String]>([])
            let throttle = RunLoop.Throttle(every: .seconds(1)) { lines.value.append("throttle") }
            let debouncer = RunLoop.Debouncer(after: .seconds(1)) { lines.value.append("debouncer") }
            let watchdog = RunLoop.WatchdogTimer(limit: .seconds(1)) { lines.value.append("watchdog") }
            func callAll() {
                throttle.call()
                debouncer.call()
                watchdog.feed()
            }
            callAll()
            throttle.call()
            #expect(throttle.isPending && debouncer.isPending && watchdog.isRunning)
            throttle.invalidate()
            debouncer.invalidate()
            watchdog.invalidate()
            #expect(!throttle.isPending && !debouncer.isPending && !watchdog.isRunning)
            #expect(manual.loop.nextTimerDeadline(in: .default) == nil)
            callAll()
            debouncer.flush()
            manual.advance(by: .seconds(5))
            #expect(lines.value == ["throttle"])
        }
    }

    @Test func `Invalidating an idle queue cancels its jobs and removes it from its modes`() {
        ManualRunLoop.with { manual in
            let runs = Box(0)
            let queue = RunLoop.IdleQueue()
            let early = queue.add { runs.value += 1 }
            let dated = queue.add(latestAfter: .seconds(1)) { runs.value += 1 }
            #expect(!manual.loop.isEmpty(in: .default))
            queue.invalidate()
            let late = queue.add(latestAfter: .seconds(1)) { runs.value += 1 }
            #expect(!early.isPending && !dated.isPending && !late.isPending && queue.isEmpty)
            #expect(manual.loop.isEmpty(in: .default))
            keepAlive(manual.loop)
            manual.advance(by: .seconds(5))
            #expect(runs.value == 0)
        }
    }

    @Test func `A job may invalidate its idle queue`() {
        ManualRunLoop.with { manual in
            keepAlive(manual.loop)
            let runs = Box(0)
            let box = Box<RunLoop.IdleQueue?>(nil)
            let queue = RunLoop.IdleQueue()
            box.value = queue
            queue.add {
                runs.value += 1
                box.value?.invalidate()
            }
            queue.add { runs.value += 10 }
            manual.advance(by: .seconds(1))
            #expect(runs.value == 1 && queue.isEmpty)
            box.value = nil
        }
    }

    @Test func `An invalidated transaction commits only when it is flushed`() {
        ManualRunLoop.with { manual in
            keepAlive(manual.loop)
            let transaction = RunLoop.Transaction()
            transaction.mark(view) {}
            transaction.invalidate()
            manual.advance(by: .seconds(1))
            #expect(transaction.commits == 0 && transaction.pending == 1)
            transaction.flush()
            #expect(transaction.commits == 1)
        }
    }

    private let view = Box(0)

    @Test func `A run of the loop has no pool after the release pool has been invalidated`() {
        ManualRunLoop.with { manual in
            let depths = Box<[Int]>([])
            let pool = RunLoop.ReleasePool()
            for _ in 0..<2 {
                manual.loop.performLocally { depths.value.append(RunLoop.ReleasePool.depth) }
                manual.loop.runTurn()
                pool.invalidate()
            }
            #expect(depths.value == [1, 0])
        }
    }

    @Test func `An invalidated notification queue delivers nothing`() {
        ManualRunLoop.with { manual in
            keepAlive(manual.loop)
            let told = Box(0)
            let queue = RunLoop.NotificationQueue()
            queue.observe { _ in told.value += 1 }
            queue.post(.init("now"))
            queue.post(.init("soon"), .asSoonAsPossible)
            queue.post(.init("idle"), .whenIdle)
            queue.invalidate()
            #expect(queue.waitingCount == 0)
            queue.post(.init("late"), .whenIdle)
            queue.post(.init("late"))
            manual.advance(by: .seconds(1))
            #expect(told.value == 1 && queue.waitingCount == 0)
        }
    }
}
