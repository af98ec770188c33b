// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import FoundationRunLoop
import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

import class FoundationRunLoop.RunLoop
import class FoundationRunLoop.Timer

/// Timers under Foundation's names, in virtual time.
@Suite(.ownThread) struct TimerTests {
    private let fires = Locked<[Int]>([])

    /// A closure that writes down after how many virtual milliseconds it was called.
    private func noting(_ manual: ManualRunLoop) -> @Sendable (Timer) -> Void {
        let (start, fires) = (manual.now, fires)
        nonisolated(unsafe) let manual = manual
        return { _ in
            let passed = start.duration(to: manual.now)
            fires.withLock { $0.append(Int(passed / .milliseconds(1))) }
        }
    }

    @Test func `A scheduled timer first fires after its interval`() {
        ManualRunLoop.with { manual in
            let timer = Timer.scheduledTimer(withTimeInterval: 1, repeats: true, block: noting(manual))
            manual.advance(by: .milliseconds(999))
            #expect(fires.copy == [])
            manual.advance(by: .milliseconds(2001))
            #expect(fires.copy == [1000, 2000, 3000])
            timer.invalidate()
            manual.advance(by: .seconds(5))
            #expect(fires.copy == [1000, 2000, 3000])
        }
    }

    @Test func `A timer that does not repeat fires after its interval, unlike Foundation's on Linux`() {
        ManualRunLoop.with { manual in
            let timer = Timer(timeInterval: 2, repeats: false, block: noting(manual))
            RunLoop.current.add(timer, forMode: .default)
            manual.advance(by: .seconds(10))
            #expect(fires.copy == [2000])
        }
    }

    @Test func `An interval counts from the creation of the timer, not from its addition`() {
        ManualRunLoop.with { manual in
            let timer = Timer(timeInterval: 2, repeats: true, block: noting(manual))
            manual.advance(by: .milliseconds(500))
            RunLoop.current.add(timer, forMode: .default)
            manual.advance(by: .seconds(4))
            #expect(fires.copy == [2000, 4000])
        }
    }

    @Test func `A timer with a past fire date fires at once and then after each interval`() {
        ManualRunLoop.with { manual in
            let past = Timer(fire: .distantPast, interval: 1, repeats: true, block: noting(manual))
            #expect(past.fireDate == .distantPast)
            RunLoop.current.add(past, forMode: .default)
            #expect(past.fireDate == .distantPast)
            manual.advance(by: .milliseconds(2500))
            #expect(fires.copy == [0, 1000, 2000])
            past.invalidate()
        }
    }

    @Test func `A timer in the distant future keeps its mode alive and does not fire`() {
        ManualRunLoop.with { manual in
            let timer = Timer(fire: .distantFuture, interval: 1, repeats: true, block: noting(manual))
            RunLoop.current.add(timer, forMode: .default)
            #expect(timer.fireDate == .distantFuture)
            #expect(RunLoop.current.limitDate(forMode: .default) != nil)
            manual.advance(by: .seconds(1_000_000_000))
            #expect(fires.copy == [])
            #expect(timer.isValid)
        }
    }

    @Test(arguments: [0, -1, -Double.infinity])
    func `An interval that is not positive becomes a tenth of a millisecond`(interval: Double) {
        ManualRunLoop.with { manual in
            let timer = Timer(timeInterval: interval, repeats: true, block: noting(manual))
            #expect(timer.timeInterval == 0.0001)
            #expect(Timer(fire: Date(), interval: interval, repeats: true) { _ in }.timeInterval == 0.0001)
            RunLoop.current.add(timer, forMode: .default)
            manual.advance(by: .milliseconds(1))
            #expect(fires.copy.count == 10)
        }
    }

