// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

@preconcurrency import CoreFoundation
import Foundation
import RunLoopsTestSupport
import Testing

/// The sections "What Apple's run loop does" of the guide's questions, as programs on the real loops in Foundation on Linux.
///
/// Each test has the name of its page.
@Suite(.limited) struct QuestionTests {
    @Test func `CommonModes: a run in the common modes is finished at once`() {
        onThread { #expect(CFRunLoopRunInMode(kCFRunLoopCommonModes, 600, false) == .finished) }
    }

    @Test func `DelayedPerformNeverRuns: a timer of a thread fires when the thread runs its loop and not before`() {
        onThread {
            let lines = Lines()
            lines.all = [1]
            let timer = Timer(timeInterval: 0, repeats: false) { _ in lines.all.append(2) }
            Foundation.RunLoop.current.add(timer, forMode: .default)
            lines.all.append(3)
            #expect(lines.all == [1, 3])
            CFRunLoopRunInMode(kCFRunLoopDefaultMode, 600, false)
            #expect(lines.all == [1, 3, 2])
        }
    }

    @Test
    func `FourResults: a run stopped by a source returns handledSource or stopped, and an unknown mode finished`() {
        onThread {
            for (returnsAfterSource, expected) in [(true, CFRunLoopRunResult.handledSource), (false, .stopped)] {
                let source = makeSource { CFRunLoopStop(CFRunLoopGetCurrent()) }
                CFRunLoopAddSource(CFRunLoopGetCurrent(), source, kCFRunLoopDefaultMode)
                CFRunLoopSourceSignal(source)
                #expect(CFRunLoopRunInMode(kCFRunLoopDefaultMode, 600, returnsAfterSource) == expected)
                CFRunLoopSourceInvalidate(source)
            }
            #expect(CFRunLoopRunInMode(mode("unknown"), 600, false) == .finished)
            #expect(CFRunLoopRunResult.finished.rawValue == 1)
            #expect(CFRunLoopRunResult.handledSource.rawValue == 4)
        }
    }

    @Test func `LoopEndsOrSpins: a run in an empty mode returns at once`() {
        onThread {
            #expect(CFRunLoopRunInMode(kCFRunLoopDefaultMode, 600, false) == .finished)
            #expect(!Foundation.RunLoop.current.run(mode: .default, before: .distantFuture))
        }
    }

    @Test func `ModesNobodySpeaksOf: waitUntilExit runs the default mode`() throws {
        try onThread {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/cat")
            let input = Pipe()
            process.standardInput = input
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            let (served, waiting) = (Count(), Count())
            let ending = Timer(timeInterval: 0.001, repeats: false) { _ in
                served.value += 1
                try? input.fileHandleForWriting.close()
            }
            Foundation.RunLoop.current.add(ending, forMode: .default)
            let other = Timer(timeInterval: 0.001, repeats: true) { _ in waiting.value += 1 }
            Foundation.RunLoop.current.add(other, forMode: Foundation.RunLoop.Mode("NSTaskDeathCheckMode"))
            process.waitUntilExit()
            other.invalidate()
            #expect(served.value == 1)
            #expect(waiting.value == 0)
        }
    }

    @Test func `PoolsOfATurn: observers of the least and the greatest order are called first and last`() {
        onThread {
            var calls: [String] = []
            func observe(_ activities: CFRunLoopActivity, _ order: CFIndex, _ name: String) {
                let observer = CFRunLoopObserverCreateWithHandler(nil, activities.rawValue, true, order) {
                    _, activity in
                    calls.append(
                        activity == .entry ? "entry \(name)" : activity == .exit ? "exit \(name)" : "sleep \(name)")
                }
                CFRunLoopAddObserver(CFRunLoopGetCurrent(), observer, kCFRunLoopDefaultMode)
            }
            observe([.entry], -2_147_483_647, "opens")
            observe([.beforeWaiting, .exit], 2_147_483_647, "empties")
            observe([.entry, .beforeWaiting, .exit], 0, "other")
            let timer = Timer(timeInterval: 0.01, repeats: false) { _ in CFRunLoopStop(CFRunLoopGetCurrent()) }
            Foundation.RunLoop.current.add(timer, forMode: .default)
            CFRunLoopRunInMode(kCFRunLoopDefaultMode, 600, false)
            #expect(Array(calls.prefix(4)) == ["entry opens", "entry other", "sleep other", "sleep empties"])
            #expect(Array(calls.suffix(2)) == ["exit other", "exit empties"])
        }
    }

    @Test func `RunNeverEnds: a stop ends CFRunLoopRun and not the run of Foundation's loop`() {
        onThread {
            let fires = Count()
            let timer = Timer(timeInterval: 0.001, repeats: true) { timer in
                fires.value += 1
                if fires.value == 5 { timer.invalidate() }
                CFRunLoopStop(CFRunLoopGetCurrent())
            }
            Foundation.RunLoop.current.add(timer, forMode: .default)
            CFRunLoopRun()
            #expect(fires.value == 1)
            // Returns when its last timer has gone.
            Foundation.RunLoop.current.run()
            #expect(fires.value == 5)
        }
    }

    @Test func `SignalWithoutWakeUp: a signalled source does not wake a thread that sleeps`() {
        let (performed, asleep) = (Flag(), DispatchSemaphore(value: 0))
        let shared = Shared()
        let thread = start {
            let loop = CFRunLoopGetCurrent()
            let source = makeSource {
                performed.set()
                CFRunLoopStop(CFRunLoopGetCurrent())
            }
            CFRunLoopAddSource(loop, source, kCFRunLoopDefaultMode)
            (shared.loop, shared.source) = (loop, source)
            let observer = CFRunLoopObserverCreateWithHandler(nil, CFRunLoopActivity.beforeWaiting.rawValue, false, 0) {
                _, _ in
                asleep.signal()
            }
            CFRunLoopAddObserver(loop, observer, kCFRunLoopDefaultMode)
            CFRunLoopRun()
        }
        asleep.wait()
        while !CFRunLoopIsWaiting(shared.loop) { usleep(100) }
        CFRunLoopSourceSignal(shared.source)
        usleep(50_000)
        #expect(!performed.isSet)
        CFRunLoopWakeUp(shared.loop)
        thread.wait()
        #expect(performed.isSet)
    }

    @Test func `TargetThreadExited: a block for the loop of an ended thread is never run`() {
        let shared = Shared()
        start { shared.loop = CFRunLoopGetCurrent() }.wait()
        let ran = Flag()
        CFRunLoopPerformBlock(shared.loop, kCFRunLoopDefaultMode) { ran.set() }
        CFRunLoopWakeUp(shared.loop)
        usleep(50_000)
        #expect(!ran.isSet)
    }

    @Test func `TheTurnStepByStep: a signalled source makes a second turn before the sleep`() {
        onThread {
            var steps: [String] = []
            let names: [(CFRunLoopActivity, String)] = [
                (.entry, "entry"), (.beforeTimers, "beforeTimers"), (.beforeSources, "beforeSources"),
                (.beforeWaiting, "beforeWaiting"), (.afterWaiting, "afterWaiting"), (.exit, "exit"),
            ]
            let observer = CFRunLoopObserverCreateWithHandler(nil, CFRunLoopActivity.allActivities.rawValue, true, 0) {
                _, activity in
                steps.append(names.first { $0.0 == activity }?.1 ?? "?")
            }
            CFRunLoopAddObserver(CFRunLoopGetCurrent(), observer, kCFRunLoopDefaultMode)
            let source = makeSource { steps.append("source") }
            CFRunLoopAddSource(CFRunLoopGetCurrent(), source, kCFRunLoopDefaultMode)
            CFRunLoopSourceSignal(source)
            let timer = CFRunLoopTimerCreateWithHandler(nil, CFAbsoluteTimeGetCurrent() + 0.05, 0, 0, 0) { _ in
                steps.append("timer")
                CFRunLoopStop(CFRunLoopGetCurrent())
            }
            CFRunLoopAddTimer(CFRunLoopGetCurrent(), timer, kCFRunLoopDefaultMode)
            CFRunLoopRunInMode(kCFRunLoopDefaultMode, 600, false)
            CFRunLoopSourceInvalidate(source)
            #expect(
                Array(steps.prefix(7)) == [
                    "entry", "beforeTimers", "beforeSources", "source", "beforeTimers", "beforeSources",
                    "beforeWaiting",
                ])
            #expect(Array(steps.suffix(3)) == ["afterWaiting", "timer", "exit"])
        }
    }

