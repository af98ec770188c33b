// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import FoundationRunLoop
import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

import class FoundationRunLoop.RunLoop
import class FoundationRunLoop.Timer

/// `Timer` and `CFRunLoopTimer` as two names of one object.
@Suite(.ownThread) struct OneTimerTests {
    @Test func `A Timer is a CFRunLoopTimer for Core Foundation's functions`() {
        ManualRunLoop.with { manual in
            let fires = Locked(0)
            let timer = Timer(timeInterval: 1, repeats: true) { _ in fires.withLock { $0 += 1 } }
            let same: CFRunLoopTimer = timer.coreFoundation
            #expect(same.foundation === timer)
            #expect(CFEqual(same, timer) && same === timer.coreFoundation)
            #expect(CFGetTypeID(same) == CFRunLoopTimerGetTypeID())
            let loop = CFRunLoopGetCurrent()
            CFRunLoopAddTimer(loop, same, .defaultMode)
            #expect(
                CFRunLoopContainsTimer(loop, same, .defaultMode) && CFRunLoopContainsTimer(loop, timer, .defaultMode))
            manual.advance(by: .seconds(1))
            #expect(fires.copy == 1)
            #expect(CFRunLoopTimerGetInterval(same) == 1 && CFRunLoopTimerDoesRepeat(same))
            #expect(CFRunLoopTimerGetOrder(same) == 0 && CFRunLoopTimerGetOrder(timer) == 0)
            CFRunLoopTimerSetTolerance(same, 0.25)
            #expect(timer.tolerance == 0.25 && CFRunLoopTimerGetTolerance(same) == 0.25)
            CFRunLoopTimerSetNextFireDate(same, 1_000_000_000)
            #expect(timer.fireDate == Date(timeIntervalSinceReferenceDate: 1_000_000_000))
            timer.fireDate = Date(timeIntervalSinceReferenceDate: 1_000_000_001)
            #expect(CFRunLoopTimerGetNextFireDate(same) == 1_000_000_001)
            var context = CFRunLoopTimerContext()
            CFRunLoopTimerGetContext(timer, &context)
            #expect(context.info == nil)
            #expect("\(CFCopyDescription(same)!)".contains("<CFRunLoopTimer"))
            CFRunLoopRemoveTimer(loop, same, .defaultMode)
            #expect(!CFRunLoopContainsTimer(loop, timer, .defaultMode) && timer.isValid && CFRunLoopTimerIsValid(same))
            RunLoop.current.add(timer, forMode: .tracking)
            CFRunLoopTimerInvalidate(same)
            #expect(!timer.isValid && !CFRunLoopTimerIsValid(same) && CFRunLoopTimerGetNextFireDate(same) == 0)
        }
    }

    @Test func `A timer of Core Foundation's functions is a Timer`() {
        TestThread.run {
            let fires = Box(0)
            let later = CFAbsoluteTimeGetCurrent() + 1000
            let timer: Timer = CFRunLoopTimerCreateWithHandler(nil, later, 10, 0, 7) { _ in fires.value += 1 }
            let same = timer.coreFoundation
            #expect(same.foundation === timer && CFGetTypeID(same) == CFRunLoopTimerGetTypeID())
            #expect(timer.timeInterval == 10 && CFRunLoopTimerGetOrder(timer) == 7)
            #expect(timer.isValid && timer.fireDate == Date(timeIntervalSinceReferenceDate: later))
            RunLoop.current.add(timer, forMode: .default)
            #expect(CFRunLoopContainsTimer(CFRunLoopGetCurrent(), same, .defaultMode))
            timer.tolerance = 0.5
            #expect(CFRunLoopTimerGetTolerance(same) == 0.5)
            timer.fire()
            #expect(fires.value == 1 && timer.isValid)
            timer.tolerance = 0
            timer.fireDate = .distantPast
            while fires.value == 1 { RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 1)) }
            #expect(fires.value == 2)
            CFRunLoopTimerInvalidate(same)
            #expect(!timer.isValid)
            timer.fire()
            #expect(fires.value == 2)
            let once = CFRunLoopTimerCreateWithHandler(nil, later, 0, 0, 0) { _ in fires.value += 1 } as Timer
            once.fire()
            #expect(fires.value == 3 && !once.isValid && once.timeInterval == 0)
        }
    }

    @Test func `A function's timer is passed to its function, and found again as the same Timer`() {
        TestThread.run {
            final class State {
                var timer: Timer?
                var isSame = false
            }
            let state = State()
            var context = CFRunLoopTimerContext()
            // SAFETY: the object lives until the end of this closure.
            context.info = Unmanaged.passUnretained(state).toOpaque()
            let made: Timer = CFRunLoopTimerCreate(
                nil, CFAbsoluteTimeGetCurrent(), 0, 0, 0,
                { timer, info in
                    let state = Unmanaged<State>.fromOpaque(info!).takeUnretainedValue()
                    state.isSame = timer?.foundation === state.timer
                }, &context)
            state.timer = made
            RunLoop.current.add(made, forMode: .default)
            #expect(RunLoop.current.run(mode: .default, before: .distantFuture))
            #expect(state.isSame && !made.isValid)
            withExtendedLifetime(state) {}
        }
    }

    @Test func `Core Foundation's functions call the methods of a Timer's subclass`() {
        final class Counting: Timer {
            let more = Token()
            var ends = 0
            override func invalidate() {
                ends += 1
                super.invalidate()
            }
        }
        let witness = Witness()
        do {
            let timer = Counting(timeInterval: 1, repeats: true) { _ in }
            witness.watch(timer.more)
            CFRunLoopTimerInvalidate(timer.coreFoundation)
            #expect(timer.ends == 1 && !timer.isValid)
        }
        #expect(witness.isGone)
    }

    @Test func `A timer is released with its last reference under either name`() {
        TestThread.run {
            let witnesses = (0..<4).map { _ in Witness() }
            weak var first: Timer?
            weak var second: Timer?
            do {
                let timer = Timer(timeInterval: 1000, repeats: true) { [token = witnesses[0].makeToken()] _ in
                    withExtendedLifetime(token) {}
                }
                witnesses[1].watch(timer)
                first = timer
                CFRunLoopAddTimer(CFRunLoopGetCurrent(), timer.coreFoundation, .defaultMode)
                let other: Timer = CFRunLoopTimerCreateWithHandler(nil, 1e10, 10, 0, 0) {
                    [token = witnesses[2].makeToken()] _ in withExtendedLifetime(token) {}
                }
                witnesses[3].watch(other)
                second = other
                RunLoop.current.add(other, forMode: .default)
            }
            #expect(witnesses.allSatisfy { !$0.isGone })
            first?.invalidate()
            second?.invalidate()
            #expect(witnesses.allSatisfy { $0.isGone })
        }
    }
}