    @Test func `A timer that does not repeat is valid in its closure and invalid after it`() {
        ManualRunLoop.with { manual in
            let wasValid = Locked<[Bool]>([])
            let timer = Timer(timeInterval: 1, repeats: false) { timer in
                wasValid.withLock { $0.append(timer.isValid) }
            }
            #expect(timer.timeInterval == 0)
            RunLoop.current.add(timer, forMode: .default)
            let date = timer.fireDate
            manual.advance(by: .seconds(3))
            #expect(wasValid.copy == [true])
            #expect(!timer.isValid)
            // After its end the date at which it has fired.
            #expect(timer.fireDate == date)
            timer.fireDate = .distantFuture
            #expect(timer.fireDate == date)
            RunLoop.current.add(timer, forMode: .default)
            manual.advance(by: .seconds(3))
            #expect(wasValid.copy == [true])
        }
    }

    @Test func `fire does not move the next fire date and invalidates a timer that does not repeat`() {
        ManualRunLoop.with { manual in
            let repeating = Timer.scheduledTimer(withTimeInterval: 1, repeats: true, block: noting(manual))
            repeating.fire()
            manual.advance(by: .milliseconds(500))
            repeating.fire()
            manual.advance(by: .milliseconds(1500))
            #expect(fires.copy == [0, 500, 1000, 2000])
            repeating.invalidate()
            repeating.fire()
            let once = Timer.scheduledTimer(withTimeInterval: 1, repeats: false, block: noting(manual))
            once.fire()
            #expect(!once.isValid)
            once.fire()
            manual.advance(by: .seconds(5))
            #expect(fires.copy == [0, 500, 1000, 2000, 0])
        }
    }

    @Test func `Setting fireDate moves the next fire`() {
        ManualRunLoop.with { manual in
            let timer = Timer.scheduledTimer(withTimeInterval: 1000, repeats: true, block: noting(manual))
            let date = Date(timeIntervalSinceNow: 3600)
            timer.fireDate = date
            #expect(timer.fireDate == date)
            manual.advance(by: .seconds(3000))
            #expect(fires.copy == [])
            manual.advance(by: .seconds(1000))
            #expect(fires.copy.count == 1)
            timer.fireDate = .distantPast
            let before = manual.now
            manual.advance(by: .zero)
            #expect(fires.copy.count == 2)
            #expect(manual.now == before)
            timer.invalidate()
        }
    }

    @Test func `fireDate is the same at each reading and moves on by the interval when the timer fires`() {
        ManualRunLoop.with { manual in
            let timer = Timer(fire: Date(timeIntervalSinceNow: 1), interval: 1000, repeats: true) { _ in }
            let first = timer.fireDate
            RunLoop.current.add(timer, forMode: .default)
            #expect(timer.fireDate == first)
            manual.advance(by: .seconds(2))
            let second = timer.fireDate
            #expect(timer.fireDate == second)
            // In 999 virtual seconds, or less if the test was slow, from a date of the real clock.
            #expect(second > Date(timeIntervalSinceNow: 600))
            #expect(second <= Date(timeIntervalSinceNow: 999))
            timer.invalidate()
        }
    }

    @Test func `Timers with tolerance fire in one wake-up, and none fires early`() {
        ManualRunLoop.with { manual in
            let timers = [1.0, 1.2, 1.4].map { Timer(timeInterval: $0, repeats: false, block: noting(manual)) }
            for timer in timers {
                timer.tolerance = 0.5
                RunLoop.current.add(timer, forMode: .default)
            }
            let sleeps = manual.sleeps
            manual.advance(by: .seconds(2))
            #expect(fires.copy.count == 3)
            #expect(Set(fires.copy).count == 1)
            #expect(fires.copy.allSatisfy { (1400...1500).contains($0) })
            // One for the timers, one to the end of the two seconds.
            #expect(manual.sleeps - sleeps <= 2)
        }
    }