    @Test func `ThreadThatLives: an unsignalled source keeps a run from finishing, and an observer alone does not`() {
        onThread {
            let observer = CFRunLoopObserverCreateWithHandler(nil, CFRunLoopActivity.allActivities.rawValue, true, 0) {
                _, _ in
            }
            CFRunLoopAddObserver(CFRunLoopGetCurrent(), observer, kCFRunLoopDefaultMode)
            #expect(CFRunLoopRunInMode(kCFRunLoopDefaultMode, 600, false) == .finished)
            let source = makeSource {}
            CFRunLoopAddSource(CFRunLoopGetCurrent(), source, kCFRunLoopDefaultMode)
            #expect(CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0.01, false) == .timedOut)
            CFRunLoopSourceInvalidate(source)
        }
    }

    @Test func `ThreadThatWouldNotDie: a timer retains what its closure captures until it is invalidated`() {
        onThread {
            weak var held: Count?
            let timer: CFRunLoopTimer
            do {
                let object = Count()
                held = object
                timer = CFRunLoopTimerCreateWithHandler(nil, 0, 0.001, 0, 0) { _ in object.value += 1 }
                CFRunLoopAddTimer(CFRunLoopGetCurrent(), timer, kCFRunLoopDefaultMode)
            }
            CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0.02, false)
            #expect(held != nil)
            CFRunLoopTimerInvalidate(timer)
            #expect(held == nil)
        }
    }

    @Test func `TimerSkippedADate: a late timer fires once and continues on its grid`() {
        onThread {
            let start = CFAbsoluteTimeGetCurrent() + 0.1
            var dates: [CFAbsoluteTime] = []
            let timer = CFRunLoopTimerCreateWithHandler(nil, start, 0.1, 0, 0) { timer in
                dates.append(CFAbsoluteTimeGetCurrent() - start)
                if dates.count == 1 { usleep(250_000) }
                if dates.count == 3 { CFRunLoopTimerInvalidate(timer) }
            }
            CFRunLoopAddTimer(CFRunLoopGetCurrent(), timer, kCFRunLoopDefaultMode)
            CFRunLoopRunInMode(kCFRunLoopDefaultMode, 600, false)
            #expect(dates.count == 3)
            // The callout took the dates at 0.1 and 0.2: the next is at 0.3 or, where the machine was late, on a later point of the grid.
            #expect(dates[1] >= 0.3 - 0.001)
            #expect(dates[2] > dates[1])
            CFRunLoopTimerSetTolerance(timer, 1)
            #expect(CFRunLoopTimerGetTolerance(timer) == 0)
        }
    }

    @Test func `TimerStopsWhileScrolling: a timer in the default mode waits while another mode is run`() {
        onThread {
            let loop = CFRunLoopGetCurrent()
            let tracking = mode("UITrackingRunLoopMode")
            CFRunLoopAddCommonMode(loop, tracking)
            let (plain, common) = (Count(), Count())
            let timers = [
                Timer(timeInterval: 0.001, repeats: true) { _ in plain.value += 1 },
                Timer(timeInterval: 0.001, repeats: true) { _ in
                    common.value += 1
                    if common.value == 10 { CFRunLoopStop(CFRunLoopGetCurrent()) }
                },
            ]
            Foundation.RunLoop.current.add(timers[0], forMode: .default)
            Foundation.RunLoop.current.add(timers[1], forMode: .common)
            #expect(CFRunLoopRunInMode(tracking, 600, false) == .stopped)
            #expect(plain.value == 0)
            #expect(common.value == 10)
            for timer in timers { timer.invalidate() }
        }
    }

    @Test func `WhatIsAMode: a mode stays when its last item is removed`() {
        onThread {
            let timer = CFRunLoopTimerCreateWithHandler(nil, CFAbsoluteTimeGetCurrent() + 600, 0, 0, 0) { _ in }
            CFRunLoopAddTimer(CFRunLoopGetCurrent(), timer, mode("dialog"))
            CFRunLoopRemoveTimer(CFRunLoopGetCurrent(), timer, mode("dialog"))
            let modes = CFRunLoopCopyAllModes(CFRunLoopGetCurrent())
            let found = (0..<CFArrayGetCount(modes)).contains { index in
                // SAFETY: the array has strings.
                let name = Unmanaged<CFString>.fromOpaque(CFArrayGetValueAtIndex(modes, index)).takeUnretainedValue()
                return CFStringCompare(name, mode("dialog"), []) == .compareEqualTo
            }
            #expect(found)
        }
    }
}

