// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

@testable import CoreFoundationRunLoop

/// A loop that other threads add to, take from and release what it calls; and the loop under both of its names.
@Suite(.ownThread) struct ForeignThreadTests {
    @Test func `Other threads may add, remove, invalidate and release items while the loop runs`() {
        let open = Locked(0)
        let calls = Locked(0)
        let loops = Locked<CFRunLoop?>(nil)
        let began = Permit()
        let thread = TestThread {
            let keeper = CFRunLoopTimerCreateWithHandler(nil, .infinity, 0, 0, 0) { _ in }
            CFRunLoopAddTimer(CFRunLoopGetCurrent(), keeper, .commonModes)
            loops.withLock { $0 = CFRunLoopGetCurrent() }
            began.signal()
            CFRunLoopRun()
            CFRunLoopTimerInvalidate(keeper)
        }
        began.wait()
        let hands = (0..<3).map { number in
            TestThread {
                let loop = loops.withLock { $0 }
                var random = SeededRandom(UInt64(number))
                for _ in 0..<(isFull ? 20_000 : 1_000) {
                    let source = counted(open, calls)
                    let timer = countedTimer(open, calls, interval: random.oneIn(2) ? 0 : 0.000_1)
                    CFRunLoopAddSource(loop, source, .commonModes)
                    CFRunLoopAddTimer(loop, timer, .defaultMode)
                    CFRunLoopSourceSignal(source)
                    CFRunLoopWakeUp(loop)
                    CFRunLoopPerformBlock(loop, kCFRunLoopDefaultMode) { calls.increment() }
                    if random.oneIn(2) { CFRunLoopRemoveSource(loop, source, .commonModes) }
                    if random.oneIn(2) { CFRunLoopTimerSetNextFireDate(timer, 0) }
                    if random.oneIn(2) { CFRunLoopRemoveTimer(loop, timer, .defaultMode) }
                    if random.oneIn(3) { CFRunLoopSourceInvalidate(source) }
                    if random.oneIn(3) { CFRunLoopTimerInvalidate(timer) }
                }
            }
        }
        for hand in hands { hand.join() }
        CFRunLoopStop(loops.withLock { $0 })
        loops.withLock { $0 = nil }
        thread.join()
        #expect(open.withLock { $0 } == 0)
        #expect(calls.withLock { $0 } > 0)
    }

    @Test func `An item added by one thread and removed by another is retained exactly while it is in the loop`() {
        TestThread.run {
            let loop = Locked(CFRunLoopGetCurrent()!)
            for _ in 0..<(isFull ? 5_000 : 500) {
                let (open, calls) = (Locked(0), Locked(0))
                let timer = Locked<CFRunLoopTimer?>(countedTimer(open, calls, interval: 0))
                let ready = Locked(0)
                let hands = [true, false].map { adds in
                    TestThread {
                        let (loop, timer) = (loop.withLock { $0 }, timer.withLock { $0 })
                        ready.increment()
                        while ready.withLock({ $0 }) < 2 { sched_yield() }
                        for _ in 0..<3 {
                            if adds {
                                CFRunLoopAddTimer(loop, timer, .defaultMode)
                            } else {
                                CFRunLoopRemoveTimer(loop, timer, .defaultMode)
                            }
                        }
                    }
                }
                for hand in hands { hand.join() }
                let native = loop.withLock { $0 }
                let isIn = CFRunLoopContainsTimer(native, timer.withLock { $0 }, .defaultMode)
                timer.withLock { $0 = nil }
                #expect(open.withLock { $0 } == (isIn ? 1 : 0))
                #expect((CFRunLoopGetNextTimerFireDate(native, .defaultMode) != 0) == isIn)
                // Only the loop knows the timer now: it fires, once, and is released.
                if isIn { #expect(CFRunLoopRunInMode(.defaultMode, 1000, false) == .finished) }
                #expect(calls.withLock { $0 } == (isIn ? 1 : 0))
                #expect(open.withLock { $0 } == 0)
            }
        }
    }

    @Test func `An add that races with a remove retains the item again`() {
        TestThread.run {
            let loop = CFRunLoopGetCurrent()!
            let (open, calls) = (Locked(0), Locked(0))
            do {
                let timer = countedTimer(open, calls, interval: 0)
                let face = TimerFace.of(timer, "")
                face.add(face.native, to: LoopFace.of(loop, "")) {
                    // What another thread does at the worst moment: after the first hold, and before the add.
                    CFRunLoopRemoveTimer(loop, timer, .defaultMode)
                    return $0.add(face.native, in: .default)
                }
            }
            #expect(CFRunLoopRunInMode(.defaultMode, 1000, false) == .finished)
            #expect(calls.withLock { $0 } == 1)
            #expect(open.withLock { $0 } == 0)
        }
    }

    @Test func `CFRunLoop and RunLoop of a thread share their items`() {
        TestThread.run {
            let loop = CFRunLoopGetCurrent()!
            #expect(loop.native === RunLoop.current)
            #expect(address(RunLoop.current.coreFoundation) == address(loop))
            let timer = RunLoop.Timer(.after(.zero)) { _ in CFRunLoopStop(loop) }
            loop.native.add(timer, in: .common)
            #expect(CFRunLoopGetNextTimerFireDate(loop, .defaultMode) > 0)
            #expect(CFRunLoopRunInMode(.defaultMode, 1000, false) == .stopped)
        }
    }
}

/// What an item's info is retained and released in.
private final class Tally {
    let open: Locked<Int>
    let calls: Locked<Int>

    init(_ open: Locked<Int>, _ calls: Locked<Int>) {
        self.open = open
        self.calls = calls
        open.increment()
    }

    deinit { open.withLock { $0 -= 1 } }
}

private let retain: @convention(c) (UnsafeRawPointer?) -> UnsafeRawPointer? = {
    UnsafeRawPointer(Unmanaged<Tally>.fromOpaque($0!).retain().toOpaque())
}
private let release: @convention(c) (UnsafeRawPointer?) -> Void = { Unmanaged<Tally>.fromOpaque($0!).release() }

private func counted(_ open: Locked<Int>, _ calls: Locked<Int>) -> CFRunLoopSource {
    let tally = Tally(open, calls)
    var context = CFRunLoopSourceContext()
    context.info = Unmanaged.passUnretained(tally).toOpaque()
    (context.retain, context.release) = (retain, release)
    context.perform = { Unmanaged<Tally>.fromOpaque($0!).takeUnretainedValue().calls.increment() }
    return withExtendedLifetime(tally) { CFRunLoopSourceCreate(nil, 0, &context) }
}

private func countedTimer(_ open: Locked<Int>, _ calls: Locked<Int>, interval: CFTimeInterval) -> CFRunLoopTimer {
    let tally = Tally(open, calls)
    var context = CFRunLoopTimerContext()
    context.info = Unmanaged.passUnretained(tally).toOpaque()
    (context.retain, context.release) = (retain, release)
    return withExtendedLifetime(tally) {
        CFRunLoopTimerCreate(
            nil, 0, interval, 0, 0,
            { timer, info in
                _ = CFRunLoopTimerGetNextFireDate(timer)
                Unmanaged<Tally>.fromOpaque(info!).takeUnretainedValue().calls.increment()
            }, &context)
    }
}
