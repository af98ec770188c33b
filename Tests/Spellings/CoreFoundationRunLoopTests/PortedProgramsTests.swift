// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CoreFoundationRunLoop
import RunLoopsTestSupport
import Testing

/// Three shapes of programs that were written for Apple's systems, without a line for Linux.
@Suite(.ownThread) struct PortedProgramsTests {
    // MARK: A lock that runs the loop until it is unlocked, as reactive libraries wait in tests

    @Test func `A run-loop lock waits until a callback of another thread unlocks it`() {
        TestThread.run {
            let lock = LoopLock(timeout: nil)
            let isDone = Locked(false)
            nonisolated(unsafe) let shared = lock
            lock.dispatch {
                TestThread {
                    isDone.withLock { $0 = true }
                    shared.stop()
                }.join()
            }
            #expect(lock.run())
            #expect(isDone.withLock { $0 })
        }
    }

    @Test func `A run-loop lock returns false when its timeout is over`() {
        TestThread.run {
            let lock = LoopLock(timeout: 0.001)
            #expect(!lock.run())
        }
    }

    @Test func `Run-loop locks can be nested`() {
        TestThread.run {
            let outer = LoopLock(timeout: nil)
            let log = Log()
            outer.dispatch {
                let inner = LoopLock(timeout: nil)
                inner.dispatch {
                    log.lines.append("inner")
                    inner.stop()
                }
                #expect(inner.run())
                log.lines.append("outer")
                outer.stop()
            }
            #expect(outer.run())
            #expect(log.lines == ["inner", "outer"])
        }
    }

    // MARK: An application that is driven by observers and a source

    @Test func `An application handles two waiting events before its first commit and ends after quit`() {
        TestThread.run {
            let application = Application()
            application.send("open")
            application.send("draw")
            application.after(0.001) { $0.send("quit") }
            application.run()
            #expect(application.log.lines.filter { $0 != "commit" } == ["event open", "event draw", "event quit"])
            let firstCommit = application.log.lines.firstIndex(of: "commit")
            #expect(firstCommit == 2, "both events come before the turn ends: \(application.log.lines)")
        }
    }

    // MARK: A scheduler

    @Test func `A scheduler runs its work by date, repeats it and cancels it`() {
        TestThread.run {
            let scheduler = Scheduler(CFRunLoopGetCurrent(), .commonModes)
            let log = Log()
            scheduler.schedule { log.lines.append("now") }
            // Half a second: so long no thread is kept from the next line.
            scheduler.schedule(after: 0.5) { log.lines.append("late") }
            scheduler.schedule(after: 0.002) { log.lines.append("early") }
            let cancelled = scheduler.schedule(after: 0.003) { Issue.record("This work was cancelled.") }
            cancelled.cancel()
            var ticks = 0
            var ticker: Scheduler.Work?
            ticker = scheduler.schedule(after: 0.005, every: 0.001) {
                ticks += 1
                if ticks == 3 { ticker?.cancel() }
            }
            CFRunLoopRun()
            #expect(log.lines == ["now", "early", "late"])
            #expect(ticks == 3)
        }
    }
}

/// Runs the loop that made it until `stop`, from any thread, or until its time is over.
private final class LoopLock {
    private let loop: CFRunLoop = CFRunLoopGetCurrent()
    private let timeout: CFTimeInterval?
    private let calls = Locked(0)

    init(timeout: CFTimeInterval?) { self.timeout = timeout }

    func dispatch(_ action: @escaping () -> Void) {
        CFRunLoopPerformBlock(loop, CFRunLoopMode.defaultMode.rawValue, action)
        CFRunLoopWakeUp(loop)
    }

    func stop() {
        guard calls.incremented() == 1 else { return }
        CFRunLoopPerformBlock(loop, CFRunLoopMode.defaultMode.rawValue) { [loop] in CFRunLoopStop(loop) }
        CFRunLoopWakeUp(loop)
    }