private func mode(_ name: String) -> CFString {
    CFStringCreateWithCString(nil, name, CFStringBuiltInEncodings.UTF8.rawValue)
}

/// A signalled source with a closure.
private func makeSource(_ body: @escaping () -> Void) -> CFRunLoopSource {
    final class Body {
        let run: () -> Void
        init(_ run: @escaping () -> Void) { self.run = run }
    }
    var context = CFRunLoopSourceContext()
    // SAFETY: released by the source when it is freed.
    context.info = Unmanaged.passRetained(Body(body)).toOpaque()
    context.release = { Unmanaged<Body>.fromOpaque($0!).release() }
    context.perform = { Unmanaged<Body>.fromOpaque($0!).takeUnretainedValue().run() }
    return CFRunLoopSourceCreate(nil, 0, &context)
}

/// Runs a test on a thread of its own, whose loop has nothing in it.
private func onThread(_ body: @escaping () throws -> Void) rethrows {
    // SAFETY: the caller waits for the thread.
    nonisolated(unsafe) let body = body
    let failure = Shared()
    start { do { try body() } catch { failure.error = error } }.wait()
    if let error = failure.error { Issue.record(error) }
}

/// Starts a thread; the semaphore is signalled at its end.
private func start(_ body: @escaping () -> Void) -> DispatchSemaphore {
    nonisolated(unsafe) let body = body
    let ended = DispatchSemaphore(value: 0)
    Thread {
        body()
        ended.signal()
    }.start()
    return ended
}

// Used on the thread of its test alone, from closures that Foundation declares sendable.
private final class Count: @unchecked Sendable { var value = 0 }

private final class Lines: @unchecked Sendable { var all: [Int] = [] }

private final class Flag: @unchecked Sendable {
    private let lock = NSLock()
    private var value = false
    func set() { lock.withLock { value = true } }
    var isSet: Bool { lock.withLock { value } }
}

/// What one thread gives another before it signals a semaphore.
private final class Shared: @unchecked Sendable {
    var loop: CFRunLoop!
    var source: CFRunLoopSource!
    var error: (any Error)?
}
