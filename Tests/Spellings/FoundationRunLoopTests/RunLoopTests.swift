// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import FoundationRunLoop
import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

import class FoundationRunLoop.RunLoop
import class FoundationRunLoop.Timer

/// Finding loops, running them, and closures on them.
@Suite(.ownThread) struct RunLoopTests {
    @Test func `RunLoop.current is one object for each thread, and its native loop's foundation is that object`() {
        let isSame = TestThread.run {
            let loop = RunLoop.current
            return loop === RunLoop.current && loop.native === RunLoops.RunLoop.current
                && loop.native.foundation === loop && loop != RunLoop.main
        }
        #expect(isSame)
        #expect(RunLoop.main === RunLoop.main)
        #expect(RunLoop.main.native === RunLoops.RunLoop.main)
    }

    @Test func `getCFRunLoop returns the Core Foundation object of the same loop`() {
        TestThread.run {
            let loop = RunLoop.current
            #expect(loop.getCFRunLoop() === CFRunLoopGetCurrent())
            #expect(loop.getCFRunLoop() === loop.getCFRunLoop())
            #expect(loop.getCFRunLoop().native === loop.native)
            let timer = Timer(timeInterval: 3600, repeats: false) { _ in Issue.record("An hour cannot have passed.") }
            loop.add(timer, forMode: .default)
            let next = CFRunLoopGetNextTimerFireDate(loop.getCFRunLoop(), .defaultMode)
            #expect(next > CFAbsoluteTimeGetCurrent() + 3000)
            CFRunLoopPerformBlock(loop.getCFRunLoop(), CFRunLoopMode.defaultMode.rawValue) {
                CFRunLoopStop(CFRunLoopGetCurrent())
            }
            #expect(loop.run(mode: .default, before: .distantFuture))
            timer.invalidate()
        }
    }

    @Test func `A plain Port keeps a mode from being empty until it is removed or invalid`() {
        TestThread.run {
            let (loop, mode) = (RunLoop.current, RunLoop.Mode("ports"))
            let (port, other) = (Port(), Port())
            #expect(!loop.run(mode: mode, before: Date()))
            loop.add(port, forMode: mode)
            #expect(loop.run(mode: mode, before: Date()))
            loop.remove(port, forMode: mode)
            #expect(!loop.run(mode: mode, before: Date()))
            loop.add(other, forMode: mode)
            #expect(other.isValid && loop.run(mode: mode, before: Date()))
            other.invalidate()
            #expect(!other.isValid && !loop.run(mode: mode, before: Date()))
        }
    }

    @Test func `_stop() ends the innermost run`() {
        TestThread.run {
            let loop = RunLoop.current
            loop.add(Port(), forMode: .default)
            loop.perform { autoreleasepool { RunLoop.current._stop() } }
            #expect(loop.run(mode: .default, before: .distantFuture))
        }
    }

    @Test func `Two threads that look up a loop get the same object`() throws {
        try RunLoops.RunLoop.TestThread.with { thread in
            nonisolated(unsafe) let seen = thread.loop.foundation
            let isSame = try thread.sync { _ in RunLoop.current === seen }
            #expect(isSame)
        }
    }

    @Test func `A loop is released when its thread ends`() {
        let witness = Witness()
        let native = TestThread.run {
            witness.watch(RunLoop.current)
            return RunLoop.current.native
        }
        #expect(witness.isGone)
        // A dead loop does nothing and keeps nothing.
        let late = Witness()
        late.watch(native.foundation)
        #expect(late.isGone)
    }

    @Test func `Modes have Apple's names`() {
        #expect(RunLoop.Mode.default.rawValue == "kCFRunLoopDefaultMode")
        #expect(RunLoop.Mode.common.rawValue == "kCFRunLoopCommonModes")
        #expect(RunLoop.Mode.tracking.rawValue == "UITrackingRunLoopMode")
        #expect(RunLoop.Mode.eventTracking.rawValue == "NSEventTrackingRunLoopMode")
        #expect(RunLoop.Mode.modalPanel.rawValue == "NSModalPanelRunLoopMode")
        #expect(RunLoop.Mode("a") == RunLoop.Mode(rawValue: "a"))
        #expect(RunLoop.Mode("a") != RunLoop.Mode("b"))
        #expect(RunLoop.Mode.default.native == .default)
    }

    // MARK: Running

