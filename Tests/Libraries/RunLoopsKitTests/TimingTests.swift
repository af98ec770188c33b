// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsKit
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// The three that everybody writes by hand.
@Suite(.ownThread) struct TimingTests {
    /// Runs `body` with a loop that does not finish and a function that gives the seconds since the beginning.
    private func with(_ body: (ManualRunLoop, @escaping () -> Double) -> Void) {
        ManualRunLoop.with { manual in
            keepAlive(manual.loop)
            let start = manual.now
            body(manual) { start.duration(to: manual.now) / .seconds(1) }
        }
    }

    // MARK: Debouncer

    @Test func `A debouncer calls once, after its quiet time`() {
        with { manual, seconds in
            let dates = Box<[Double]>([])
            let debouncer = RunLoop.Debouncer(after: .seconds(1)) { dates.value.append(seconds()) }
            for _ in 0..<5 {
                debouncer.call()
                manual.advance(by: .milliseconds(500))
            }
            #expect(dates.value.isEmpty)
            #expect(debouncer.isPending)
            manual.advance(by: .seconds(5))
            #expect(dates.value == [3])
            #expect(!debouncer.isPending)
        }
    }

    @Test func `A debouncer that is called without a pause calls its closure after its limit`() {
        with { manual, seconds in
            let dates = Box<[Double]>([])
            let debouncer = RunLoop.Debouncer(after: .seconds(1), atMost: .seconds(3)) { dates.value.append(seconds()) }
            for _ in 0..<14 {
                debouncer.call()
                manual.advance(by: .milliseconds(500))
            }
            manual.advance(by: .seconds(5))
            // The last calls are at 6 and 6.5 seconds: the third is the quiet after them.
            #expect(dates.value == [3, 6, 7.5])
        }
    }

    @Test func `A debouncer may be cancelled, flushed and called in its callout`() {
        with { manual, seconds in
            let dates = Box<[Double]>([])
            let box = Box<RunLoop.Debouncer?>(nil)
            let debouncer = RunLoop.Debouncer(after: .zero) {
                dates.value.append(seconds())
                if dates.value.count == 2 { box.value?.call() }
            }
            box.value = debouncer
            debouncer.call()
            debouncer.cancel()
            manual.advance(by: .seconds(1))
            #expect(dates.value.isEmpty)
            debouncer.call()
            debouncer.flush()
            debouncer.flush()
            #expect(dates.value == [1])
            debouncer.call()
            manual.advance(by: .seconds(1))
            #expect(dates.value.count == 3)
            box.value = nil
        }
    }

    // MARK: Throttle

    @Test func `A throttle calls its closure at once and then at most once an interval`() {
        with { manual, seconds in
            let dates = Box<[Double]>([])
            let throttle = RunLoop.Throttle(every: .seconds(1)) { dates.value.append(seconds()) }
            for _ in 0..<10 {
                throttle.call()
                manual.advance(by: .milliseconds(250))
            }
            manual.advance(by: .seconds(5))
            #expect(dates.value == [0, 1, 2, 3])
            throttle.call()
            #expect(dates.value.last == 7.5)
        }
    }

    @Test func `A throttle without trailing calls drops early calls, and cancel drops a pending trailing call`() {
        with { manual, seconds in
            let dates = Box<[Double]>([])
            let throttle = RunLoop.Throttle(every: .seconds(1), isTrailing: false) { dates.value.append(seconds()) }
            for _ in 0..<6 {
                throttle.call()
                manual.advance(by: .milliseconds(300))
            }
            manual.advance(by: .seconds(5))
            #expect(dates.value == [0, 1.2])
            let other = RunLoop.Throttle(every: .seconds(1)) { dates.value.append(seconds()) }
            other.call()
            other.call()
            other.cancel()
            manual.advance(by: .seconds(5))
            #expect(dates.value.count == 3)
        }
    }

    // MARK: Watchdog

