// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import Testing

@testable import RunLoops

/// Descriptors that are closed, reused and duplicated behind the loop's back.
///
/// Numbers are reused with `dup2`, which takes the number in the same step: other tests of the process open descriptors
/// as well.
@Suite(.ownThread) struct StaleDescriptorTests {
    @Test func `The source added for a reused descriptor number is called and the old source is not`() {
        withRealLoop { loop in
            let old = DescriptorPair.pipe()
            let new = DescriptorPair.pipe()
            let number = old.first
            let stale = RunLoop.DescriptorSource(number, label: "old") { _, _ in
                Issue.record("the old one was called")
            }
            addDescriptorSource(stale, to: loop)
            // The number is the new pipe's now, and the old pipe is gone.
            #expect(dup2(new.first, number) == number)
            let calls = Box(0)
            addDescriptorSource(
                RunLoop.DescriptorSource(number, label: "new") { source, _ in
                    calls.value += 1
                    #expect(readText(source.descriptor) == "new")
                    loop.stop()
                }, to: loop)
            new.send("new")
            #expect(loop.runPlenty() == .stopped)
            #expect(calls.value == 1)
            stale.invalidate()
        }
    }

    @Test func `The loop refuses its own descriptors by name`() throws {
        let calls = CountingCalls()
        try withRealLoop(calls: calls) { loop in
            let pair = DescriptorPair.pipe()
            let first = RunLoop.DescriptorSource(pair.first) { _, _ in }
            addDescriptorSource(first, to: loop)
            // An epoll and the descriptor of wake-ups.
            #expect(calls.openNumbers.count == 2)
            // An epoll and a timer descriptor for each clock.
            _ = try loop.pollDescriptor
            #expect(calls.openNumbers.count == 6)
            // A timer descriptor in the mode.
            loop.add(RunLoop.Timer(.after(.milliseconds(1), clock: .realtime)) { _ in loop.stop() }, in: .default)
            #expect(loop.runPlenty() == .stopped)
            #expect(calls.openNumbers.count == 7)
            for number in calls.openNumbers {
                do throws(RunLoop.SystemCallError) {
                    try loop.add(RunLoop.DescriptorSource(number) { _, _ in }, in: .default)
                    Issue.record("descriptor \(number) was added")
                } catch {
                    #expect(error.code == EINVAL)
                    #expect("\(error)".contains("descriptor \(number), which belongs to the loop itself"))
                }
            }
            first.invalidate()
        }
    }

    @Test func `A number that the loop has closed can be watched`() {
        let calls = CountingCalls()
        withRealLoop(calls: calls) { loop in
            let pair = DescriptorPair.pipe()
            addDescriptorSource(RunLoop.DescriptorSource(pair.first) { _, _ in }, to: loop)
            let numbers = calls.openNumbers
            // A closed descriptor that a duplicate keeps open: the loop replaces its epoll, and closes the old one.
            let number = fcntl(pair.first, F_DUPFD_CLOEXEC, 900)
            let stale = RunLoop.DescriptorSource(number) { _, _ in }
            addDescriptorSource(stale, to: loop)
            close(number)
            stale.invalidate()
            loop.runTurn()
            let closed = numbers.subtracting(calls.openNumbers)
            #expect(closed.count == 1)
            for number in closed {
                do throws(RunLoop.SystemCallError) {
                    let source = RunLoop.DescriptorSource(number) { _, _ in }
                    try loop.add(source, in: .default)
                    source.invalidate()
                } catch {
                    // Not open, or another test's file.
                    #expect(!"\(error)".contains("belongs to the loop itself"))
                }
            }
        }
    }

    @Test func `A descriptor source that the system refuses leaves no mode and no descriptor`() {
        let calls = CountingCalls()
        withRealLoop(calls: calls) { loop in
            let pair = DescriptorPair.pipe()
            addDescriptorSource(RunLoop.DescriptorSource(pair.first) { _, _ in }, to: loop)
            loop.markCommon("common")
            for mode in ["new", .common] as [RunLoop.Mode] {
                let (modes, numbers) = (loop.modes, calls.openNumbers)
                // After the wake-up descriptor of the new mode's epoll, and the default mode.
                calls.failNext("epoll_add", with: ENOSPC, after: mode == .common ? 2 : 1)
                let source = RunLoop.DescriptorSource(pair.second) { _, _ in }
                #expect(throws: RunLoop.SystemCallError.self) { try loop.add(source, in: mode) }
                #expect(loop.modes == modes)
                #expect(calls.openNumbers == numbers)
                addDescriptorSource(source, to: loop, in: mode)
                loop.remove(source, from: mode)
            }
        }
    }

