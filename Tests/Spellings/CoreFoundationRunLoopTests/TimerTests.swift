// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CoreFoundationRunLoop
import RunLoopsTestSupport
import Testing

/// Timers, observers and blocks under Core Foundation's names.
@Suite(.ownThread) struct TimerTests {
    @Test func `A repeating timer calls its function with itself and its info`() {
        TestThread.run {
            let counter = Counter()
            var context = CFRunLoopTimerContext()
            context.info = counter.pointer
            let timer = CFRunLoopTimerCreate(
                nil, CFAbsoluteTimeGetCurrent(), 0.001, 0, 0,
                { timer, info in
                    let counter = Counter.of(info)
                    counter.count += 1
                    counter.seen = timer.map(address)
                    if counter.count == 3 { CFRunLoopTimerInvalidate(timer) }
                }, &context)!
            CFRunLoopAddTimer(CFRunLoopGetCurrent(), timer, .commonModes)
            #expect(CFRunLoopRunInMode(.defaultMode, 1000, false) == .finished)
            #expect(counter.count == 3)
            #expect(counter.seen == address(timer))
            #expect(!CFRunLoopTimerIsValid(timer))
        }
    }

    @Test func `A timer released after it was added still fires`() {
        TestThread.run {
            let count = Box(0)
            CFRunLoopAddTimer(
                CFRunLoopGetCurrent(),
                CFRunLoopTimerCreateWithHandler(nil, CFAbsoluteTimeGetCurrent() + 0.001, 0, 0, 0) { timer in
                    #expect(CFGetTypeID(timer) == CFRunLoopTimerGetTypeID())
                    count.value += 1
                }, .defaultMode)
            CFRunLoopRun()
            #expect(count.value == 1)
        }
    }

    @Test func `CFRunLoopTimerGetNextFireDate returns the date that was set, and 0 after invalidation`() {
        TestThread.run {
            let date = CFAbsoluteTimeGetCurrent() + 5000
            let timer = CFRunLoopTimerCreateWithHandler(nil, date, 7, 0, 3) { _ in }
            #expect(CFRunLoopTimerGetNextFireDate(timer) == date)
            #expect(CFRunLoopTimerGetInterval(timer) == 7)
            #expect(CFRunLoopTimerDoesRepeat(timer))
            #expect(CFRunLoopTimerGetOrder(timer) == 3)
            CFRunLoopTimerSetNextFireDate(timer, date + 1)
            #expect(CFRunLoopTimerGetNextFireDate(timer) == date + 1)
            CFRunLoopAddTimer(CFRunLoopGetCurrent(), timer, .defaultMode)
            let next = CFRunLoopGetNextTimerFireDate(CFRunLoopGetCurrent(), .defaultMode)
            #expect(abs(next - date - 1) < 100)
            #expect(CFRunLoopGetNextTimerFireDate(CFRunLoopGetCurrent(), CFRunLoopMode("empty")) == 0)
            CFRunLoopTimerInvalidate(timer)
            #expect(CFRunLoopTimerGetNextFireDate(timer) == 0)
        }
    }

    @Test(arguments: [-1e9, -1e30, Double.nan, CFAbsoluteTimeGetCurrent() - 100])
    func `CFRunLoopTimerGetNextFireDate of a repeating timer whose date has passed counts from its fire`(date: Double) {
        TestThread.run {
            let fired = Box(0)
            let begin = CFAbsoluteTimeGetCurrent()
            let timer = CFRunLoopTimerCreateWithHandler(nil, date, 5000, 0, 0) { _ in fired.value += 1 }
            CFRunLoopAddTimer(CFRunLoopGetCurrent(), timer, .defaultMode)
            for round in 1...2 {
                let given = CFRunLoopTimerGetNextFireDate(timer)
                #expect(given == date || given.isNaN && date.isNaN)
                #expect(CFRunLoopRunInMode(.defaultMode, 0, false) == .timedOut)
                #expect(fired.value == round)
                let next = CFRunLoopTimerGetNextFireDate(timer) - 5000
                // The two clocks may run at slightly different rates.
                #expect(next > begin - 1 && next < CFAbsoluteTimeGetCurrent() + 1)
                CFRunLoopTimerSetNextFireDate(timer, date)
            }
            CFRunLoopTimerInvalidate(timer)
        }
    }

    @Test func `Dates out of range are clamped`() {
        TestThread.run {
            let fired = Box(0)
            let past = CFRunLoopTimerCreateWithHandler(nil, -1e30, 0, 0, 0) { _ in fired.value += 1 }
            #expect(CFRunLoopTimerGetNextFireDate(past) == -1e30)
            let never = CFRunLoopTimerCreateWithHandler(nil, 1e30, 0, 0, 0) { _ in Issue.record("It is early.") }
            #expect(CFRunLoopTimerGetNextFireDate(never) == 4_039_289_856)
            let unordered = CFRunLoopTimerCreateWithHandler(nil, .nan, .nan, 0, 0) { _ in fired.value += 1 }
            for timer in [past, never, unordered] { CFRunLoopAddTimer(CFRunLoopGetCurrent(), timer, .defaultMode) }
            #expect(CFRunLoopRunInMode(.defaultMode, 0, false) == .timedOut)
            #expect(fired.value == 2)
            #expect(!CFRunLoopTimerIsValid(past))
            CFRunLoopTimerInvalidate(never)
        }
    }

    @Test(arguments: [0, -0.5, -1e300, -Double.infinity]) func `A timer with an interval of zero or less fires once`(
        interval: Double
    ) {
        TestThread.run {
            let count = Box(0)
            let timer = CFRunLoopTimerCreateWithHandler(nil, 0, interval, 0, 0) { _ in count.value += 1 }
            #expect(!CFRunLoopTimerDoesRepeat(timer))
            #expect(CFRunLoopTimerGetInterval(timer) == 0)
            CFRunLoopAddTimer(CFRunLoopGetCurrent(), timer, .defaultMode)
            CFRunLoopRun()
            #expect(count.value == 1)
        }
    }