    @Test func `A run in a mode without items returns false`() {
        ManualRunLoop.with { _ in
            #expect(!RunLoop.current.run(mode: .default, before: .distantFuture))
            #expect(!RunLoop.current.run(mode: .common, before: .distantFuture))
            #expect(!RunLoop.current.run(mode: RunLoop.Mode("private"), before: .distantFuture))
            #expect(RunLoop.current.limitDate(forMode: .default) == nil)
            // Neither of these waits for ever.
            RunLoop.current.run()
            RunLoop.current.run(until: .distantFuture)
            RunLoop.current.acceptInput(forMode: .default, before: .distantFuture)
            RunLoop.current.acceptInput(forMode: "kCFRunLoopDefaultMode", before: .distantFuture)
        }
    }

    @Test func `run(mode:before:) returns after one source but not after a timer`() {
        ManualRunLoop.with { manual in
            let lines = Locked<[String]>()
            let timer = Timer.scheduledTimer(withTimeInterval: 1, repeats: true) { _ in lines.note("timer") }
            let source = RunLoops.RunLoop.Source { _ in lines.note("source") }
            manual.loop.add(source, in: .default)
            manual.loop.performLocally(after: .milliseconds(3500)) { source.signal() }
            #expect(RunLoop.current.run(mode: .default, before: .distantFuture))
            #expect(lines.lines == ["timer", "timer", "timer", "source"])
            timer.invalidate()
        }
    }

    @Test func `A run ends at its date, at once if the date has passed`() {
        ManualRunLoop.with { manual in
            let fires = Locked<Int>()
            let timer = Timer.scheduledTimer(withTimeInterval: 1, repeats: true) { _ in fires.increment() }
            RunLoop.current.run(until: .distantPast)
            #expect(fires.count == 0)
            let start = manual.now
            #expect(RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 3600.5)))
            #expect((3000...3600).contains(fires.count))
            #expect(start.duration(to: manual.now) <= .milliseconds(3_600_500))
            timer.invalidate()
        }
    }

    @Test func `run continues after stops until its mode is empty`() {
        ManualRunLoop.with { manual in
            let fires = Locked<Int>()
            let native = manual.loop
            Timer.scheduledTimer(withTimeInterval: 1, repeats: true) { timer in
                native.stop()
                if fires.incremented() == 3 { timer.invalidate() }
            }
            RunLoop.current.run()
            #expect(fires.count == 3)
        }
    }

    @Test func `currentMode is the mode of the innermost run`() {
        ManualRunLoop.with { _ in
            #expect(RunLoop.current.currentMode == nil)
            let seen = Locked<[RunLoop.Mode?]>([])
            RunLoop.current.perform {
                seen.withLock { $0.append(RunLoop.current.currentMode) }
                RunLoop.current.perform(inModes: [.modalPanel]) {
                    seen.withLock { $0.append(RunLoop.current.currentMode) }
                }
                RunLoop.current.run(mode: .modalPanel, before: .distantPast)
                seen.withLock { $0.append(RunLoop.current.currentMode) }
            }
            RunLoop.current.run(mode: .default, before: .distantPast)
            #expect(seen.copy == [.default, .modalPanel, .default])
        }
    }

    @Test func `limitDate serves ready items and returns the next timer's date`() {
        ManualRunLoop.with { manual in
            let fires = Locked<Int>()
            Timer.scheduledTimer(withTimeInterval: 0.1, repeats: false) { _ in fires.increment() }
            let date = Date(timeIntervalSinceNow: 3600)
            let later = Timer(fire: date, interval: 0, repeats: false) { _ in fires.increment() }
            RunLoop.current.add(later, forMode: .default)
            let first = RunLoop.current.limitDate(forMode: .default)
            #expect(first.map { $0 < date } == true)
            #expect(fires.count == 0)
            manual.advance(by: .milliseconds(100))
            #expect(fires.count == 1)
            // The source keeps the mode alive, and no timer is left.
            manual.loop.add(RunLoops.RunLoop.Source { _ in }, in: .default)
            later.invalidate()
            #expect(RunLoop.current.limitDate(forMode: .default) == .distantFuture)
        }
    }

    // MARK: Closures

    @Test func `Closures run in their modes and in order`() {
        ManualRunLoop.with { manual in
            let lines = Locked<[String]>()
            RunLoop.current.perform { lines.note("1") }
            RunLoop.current.perform(inModes: [.tracking]) { lines.note("tracking") }
            RunLoop.current.perform(inModes: [.default, .tracking]) { lines.note("2") }
            RunLoop.current.perform(inModes: []) { lines.note("never") }
            manual.advance(by: .zero)
            #expect(lines.lines == ["1", "2"])
            manual.advance(by: .zero, in: .tracking)
            #expect(lines.lines == ["1", "2", "tracking"])
        }
    }