    @Test func `A source whose descriptor number was reused is removed and released`() {
        let witness = Witness()
        withRealLoop { loop in
            let token = witness.makeToken()
            let old = DescriptorPair.pipe()
            let new = DescriptorPair.pipe()
            let number = old.first
            let stale = RunLoop.DescriptorSource(number) { _, _ in withExtendedLifetime(token) {} }
            let fresh = RunLoop.DescriptorSource(number) { _, _ in withExtendedLifetime(token) {} }
            addDescriptorSource(stale, to: loop)
            #expect(dup2(new.first, number) == number)
            addDescriptorSource(fresh, to: loop)
            #expect(loop.contains(stale, in: .default))
            #expect(loop.contains(fresh, in: .default))
            stale.invalidate()
            #expect(!loop.contains(stale, in: .default))
            #expect(loop.contains(fresh, in: .default))
            loop.remove(fresh, from: .default)
            #expect(loop.runTurn() == .finished)
        }
        #expect(witness.isGone)
    }

    @Test func `An event of a replaced file is not delivered to the new source on the same descriptor number`() {
        withRealLoop { loop in
            let first = DescriptorPair.pipe()
            let old = DescriptorPair.pipe()
            let new = DescriptorPair.pipe()
            let number = old.first
            let replaced = Box(false)
            let stale = RunLoop.DescriptorSource(number) { source, _ in
                // May be served before the first; not after it.
                #expect(!replaced.value)
                _ = readText(source.descriptor)
                old.send("x")
            }
            let fresh = RunLoop.DescriptorSource(number) { source, _ in
                Issue.record("called with nothing to read: \(readText(source.descriptor))")
            }
            addDescriptorSource(
                RunLoop.DescriptorSource(first.first) { source, _ in
                    source.invalidate()
                    // The event of `number` may have been fetched together with this one.
                    stale.invalidate()
                    #expect(dup2(new.first, number) == number)
                    replaced.value = true
                    addDescriptorSource(fresh, to: loop)
                }, to: loop)
            addDescriptorSource(stale, to: loop)
            first.send("x")
            old.send("x")
            _ = loop.run(in: .default, for: .milliseconds(20))
            #expect(replaced.value)
        }
    }

    @Test func `A source's events can be changed and the source invalidated after its descriptor was closed`() {
        withRealLoop { loop in
            let closed = DescriptorPair.pipe()
            let good = DescriptorPair.pipe()
            let source = RunLoop.DescriptorSource(closed.first) { _, _ in Issue.record("called") }
            addDescriptorSource(source, to: loop)
            addDescriptorSource(RunLoop.DescriptorSource(good.first) { _, _ in loop.stop() }, to: loop)
            closed.closeFirst()
            source.events = [.readable, .writable]
            source.invalidate()
            good.send("x")
            #expect(loop.runPlenty() == .stopped)
        }
    }

    @Test func `A duplicate of a closed descriptor does not make the loop spin after its source is invalidated`() {
        let calls = CountingCalls()
        withRealLoop(calls: calls) { loop in
            let pipe = DescriptorPair.pipe()
            let quiet = DescriptorPair.pipe()
            let duplicate = dup(pipe.first)
            defer { close(duplicate) }
            pipe.send("x")
            let source = RunLoop.DescriptorSource(pipe.first) { _, _ in Issue.record("called") }
            addDescriptorSource(source, to: loop)
            addDescriptorSource(RunLoop.DescriptorSource(quiet.first) { _, _ in }, to: loop)
            pipe.closeFirst()
            source.invalidate()
            calls.takeCounts()
            #expect(loop.run(in: .default, for: .milliseconds(30)) == .timedOut)
            #expect(calls.waits <= 2)
        }
        #expect(calls.openDescriptors == 0)
    }

    @Test func `Other descriptors and timers work after a closed descriptor's source is removed`() {
        withRealLoop(fineWait: .timerDescriptor) { loop in
            let closed = DescriptorPair.pipe()
            let duplicate = dup(closed.first)
            defer { close(duplicate) }
            let good = DescriptorPair.pipe()
            let source = RunLoop.DescriptorSource(closed.first) { _, _ in }
            addDescriptorSource(source, to: loop)
            addDescriptorSource(
                RunLoop.DescriptorSource(good.first) { source, _ in source.invalidate() }, to: loop)
            // The timer descriptor exists before the epoll is built anew.
            _ = loop.run(in: .default, for: .milliseconds(1))
            closed.closeFirst()
            source.invalidate()
            let fired = Box(false)
            let timer = RunLoop.Timer(.after(.milliseconds(5))) { timer in
                #expect(timer.deadline <= .now)
                fired.value = true
            }
            loop.add(timer, in: .default)
            good.send("x")
            #expect(loop.runPlenty() == .finished)
            #expect(fired.value)
        }
    }