    @Test func `A tolerance is clamped to half the interval`() {
        let timer = CFRunLoopTimerCreateWithHandler(nil, 0, 4, 0, 0) { _ in }
        #expect(CFRunLoopTimerGetTolerance(timer) == 0)
        CFRunLoopTimerSetTolerance(timer, 0.5)
        #expect(CFRunLoopTimerGetTolerance(timer) == 0.5)
        CFRunLoopTimerSetTolerance(timer, 1000)
        #expect(CFRunLoopTimerGetTolerance(timer) == 2)
        CFRunLoopTimerSetTolerance(timer, -1)
        #expect(CFRunLoopTimerGetTolerance(timer) == 0)
    }

    @Test func `A loop refuses a timer of another loop`() {
        TestThread.run {
            let timer = CFRunLoopTimerCreateWithHandler(nil, .infinity, 1, 0, 0) { _ in }!
            CFRunLoopAddTimer(CFRunLoopGetCurrent(), timer, .defaultMode)
            nonisolated(unsafe) let shared = timer
            TestThread.run {
                CFRunLoopAddTimer(CFRunLoopGetCurrent(), shared, .defaultMode)
                #expect(!CFRunLoopContainsTimer(CFRunLoopGetCurrent(), shared, .defaultMode))
            }
            CFRunLoopRemoveTimer(CFRunLoopGetCurrent(), timer, .defaultMode)
            TestThread.run {
                CFRunLoopAddTimer(CFRunLoopGetCurrent(), shared, .defaultMode)
                #expect(CFRunLoopContainsTimer(CFRunLoopGetCurrent(), shared, .defaultMode))
            }
        }
    }

    // MARK: Observers

    @Test func `Observers are called with each activity in ascending order`() {
        TestThread.run {
            let loop = CFRunLoopGetCurrent()
            let log = Log()
            var context = CFRunLoopObserverContext()
            context.info = Unmanaged.passUnretained(log).toOpaque()
            let second = CFRunLoopObserverCreate(
                nil, CFRunLoopActivity.allActivities.rawValue, true, 2,
                { observer, activity, info in
                    let log = Unmanaged<Log>.fromOpaque(info!).takeUnretainedValue()
                    log.lines.append("second \(activity.rawValue) \(CFRunLoopObserverGetOrder(observer))")
                }, &context)
            let first = CFRunLoopObserverCreateWithHandler(nil, CFRunLoopActivity.entry.rawValue, false, 1) {
                log.lines.append("first \($1.rawValue) \(CFRunLoopObserverGetOrder($0))")
            }
            #expect(CFRunLoopObserverDoesRepeat(second) && !CFRunLoopObserverDoesRepeat(first))
            #expect(CFRunLoopObserverGetActivities(first) == 1)
            let timer = CFRunLoopTimerCreateWithHandler(nil, .infinity, 0, 0, 0) { _ in }
            CFRunLoopAddTimer(loop, timer, .defaultMode)
            CFRunLoopAddObserver(loop, second, .commonModes)
            CFRunLoopAddObserver(loop, first, .commonModes)
            for _ in 0..<2 { CFRunLoopRunInMode(.defaultMode, 0, false) }
            let run = ["second 1 2", "second 2 2", "second 4 2", "second 128 2"]
            #expect(log.lines == ["first 1 1"] + run + run)
            #expect(!CFRunLoopObserverIsValid(first))
            #expect(CFRunLoopContainsObserver(loop, second, .defaultMode))
            CFRunLoopRemoveObserver(loop, second, .commonModes)
            #expect(!CFRunLoopContainsObserver(loop, second, .defaultMode))
            #expect(CFRunLoopObserverIsValid(second))
            CFRunLoopTimerInvalidate(timer)
        }
    }

    // MARK: Blocks

    @Test func `Blocks run in order in the modes of a string, an array or a set`() {
        TestThread.run {
            let loop = CFRunLoopGetCurrent()
            let log = Log()
            var callbacks = kCFTypeArrayCallBacks
            let other = CFRunLoopMode("other").rawValue
            var names: [UnsafeRawPointer?] = [kCFRunLoopDefaultMode, other].map {
                UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque())
            }
            let array = CFArrayCreate(nil, &names, 2, &callbacks)
            var setCallbacks = kCFTypeSetCallBacks
            let set = CFSetCreate(nil, &names, 2, &setCallbacks)
            CFRunLoopPerformBlock(loop, other) { log.lines.append("other") }
            CFRunLoopPerformBlock(loop, kCFRunLoopDefaultMode) { log.lines.append("default") }
            CFRunLoopPerformBlock(loop, kCFRunLoopCommonModes) { log.lines.append("common") }
            CFRunLoopPerformBlock(loop, array) { log.lines.append("array") }
            CFRunLoopPerformBlock(loop, set) { log.lines.append("set") }
            CFRunLoopPerformBlock(loop, set, nil)
            #expect(CFRunLoopRunInMode(.defaultMode, 0, false) == .timedOut)
            #expect(log.lines == ["default", "common", "array", "set"])
            CFRunLoopRunInMode(CFRunLoopMode("other"), 0, false)
            #expect(log.lines.last == "other")
        }
    }
}

/// An info that counts the calls.
final class Counter {
    var count = 0
    var seen: UInt?

    var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }
    static func of(_ info: UnsafeMutableRawPointer?) -> Counter {
        Unmanaged<Counter>.fromOpaque(info!).takeUnretainedValue()
    }
}

final class Log {
    var lines: [String] = []
}
