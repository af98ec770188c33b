// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoopsTestSupport
import Testing

@testable import RunLoops

/// Specification 10: runs of a guest, their turns, modes and nesting, and what the system may refuse.
@Suite(.ownThread)
struct GuestRunTests {
    @Test func `runReady notifies observers of afterWaiting after entry and of beforeWaiting before exit`() throws {
        let told = try withGuest { host in
            let calls = Calls()
            let observer = RunLoop.Observer(.all, repeats: true) { _, activity in
                calls.names.append("\(activity)")
            }
            host.loop.add(observer, in: .default)
            host.loop.performLocally { calls.names.append("block") }
            host.loop.runReady()
            host.loop.runReady()
            return calls.names.filter { !$0.contains("Timers") && !$0.contains("Sources") }
        }
        // The wait before the first of the two calls began before there was an observer.
        #expect(
            told == [
                "[entry]", "[afterWaiting]", "block", "[beforeWaiting]", "[exit]",
                "[entry]", "[afterWaiting]", "[beforeWaiting]", "[exit]",
            ])
    }

    @Test func `The poll descriptor becomes readable only for work in the mode of the last runReady`() throws {
        try withGuest { host in
            let other: RunLoop.Mode = "other"
            let pipe = DescriptorPair.pipe()
            let got = Box("")
            try host.loop.add(
                RunLoop.DescriptorSource(pipe.first) { source, _ in got.value += readText(source.descriptor) },
                in: other)
            host.loop.add(RunLoop.Timer(.after(.milliseconds(1))) { _ in got.value += "timer" }, in: .default)
            pipe.send("descriptor")
            host.loop.runReady(in: other)
            #expect(got.value == "descriptor")
            #expect(!host.isReadable(within: .milliseconds(10)))
            host.loop.runReady()
            #expect(got.value == "descriptortimer")
        }
    }

    @Test func `runReady returns after 16 turns of a loop that is never idle`() throws {
        let performed = try withGuest { host in
            let performed = Box(0)
            let source = RunLoop.Source { source in
                performed.value += 1
                source.signal()
            }
            host.loop.add(source, in: .default)
            source.signal()
            host.loop.runReady()
            #expect(host.isReady)
            return performed.value
        }
        #expect(performed == 16)
    }

    @Test func `If a callout stops runReady, a block that has not run yet keeps the poll descriptor readable`() throws {
        try withGuest { host in
            let loop = host.loop
            let calls = Calls()
            loop.add(
                RunLoop.Timer(.after(.zero)) { _ in
                    calls.names.append("timer")
                    loop.stop()
                }, in: .default)
            loop.performLocally {
                calls.names.append("block")
                loop.performLocally { calls.names.append("left") }
            }
            #expect(host.isReady)
            #expect(loop.runReady() == .stopped)
            #expect(host.run { calls.names == ["block", "timer", "left"] } != nil)
            #expect(loop.runReady() == .finished)
        }
    }

    @Test func `A stop between two calls of runReady has no effect`() throws {
        try withGuest { host in
            let (loop, calls) = (host.loop, Calls())
            loop.stop()
            TestThread { loop.stop() }.join()
            #expect(!host.isReady)
            loop.performLocally { calls.names.append("block") }
            #expect(loop.runReady() == .finished)
            #expect(calls.names == ["block"])
        }
    }

    @Test func `An edge-triggered host misses no work`() throws {
        try withGuest { host in
            let (loop, calls) = (host.loop, LinuxCalls.shared)
            let epoll = calls.epollCreate()
            defer { close(epoll) }
            try #require(calls.epollAdd(epoll, host.descriptor, events: EPOLLIN.rawValue | 1 << 31, token: 0) == 0)
            var event = epoll_event()
            let done = Locked(0)
            let pipe = DescriptorPair.pipe()
            try loop.add(
                RunLoop.DescriptorSource(pipe.first) { source, _ in
                    _ = readText(source.descriptor)
                    done.increment()
                }, in: .default)
            let signals = Box(0)
            // Never idle for 40 turns, of which a call makes 16.
            let source = RunLoop.Source { source in
                signals.value += 1
                if signals.value % 40 == 0 { done.increment() } else { source.signal() }
            }
            loop.add(source, in: .default)
            for round in 0..<20 {
                switch round % 4 {
                case 0: loop.add(RunLoop.Timer(.after(.milliseconds(1))) { _ in done.increment() }, in: .default)
                case 1: TestThread { loop.perform { done.increment() } }.join()
                case 2: pipe.send("bytes")
                default:
                    source.signal()
                    loop.wakeUp()
                }
                while done.count == round {
                    let count = calls.epollWait(epoll, &event, 1, milliseconds: CInt(plenty / .milliseconds(1)))
                    try #require(count == 1, "round \(round)")
                    loop.runReady()
                }
            }
            #expect(done.count == 20)
        }
    }

    @Test(arguments: [true, false])
    func `A host that only calls runReady serves all work, with or without a poll descriptor`(_ asks: Bool) throws {
        try withRealLoop { loop in
            Swift.Result<Void, any Error> {
                if asks { _ = try loop.pollDescriptor }
                let done = Locked(0)
                let pipe = DescriptorPair.pipe()
                try loop.add(
                    RunLoop.DescriptorSource(pipe.first) { source, _ in
                        _ = readText(source.descriptor)
                        done.increment()
                    }, in: .default)
                let deadline = RunLoop.Instant.now.advanced(by: plenty)
                for round in 0..<9 {
                    switch round % 3 {
                    case 0: loop.add(RunLoop.Timer(.after(.milliseconds(1))) { _ in done.increment() }, in: .default)
                    case 1: TestThread { loop.perform(wake: false) { done.increment() } }.join()
                    default: pipe.send("bytes")
                    }
                    while done.count == round, .now < deadline { loop.runReady() }
                }
                #expect(done.count == 9)
            }
        }.get()
    }

    @Test func `Between calls of runReady, the program can run the loop, which sleeps and wakes as usual`() throws {
        try withGuest { host in
            let (loop, calls) = (host.loop, Locked<[String]>())
            loop.add(.sendable(.after(.milliseconds(1))) { _ in calls.note("own run") }, in: .default)
            #expect(loop.runPlenty() == .finished)
            #expect(calls.lines == ["own run"])
            #expect(!host.isReady)
            TestThread { loop.perform { calls.note("hosted") } }.join()
            #expect(host.run { calls.lines.count == 2 } == 1)
            // A sleep of its own is woken as ever, however the guest stood before.
            let keeper = RunLoop.Source { _ in }
            loop.add(keeper, in: .default)
            let thread = TestThread {
                waitUntil { loop.currentMode != nil && loop.isWaiting }
                loop.add(.sendable(.after(.zero)) { _ in loop.stop() }, in: .default)
            }
            #expect(loop.runPlenty() == .stopped)
            thread.join()
            #expect(!host.isReady)
        }
    }

    @Test func `While the program runs the loop itself, no system call leaves the poll descriptor readable`() throws {
        let calls = CountingCalls()
        let shown = try withGuest(calls: calls) { host in
            let loop = host.loop
            loop.add(RunLoop.Source { _ in }, in: .default)
            // Wakes the host, and then the sleep: both write to the same descriptor.
            loop.wakeUp()
            #expect(host.isReady)
            loop.runReady()
            let shown = Locked<[String]>()
            calls.afterEach { call in if host.isReady { shown.note(call) } }
            let thread = TestThread {
                waitUntil { loop.currentMode != nil && loop.isWaiting }
                loop.perform { RunLoop.current.stop() }
            }
            #expect(loop.runPlenty() == .stopped)
            thread.join()
            calls.afterEach(nil)
            #expect(!host.isReady)
            return shown.lines
        }
        // A host that watches from another thread sees any moment.
        #expect(shown == [])
    }

    @Test func `After prepareToPoll in a callout, the poll descriptor becomes readable for new work`() throws {
        try withGuest { host in
            let (loop, calls) = (host.loop, Locked<[String]>())
            loop.add(
                RunLoop.Timer(.after(.zero)) { _ in
                    #expect(!loop.prepareToPoll())
                    TestThread { loop.perform { calls.note("nested") } }.join()
                    #expect(host.run { calls.lines == ["nested"] } == 1)
                    TestThread { loop.perform { calls.note("after") } }.join()
                }, in: .default)
            #expect(host.run { calls.lines == ["nested", "after"] } != nil)
            #expect(!host.isReady)
        }
    }

    @Test func `After prepareToPoll in a callout, a sleeping nested run is still woken`() throws {
        try withGuest { host in
            let loop = host.loop
            let done = Box(false)
            loop.add(
                RunLoop.Timer(.after(.zero)) { _ in
                    _ = loop.prepareToPoll()
                    let keeper = RunLoop.Source { _ in }
                    loop.add(keeper, in: "modal")
                    let thread = TestThread {
                        waitUntil { loop.currentMode == "modal" && loop.isWaiting }
                        loop.add(.sendable(.after(.zero)) { _ in loop.stop() }, in: "modal")
                    }
                    done.value = loop.runPlenty("modal") == .stopped
                    thread.join()
                }, in: .default)
            #expect(host.run { done.value } != nil)
        }
    }

    @Test func `pollDescriptor throws if a system call fails, and a second call succeeds`() throws {
        for (call, skips) in [("epoll_create", 0), ("eventfd", 0), ("timerfd_create", 2), ("epoll_add", 3)] {
            let calls = CountingCalls()
            let isRefused = withRealLoop(calls: calls) { loop in
                calls.failNext(call, with: EMFILE, after: skips)
                let refused: RunLoop.SystemCallError?
                do throws(RunLoop.SystemCallError) {
                    _ = try loop.pollDescriptor
                    refused = nil
                } catch {
                    refused = error
                }
                let again = try? loop.pollDescriptor
                return refused?.code == EMFILE && again != nil
            }
            #expect(isRefused, "\(call)")
            #expect(calls.openDescriptors == 0, "\(call)")
        }
    }

    @Test func `A host serves descriptors even if their epoll cannot be added to the guest's epoll`() throws {
        let calls = CountingCalls()
        try withGuest(calls: calls) { host in
            let pipe = DescriptorPair.pipe()
            let got = Box("")
            let descriptorSource = RunLoop.DescriptorSource(pipe.first) { source, _ in
                got.value = readText(source.descriptor)
            }
            // The wake-up's descriptor, the pipe's, and then the refused one.
            calls.failNext("epoll_add", with: ENOSPC, after: 2)
            try host.loop.add(descriptorSource, in: .default)
            pipe.send("found")
            #expect(host.run { got.value == "found" } != nil)
            // It was tried again.
            pipe.send("shown")
            #expect(host.run { got.value == "shown" } == 1)
            #expect(!host.isReadable(within: .milliseconds(10)))
        }
    }

    @Test func `The end of the thread closes all descriptors of the guest`() throws {
        let calls = CountingCalls()
        try withGuest(calls: calls) { host in
            let pipe = DescriptorPair.pipe()
            try host.loop.add(RunLoop.DescriptorSource(pipe.first) { _, _ in }, in: .default)
            host.loop.runReady()
            #expect(calls.openDescriptors == 6)
        }
        #expect(calls.openDescriptors == 0)
    }

    @Test func `A wake-up and the runReady that serves it cost two system calls`() throws {
        let calls = CountingCalls()
        try withGuest(calls: calls) { host in
            calls.takeCounts()
            for _ in 0..<100 {
                host.loop.wakeUp()
                host.loop.runReady()
            }
            let counts = calls.takeCounts()
            #expect(counts == ["eventfd_write": 100, "epoll_poll": 100])
        }
    }

    @Test func `After a nested runReady, the poll descriptor is readable for work in the outer mode`() throws {
        try withGuest { host in
            let (loop, calls) = (host.loop, Calls())
            let other: RunLoop.Mode = "other"
            loop.addSource(in: other)
            loop.add(
                RunLoop.Timer(.after(.zero)) { _ in
                    loop.runReady(in: other)
                    calls.names.append("nested")
                }, in: .default)
            loop.add(RunLoop.Timer(.after(.milliseconds(20))) { _ in calls.names.append("timer") }, in: .default)
            #expect(host.run { calls.names.contains("nested") } != nil)
            #expect(host.isReadable(within: plenty))
            loop.runReady()
            #expect(calls.names == ["nested", "timer"])
        }
    }
}