    @Test func `A closed descriptor whose source stays in the loop does not wake the loop`() {
        let calls = CountingCalls()
        withRealLoop(calls: calls) { loop in
            let pipe = DescriptorPair.pipe()
            pipe.send("x")
            addDescriptorSource(RunLoop.DescriptorSource(pipe.first) { _, _ in Issue.record("called") }, to: loop)
            pipe.closeFirst()
            calls.takeCounts()
            #expect(loop.run(in: .default, for: .milliseconds(20)) == .timedOut)
            #expect(calls.waits == 1)
        }
    }

    @Test func `A sleeping loop serves a new descriptor after the source of a closed descriptor was removed`() {
        withRealLoop { loop in
            let closed = DescriptorPair.pipe()
            let duplicate = dup(closed.first)
            defer { close(duplicate) }
            let late = DescriptorPair.pipe()
            let quiet = DescriptorPair.pipe()
            addDescriptorSource(RunLoop.DescriptorSource(quiet.first) { _, _ in }, to: loop)
            let stale = RunLoop.DescriptorSource.sendable(closed.first) { _, _ in }
            addDescriptorSource(stale, to: loop)
            let other = TestThread {
                waitUntil { loop.isWaiting }
                // So that the thread is really in the kernel, and not on its way there.
                usleep(2000)
                closed.closeFirst()
                stale.invalidate()
                addDescriptorSource(
                    RunLoop.DescriptorSource.sendable(late.first) { _, _ in RunLoop.current.stop() }, to: loop)
                late.send("x")
            }
            #expect(loop.runPlenty() == .stopped)
            other.join()
        }
    }

    @Test func `A loop that sleeps with descriptors serves a regular file added by another thread`() {
        withRealLoop { loop in
            let quiet = DescriptorPair.pipe()
            addDescriptorSource(RunLoop.DescriptorSource(quiet.first) { _, _ in }, to: loop)
            let file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
            defer { close(file) }
            let other = TestThread {
                waitUntil { loop.isWaiting }
                usleep(2000)
                addDescriptorSource(
                    RunLoop.DescriptorSource.sendable(file) { _, _ in RunLoop.current.stop() }, to: loop)
            }
            #expect(loop.runPlenty() == .stopped)
            other.join()
        }
    }

    @Test func `A sleeping loop serves a regular file after another thread has set its events`() {
        withRealLoop { loop in
            let file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
            defer { close(file) }
            let source = RunLoop.DescriptorSource.sendable(file, for: []) { _, _ in RunLoop.current.stop() }
            addDescriptorSource(source, to: loop)
            let other = TestThread {
                waitUntil { loop.isWaiting }
                usleep(2000)
                source.events = .readable
            }
            #expect(loop.runPlenty() == .stopped)
            other.join()
        }
    }

    @Test(arguments: ["pipe", "file", "nothing"])
    func `A source of a regular file is not called after its descriptor was closed or reused`(next: String) {
        withRealLoop { loop in
            let file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
            let number = duplicateFarAway(file)
            close(file)
            let calls = Box(0)
            let source = RunLoop.DescriptorSource(number) { _, _ in calls.value += 1 }
            addDescriptorSource(source, to: loop)
            loop.runTurn()
            #expect(calls.value == 1)
            let pipe = DescriptorPair.pipe()
            let another = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)
            switch next {
            case "pipe": #expect(dup2(pipe.first, number) == number)
            case "file": #expect(dup2(another, number) == number)
            default: close(number)
            }
            close(another)
            loop.run(in: .default, for: .milliseconds(20))
            pipe.send()
            loop.run(in: .default, for: .milliseconds(20))
            #expect(calls.value == 1)
            if next != "nothing" {
                let fresh = RunLoop.DescriptorSource(number) { _, _ in loop.stop() }
                addDescriptorSource(fresh, to: loop)
                #expect(loop.runPlenty() == .stopped)
                close(number)
            }
            #expect(calls.value == 1)
            source.invalidate()
        }
    }

    @Test func `A new source is called after its descriptor number changed from a pipe to a regular file`() {
        withRealLoop { loop in
            let pipe = DescriptorPair.pipe()
            let number = duplicateFarAway(pipe.first)
            let stale = RunLoop.DescriptorSource(number) { _, _ in Issue.record("the old one was called") }
            addDescriptorSource(stale, to: loop)
            let file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
            #expect(dup2(file, number) == number)
            close(file)
            addDescriptorSource(RunLoop.DescriptorSource(number) { _, _ in loop.stop() }, to: loop)
            pipe.send()
            #expect(loop.runPlenty() == .stopped)
            stale.invalidate()
            close(number)
        }
    }
}