    @Test func `A watchdog that is not fed calls its closure once, and the next feed restarts it`() {
        with { manual, seconds in
            let dates = Box<[Double]>([])
            let dog = RunLoop.WatchdogTimer(limit: .seconds(2)) { dates.value.append(seconds()) }
            manual.advance(by: .seconds(5))
            #expect(dates.value.isEmpty)
            for _ in 0..<5 {
                dog.feed()
                manual.advance(by: .seconds(1))
            }
            #expect(dates.value.isEmpty)
            manual.advance(by: .seconds(10))
            #expect(dates.value == [11])
            #expect(!dog.isRunning)
            dog.feed()
            manual.advance(by: .seconds(10))
            #expect(dates.value == [11, 22])
        }
    }

    @Test func `A fed watchdog costs one wake-up per limit, and a cancelled watchdog costs none`() {
        with { manual, _ in
            let fires = Box(0)
            let dog = RunLoop.WatchdogTimer(limit: .seconds(1)) { fires.value += 1 }
            let feeder = RunLoop.Timer(.every(.milliseconds(1)), label: "feeder") { _ in dog.feed() }
            manual.loop.add(feeder, in: .default)
            let recorder = RunLoop.TraceRecorder(manual.loop)
            manual.advance(by: .seconds(10))
            #expect(recorder.callouts.count { $0 == "timer \"watchdog\"" } <= 11)
            #expect(fires.value == 0)
            recorder.stop()
            feeder.invalidate()
            dog.cancel()
            #expect(idleWakeUps(manual) == 0)
        }
    }

    @Test func `A debouncer or throttle that is released with a pending call makes the call and is released after it`()
    {
        with { manual, seconds in
            let calls = Box<[Double]>([])
            weak var released: RunLoop.Debouncer?
            weak var alsoReleased: RunLoop.Throttle?
            do {
                let debouncer = RunLoop.Debouncer(after: .seconds(2)) { calls.value.append(seconds()) }
                debouncer.call()
                released = debouncer
                let throttle = RunLoop.Throttle(every: .seconds(3)) { calls.value.append(seconds()) }
                throttle.call()
                throttle.call()
                alsoReleased = throttle
            }
            #expect(released != nil && alsoReleased != nil)
            manual.advance(by: .seconds(10))
            #expect(calls.value == [0, 2, 3])
            #expect(released == nil && alsoReleased == nil)
            do {
                let debouncer = RunLoop.Debouncer(after: .seconds(2)) { calls.value.append(seconds()) }
                debouncer.call()
                debouncer.cancel()
                released = debouncer
            }
            #expect(released == nil)
            do {
                let debouncer = RunLoop.Debouncer(after: .seconds(2)) { calls.value.append(seconds()) }
                debouncer.call()
                debouncer.invalidate()
                released = debouncer
            }
            #expect(released == nil)
            manual.advance(by: .seconds(10))
            #expect(calls.value.count == 3)
        }
    }

    @Test func `The end of a thread releases a debouncer and an idle queue with pending work`() {
        let (debouncer, queue) = (Locked<WeakReference?>(nil), Locked<WeakReference?>(nil))
        TestThread {
            let pending = RunLoop.Debouncer(after: .seconds(3600)) {}
            pending.call()
            debouncer.withLock { $0 = WeakReference(pending) }
            let waiting = RunLoop.IdleQueue()
            waiting.add {}
            queue.withLock { $0 = WeakReference(waiting) }
        }.join()
        #expect(debouncer.copy?.object == nil && queue.copy?.object == nil)
        #expect(debouncer.copy != nil && queue.copy != nil)
    }

    @Test func `A debouncer, throttle or watchdog at rest costs no wake-up and keeps no mode alive`() {
        ManualRunLoop.with { manual in
            let debouncer = RunLoop.Debouncer(after: .seconds(1)) {}
            let throttle = RunLoop.Throttle(every: .seconds(1)) {}
            let dog = RunLoop.WatchdogTimer(limit: .seconds(1)) {}
            debouncer.call()
            throttle.call()
            throttle.call()
            dog.feed()
            manual.advance(by: .seconds(10))
            #expect(manual.loop.run(in: .default, for: .seconds(1)) == .finished)
            keepAlive(manual.loop)
            #expect(idleWakeUps(manual) == 0)
            withExtendedLifetime((debouncer, throttle, dog)) {}
        }
    }
}

private struct WeakReference: @unchecked Sendable {
    weak var object: AnyObject?

    init(_ object: AnyObject) { self.object = object }
}