    @Test func `A tolerance is clamped to the range from zero to half the interval`() {
        let timer = Timer(timeInterval: 2, repeats: true) { _ in }
        timer.tolerance = 5
        #expect(timer.tolerance == 1)
        timer.tolerance = -1
        #expect(timer.tolerance == 0)
        let once = Timer(timeInterval: 2, repeats: false) { _ in }
        once.tolerance = 5
        #expect(once.tolerance == 5)
    }

    @Test func `A tolerance set after the timer was added takes effect`() {
        ManualRunLoop.with { manual in
            let exact = Timer.scheduledTimer(withTimeInterval: 1.4, repeats: false, block: noting(manual))
            let tolerant = Timer.scheduledTimer(withTimeInterval: 1, repeats: false, block: noting(manual))
            tolerant.tolerance = 0.9
            manual.advance(by: .seconds(2))
            #expect(fires.copy == [1400, 1400])
            #expect(!exact.isValid)
        }
    }

    @Test func `A timer can be in several modes of one loop`() {
        ManualRunLoop.with { manual in
            let timer = Timer(timeInterval: 1, repeats: true, block: noting(manual))
            RunLoop.current.add(timer, forMode: .default)
            RunLoop.current.add(timer, forMode: .default)
            RunLoop.current.add(timer, forMode: .tracking)
            manual.advance(by: .seconds(1))
            manual.advance(by: .seconds(1), in: .tracking)
            #expect(fires.copy == [1000, 2000])
            nonisolated(unsafe) let sameTimer = timer
            let isInOther = TestThread.run {
                RunLoop.current.add(sameTimer, forMode: .default)
                return RunLoop.current.native.nextTimerDeadline(in: .default) != nil
            }
            #expect(!isInOther)
            timer.invalidate()
        }
    }

    @Test func `A timer in the common modes fires in each of them and in no other mode`() {
        ManualRunLoop.with { manual in
            manual.loop.markCommon(.tracking)
            let timer = Timer(timeInterval: 1, repeats: true, block: noting(manual))
            RunLoop.current.add(timer, forMode: .common)
            manual.advance(by: .seconds(1), in: .tracking)
            manual.advance(by: .seconds(1))
            manual.advance(by: .seconds(1), in: .modalPanel)
            #expect(fires.copy == [1000, 2000])
            timer.invalidate()
        }
    }

    // MARK: Memory

    @Test func `A timer that is never added is released with its owner`() {
        let witness = Witness()
        do {
            let timer = Timer(timeInterval: 1, repeats: true) { _ in }
            witness.watch(timer)
            timer.tolerance = 0.1
        }
        #expect(witness.isGone)
    }

    @Test func `The loop retains a timer until it is invalidated`() {
        ManualRunLoop.with { manual in
            let (once, repeating, captured) = (Witness(), Witness(), Witness())
            do {
                let token = captured.makeToken()
                once.watch(Timer.scheduledTimer(withTimeInterval: 1, repeats: false) { _ in _ = token })
                let timer = Timer.scheduledTimer(withTimeInterval: 1, repeats: true) { timer in
                    withExtendedLifetime(token) {}
                    timer.invalidate()
                }
                repeating.watch(timer)
            }
            #expect(!once.isGone && !repeating.isGone && !captured.isGone)
            manual.advance(by: .seconds(1))
            #expect(once.isGone && repeating.isGone && captured.isGone)
        }
    }

    @Test func `A timer is invalidated and released when its thread ends`() {
        let witness = Witness()
        let kept = TestThread.run {
            witness.watch(Timer.scheduledTimer(withTimeInterval: 100, repeats: true) { _ in })
            nonisolated(unsafe) let kept = Timer.scheduledTimer(withTimeInterval: 100, repeats: true) { _ in }
            return Kept(kept)
        }
        #expect(witness.isGone)
        #expect(!kept.timer.isValid)
        kept.timer.invalidate()
    }

    private struct Kept: @unchecked Sendable {
        let timer: Timer
        init(_ timer: Timer) { self.timer = timer }
    }

    // MARK: Under both names