    func run() -> Bool {
        // A mode without a timer, a source or a block would end the run at once.
        let keeper = CFRunLoopTimerCreateWithHandler(nil, .infinity, 0, 0, 0) { _ in }
        CFRunLoopAddTimer(loop, keeper, .defaultMode)
        defer { CFRunLoopTimerInvalidate(keeper) }
        switch CFRunLoopRunInMode(.defaultMode, timeout ?? 1e20, false) {
        case .stopped: return true
        case .timedOut: return false
        case .finished, .handledSource: fatalError("The run has a timer and does not return after a source.")
        @unknown default: fatalError("There are four results.")
        }
    }
}

/// An application whose events come by a source, and which commits its changes before the loop sleeps.
private final class Application {
    let log = Log()
    private let loop: CFRunLoop = CFRunLoopGetCurrent()
    private var events: [String] = []
    private var source: CFRunLoopSource?
    private var observer: CFRunLoopObserver?
    private var isRunning = false

    init() {
        var context = CFRunLoopSourceContext(
            version: 0, info: Unmanaged.passUnretained(self).toOpaque(), retain: nil, release: nil,
            copyDescription: nil, equal: nil, hash: nil, schedule: nil, cancel: nil,
            perform: { Unmanaged<Application>.fromOpaque($0!).takeUnretainedValue().takeEvents() })
        source = CFRunLoopSourceCreate(kCFAllocatorDefault, 0, &context)
        CFRunLoopAddSource(loop, source, .commonModes)
        let activities = CFRunLoopActivity.beforeWaiting.rawValue | CFRunLoopActivity.exit.rawValue
        observer = CFRunLoopObserverCreateWithHandler(kCFAllocatorDefault, activities, true, 2_000_000) {
            [unowned self] _, _ in
            log.lines.append("commit")
        }
        CFRunLoopAddObserver(loop, observer, .commonModes)
    }

    func send(_ event: String) {
        events.append(event)
        CFRunLoopSourceSignal(source)
        CFRunLoopWakeUp(loop)
    }

    func after(_ delay: CFTimeInterval, _ body: @escaping (Application) -> Void) {
        let date = CFAbsoluteTimeGetCurrent() + delay
        let timer = CFRunLoopTimerCreateWithHandler(kCFAllocatorDefault, date, 0, 0, 0) { [unowned self] _ in body(self)
        }
        CFRunLoopAddTimer(loop, timer, .commonModes)
    }

    func run() {
        isRunning = true
        while isRunning { CFRunLoopRunInMode(.defaultMode, 1e20, true) }
        CFRunLoopSourceInvalidate(source)
        CFRunLoopObserverInvalidate(observer)
    }

    private func takeEvents() {
        for event in events {
            log.lines.append("event \(event)")
            if event == "quit" { isRunning = false }
        }
        events = []
    }
}

/// Work for a loop: now, later, or again and again.
private struct Scheduler {
    final class Work {
        fileprivate var timer: CFRunLoopTimer?

        func cancel() { if let timer { CFRunLoopTimerInvalidate(timer) } }
    }

    private let loop: CFRunLoop
    private let mode: CFRunLoopMode

    init(_ loop: CFRunLoop, _ mode: CFRunLoopMode) {
        self.loop = loop
        self.mode = mode
    }

    func schedule(_ body: @escaping () -> Void) {
        CFRunLoopPerformBlock(loop, mode.rawValue, body)
        CFRunLoopWakeUp(loop)
    }

    @discardableResult
    func schedule(after delay: CFTimeInterval, every interval: CFTimeInterval = 0, _ body: @escaping () -> Void) -> Work
    {
        let work = Work()
        let date = CFAbsoluteTimeGetCurrent() + delay
        work.timer = CFRunLoopTimerCreateWithHandler(kCFAllocatorDefault, date, interval, 0, 0) { _ in body() }
        CFRunLoopTimerSetTolerance(work.timer, interval / 10)
        CFRunLoopAddTimer(loop, work.timer, mode)
        return work
    }
}