    @Test func `A closure from another thread wakes a sleeping loop`() throws {
        try RunLoops.RunLoop.TestThread.with { thread in
            let done = Permit()
            thread.loop.foundation.perform { done.signal() }
            done.wait()
        }
    }

    @Test func `perform(waitUntilDone:) returns after the closure has run`() throws {
        let lines = Locked<[String]>()
        try RunLoops.RunLoop.TestThread.with { thread in
            thread.loop.foundation.perform(waitUntilDone: true) { lines.note("there") }
            #expect(lines.lines == ["there"])
        }
        ManualRunLoop.with { _ in
            RunLoop.current.perform(waitUntilDone: true) { lines.note("here") }
            #expect(lines.lines == ["there", "here"])
        }
    }

    @Test func `perform(waitUntilDone:) is an input source: it ends run(mode:before:), in the order of the calls`()
        throws
    {
        let lines = Locked<[String]>()
        let loop = RunLoop.current
        let native = loop.native
        loop.perform(waitUntilDone: false) { lines.note("a") }
        loop.perform(inModes: [.default, .tracking], waitUntilDone: false) { lines.note("b") }
        loop.perform(inModes: [], waitUntilDone: false) { lines.note("never") }
        loop.perform(inModes: [.tracking], waitUntilDone: false) { lines.note("tracking") }
        // The mode has nothing else.
        #expect(loop.run(mode: .default, before: .distantFuture))
        #expect(lines.lines == ["a", "b"])
        #expect(!loop.run(mode: .default, before: .distantFuture))
        #expect(loop.run(mode: .tracking, before: .distantFuture))
        #expect(lines.lines == ["a", "b", "tracking"])
        #expect(native.isEmpty(in: .default) && native.isEmpty(in: .tracking))
        // From another thread: the run of a worker that checks a condition ends each time.
        let worker = Locked<RunLoop?>(nil)
        let (isCancelled, isThere) = (Locked(false), Permit())
        let thread = TestThread {
            let timer = Timer(timeInterval: 1e6, repeats: true) { _ in }
            RunLoop.current.add(timer, forMode: .default)
            worker.withLock { $0 = RunLoop.current }
            isThere.signal()
            while !isCancelled.copy, RunLoop.current.run(mode: .default, before: .distantFuture) {}
            timer.invalidate()
        }
        isThere.wait()
        worker.copy?.perform(waitUntilDone: true) { lines.note("waited") }
        #expect(lines.lines.last == "waited")
        worker.copy?.perform(waitUntilDone: false) { isCancelled.withLock { $0 = true } }
        thread.join()
    }

    @Test func `Requests run in ascending order, and requests of equal order run first in, first out`() {
        ManualRunLoop.with { manual in
            let (lines, target) = (Locked<[String]>(), Token())
            for (text, order) in [("c", 7), ("a", -1), ("d", 7), ("b", 0)] {
                RunLoop.current.perform(target: target, order: order) { lines.note(text) }
            }
            RunLoop.current.perform(target: target, order: -9, modes: [.tracking]) { lines.note("tracking") }
            manual.advance(by: .zero)
            #expect(lines.lines == ["a", "b", "c", "d"])
            manual.advance(by: .zero, in: .tracking)
            #expect(lines.lines == ["a", "b", "c", "d", "tracking"])
        }
    }

    @Test func `Requests of a target can be cancelled and are released`() {
        ManualRunLoop.with { manual in
            let (lines, mine, other, witness) = (Locked<[String]>(), Token(), Token(), Witness())
            do {
                let token = witness.makeToken()
                RunLoop.current.perform(target: mine, order: 0) { lines.note("mine \(token)") }
                RunLoop.current.perform(target: mine, afterDelay: 1) { lines.note("mine later \(token)") }
            }
            RunLoop.current.perform(target: other, order: 0) { lines.note("other") }
            RunLoop.current.perform(target: other, afterDelay: 1) { lines.note("other later") }
            RunLoop.current.cancelPerforms(withTarget: mine)
            #expect(witness.isGone)
            manual.advance(by: .milliseconds(999))
            #expect(lines.lines == ["other"])
            manual.advance(by: .milliseconds(1))
            #expect(lines.lines == ["other", "other later"])
        }
    }

    @Test func `Requests are released when their thread ends`() {
        let witness = Witness()
        TestThread.run {
            let token = witness.makeToken()
            RunLoop.current.perform(target: token, afterDelay: 1000, inModes: [.default, .common]) { _ = token }
            RunLoop.current.perform(target: token, order: 0, modes: [.tracking]) { _ = token }
            RunLoop.current.perform(inModes: [.tracking]) { _ = token }
        }
        #expect(witness.isGone)
    }
}