    @Test func `Core Foundation's timer functions accept a Timer`() {
        ManualRunLoop.with { manual in
            let timer = Timer(timeInterval: 1, repeats: true, block: noting(manual))
            let loop = CFRunLoopGetCurrent()
            CFRunLoopAddTimer(loop, timer, .defaultMode)
            #expect(CFRunLoopContainsTimer(loop, timer, kCFRunLoopDefaultMode))
            #expect(!CFRunLoopContainsTimer(loop, timer, .commonModes))
            manual.advance(by: .seconds(1))
            #expect(fires.copy == [1000])
            #expect(CFRunLoopTimerGetInterval(timer) == 1 && CFRunLoopTimerDoesRepeat(timer))
            #expect(CFRunLoopTimerGetNextFireDate(timer) == timer.fireDate.timeIntervalSinceReferenceDate)
            CFRunLoopTimerSetTolerance(timer, 0.25)
            #expect(timer.tolerance == 0.25 && CFRunLoopTimerGetTolerance(timer) == 0.25)
            CFRunLoopTimerSetTolerance(timer, 0)
            CFRunLoopTimerSetNextFireDate(timer, timer.fireDate.timeIntervalSinceReferenceDate + 0.5)
            manual.advance(by: .milliseconds(1600))
            #expect(fires.copy.count == 2)
            CFRunLoopTimerInvalidate(timer)
            #expect(!timer.isValid && !CFRunLoopTimerIsValid(timer) && CFRunLoopTimerGetNextFireDate(timer) == 0)
        }
    }

    @Test func `A Timer that is removed from its last mode stays valid and can be added again`() {
        ManualRunLoop.with { manual in
            let timer = Timer(timeInterval: 1, repeats: true, block: noting(manual))
            let loop = CFRunLoopGetCurrent()
            let other = CFRunLoopMode("other")
            CFRunLoopAddTimer(loop, timer, .defaultMode)
            CFRunLoopAddTimer(loop, timer, other)
            CFRunLoopRemoveTimer(loop, timer, other)
            CFRunLoopRemoveTimer(loop, timer, other)
            manual.advance(by: .milliseconds(1500))
            #expect(fires.copy == [1000] && timer.isValid)
            CFRunLoopRemoveTimer(loop, timer, .defaultMode)
            #expect(timer.isValid && !CFRunLoopContainsTimer(loop, timer, .defaultMode))
            manual.advance(by: .milliseconds(100))
            #expect(fires.copy == [1000])
            RunLoop.current.add(timer, forMode: .default)
            manual.advance(by: .milliseconds(400))
            #expect(fires.copy == [1000, 2000])
            timer.invalidate()
        }
    }

    @Test func `A Timer of another loop is not removed`() {
        ManualRunLoop.with { manual in
            let timer = Timer(timeInterval: 1, repeats: true, block: noting(manual))
            RunLoop.current.add(timer, forMode: .default)
            nonisolated(unsafe) let same = timer
            TestThread.run { CFRunLoopRemoveTimer(CFRunLoopGetCurrent(), same, .defaultMode) }
            manual.advance(by: .seconds(1))
            #expect(fires.copy == [1000])
            timer.invalidate()
        }
    }

    // In real time: a date of Core Foundation's is one of the real clock.
    @Test func `A CFRunLoopTimer can be added to a RunLoop`() {
        TestThread.run {
            let fires = Box(0)
            let timer = CFRunLoopTimerCreateWithHandler(nil, CFAbsoluteTimeGetCurrent(), 0, 0, 0) { _ in
                fires.value += 1
            }
            guard let timer else { return }
            RunLoop.current.add(timer, forMode: .default)
            #expect(CFRunLoopContainsTimer(RunLoop.current.getCFRunLoop(), timer, .defaultMode))
            #expect(RunLoop.current.run(mode: .default, before: .distantFuture))
            #expect(fires.value == 1 && !CFRunLoopTimerIsValid(timer))
        }
    }
}
