// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import Testing

@testable import RunLoops

/// Specification 10: one descriptor for all that a loop waits for.
@Suite(.ownThread)
struct GuestTests {
    /// Long enough for a wake-up that should not be to show.
    private static let idleTime = Duration.milliseconds(30)

    // MARK: Timers

    @Test func `The poll descriptor of an idle loop is not readable`() throws {
        let wasReadable = try withGuest { host in
            let timer = RunLoop.Timer(.after(.seconds(100))) { _ in }
            host.loop.add(timer, in: .default)
            return host.isReadable(within: Self.idleTime)
        }
        #expect(!wasReadable)
    }

    @Test func `A timer makes the poll descriptor readable when it is due and not before`() throws {
        try withGuest { host in
            for base in RunLoop.ClockID.allCases {
                let fired = Box(0)
                let due = RunLoop.Instant.now(base).advanced(by: .milliseconds(5))
                host.loop.add(RunLoop.Timer(.at(due)) { _ in fired.value += 1 }, in: .default)
                #expect(host.isReadable(within: plenty))
                #expect(RunLoop.Instant.now(base) >= due)
                host.loop.runReady()
                #expect(fired.value == 1, "\(base)")
                #expect(!host.isReady, "\(base)")
            }
        }
    }

    @Test func `A repeating timer needs one runReady for each fire`() throws {
        let runs = try withGuest { host in
            let fired = Box(0)
            host.loop.add(RunLoop.Timer(.every(.milliseconds(2))) { _ in fired.value += 1 }, in: .default)
            return (host.run { fired.value >= 10 }, fired.value)
        }
        #expect(runs.0 == runs.1)
    }

    @Test func `A tolerant timer makes the poll descriptor readable at the end of its tolerance`() throws {
        try withGuest { host in
            let date = RunLoop.Instant.now.advanced(by: .milliseconds(2))
            let timer = RunLoop.Timer(.at(date), tolerance: .milliseconds(16)) { _ in }
            host.loop.add(timer, in: .default)
            #expect(host.isReadable(within: plenty))
            // An eighth of the tolerance is kept in hand.
            #expect(RunLoop.Instant.now >= date.advanced(by: .milliseconds(14)))
        }
    }

    @Test func `A timer added by another thread makes the poll descriptor readable without a wake-up`() throws {
        let calls = CountingCalls()
        let runs = try withGuest(calls: calls) { host in
            host.loop.add(RunLoop.Timer(.after(.seconds(100))) { _ in }, in: .default)
            let fired = Locked(0)
            let loop = host.loop
            TestThread {
                loop.add(.sendable(.after(.milliseconds(5))) { _ in fired.increment() }, in: .default)
            }.join()
            return host.run { fired.count == 1 }
        }
        #expect(runs == 1)
        #expect(calls.wakes == 0)
    }

    @Test func `A removed or postponed timer does not make the poll descriptor readable at its old date`() throws {
        try withGuest { host in
            let gone = RunLoop.Timer.sendable(.after(.milliseconds(10))) { _ in }
            let late = RunLoop.Timer.sendable(.after(.milliseconds(10))) { _ in }
            let out = RunLoop.Timer.sendable(.after(.milliseconds(10))) { _ in }
            for timer in [gone, late, out] { host.loop.add(timer, in: .default) }
            host.loop.runReady()
            let loop = host.loop
            TestThread {
                gone.invalidate()
                late.deadline = .now.advanced(by: .seconds(100))
                loop.remove(out, from: .default)
            }.join()
            #expect(!host.isReadable(within: Self.idleTime))
        }
    }

    // MARK: Blocks, sources, wake-ups

    @Test func `A block posted with a wake-up makes the poll descriptor readable, others do not`() throws {
        try withGuest { host in
            let calls = Locked<[String]>()
            let loop = host.loop
            TestThread { loop.perform(wake: false) { calls.note("quiet") } }.join()
            #expect(!host.isReady)
            #expect(loop.prepareToPoll())
            TestThread { loop.perform { calls.note("loud") } }.join()
            #expect(host.isReady)
            loop.runReady()
            #expect(calls.lines == ["quiet", "loud"])
            #expect(!host.isReady)
            #expect(!loop.prepareToPoll())
            loop.performLocally(wake: false) { calls.note("own") }
            #expect(!host.isReady)
            #expect(loop.prepareToPoll())
            loop.runReady()
            #expect(calls.lines.last == "own")
            #expect(!loop.prepareToPoll())
        }
    }

    @Test func `A block posted on the loop's thread, in a callout or not, makes the poll descriptor readable`() throws {
        try withGuest { host in
            let calls = Calls()
            let loop = host.loop
            loop.performLocally { calls.names.append("host") }
            #expect(host.isReady)
            loop.runReady()
            #expect(!host.isReady)
            loop.add(
                RunLoop.Observer(.beforeWaiting, repeats: false) { [unowned loop] _, _ in
                    loop.performLocally { calls.names.append("observer") }
                }, in: .default)
            loop.runReady()
            #expect(calls.names == ["host"])
            #expect(host.isReady)
            loop.runReady()
            #expect(calls.names == ["host", "observer"])
            #expect(!host.isReady)
        }
    }

    @Test func `A block posted without a wake-up by another block runs in the same runReady`() throws {
        try withGuest { host in
            let calls = Calls()
            let loop = host.loop
            loop.performLocally { [unowned loop] in
                loop.performLocally(wake: false) { calls.names.append("left") }
            }
            loop.runReady()
            // A wake-up makes a turn of its own, which finds it.
            #expect(calls.names == ["left"])
            #expect(!host.isReady)
            #expect(!loop.prepareToPoll())
        }
    }

    @Test func `prepareToPoll finds a block posted without a wake-up before the loop became a guest`() throws {
        let isFound = try withRealLoop { loop in
            Swift.Result<Bool, any Error> {
                loop.performLocally(wake: false) {}
                _ = try loop.pollDescriptor
                let isFound = loop.prepareToPoll()
                loop.runReady()
                return isFound && !loop.prepareToPoll()
            }
        }.get()
        #expect(isFound)
    }

    @Test func `A source's signal does not make the poll descriptor readable, and a wake-up does`() throws {
        try withGuest { host in
            let performed = Locked(0)
            let source = RunLoop.Source.sendable { _ in performed.increment() }
            host.loop.add(source, in: .default)
            let loop = host.loop
            TestThread { source.signal() }.join()
            #expect(!host.isReady)
            #expect(loop.prepareToPoll())
            TestThread { loop.wakeUp() }.join()
            #expect(host.isReady)
            loop.runReady()
            #expect(performed.count == 1)
            #expect(!host.isReady)
        }
    }

    @Test func `prepareToPoll asks for one runReady before each wait if the mode observes beforeWaiting`() throws {
        try withGuest { host in
            let loop = host.loop
            let calls = Box(0)
            let observer = RunLoop.Observer(.beforeWaiting) { _, _ in calls.value += 1 }
            loop.add(observer, in: .default)
            for wait in 1...3 {
                #expect(loop.prepareToPoll())
                loop.runReady()
                #expect(calls.value == wait)
                // The host waits.
                #expect(!loop.prepareToPoll())
            }
            // After a run for another reason, the host may have called its own callbacks.
            loop.perform {}
            loop.runReady()
            #expect(calls.value == 4)
            #expect(loop.prepareToPoll())
            loop.runReady()
            #expect(calls.value == 5)
            #expect(!loop.prepareToPoll())
            observer.invalidate()
            // The mode may notice the removal in its next turn.
            if loop.prepareToPoll() { loop.runReady() }
            for _ in 0..<3 { #expect(!loop.prepareToPoll()) }
        }
    }

    @Test func `prepareToPoll does not ask for a runReady without an observer of beforeWaiting`() throws {
        try withGuest { host in
            host.loop.add(RunLoop.Timer(.after(.seconds(100))) { _ in }, in: .default)
            host.loop.add(RunLoop.Observer([.entry, .beforeTimers, .exit]) { _, _ in }, in: .default)
            host.loop.add(RunLoop.Observer(.beforeWaiting) { _, _ in }, in: "other")
            for _ in 0..<3 { #expect(!host.loop.prepareToPoll()) }
        }
    }

    @Test func `A hundred wake-ups before the next runReady cost one write`() throws {
        let calls = CountingCalls()
        try withGuest(calls: calls) { host in
            calls.takeCounts()
            for _ in 0..<100 { host.loop.wakeUp() }
            #expect(calls.count("eventfd_write") == 1)
            host.loop.runReady()
            #expect(!host.isReady)
        }
    }

    @Test func `A block posted by another thread during runReady is not lost`() throws {
        try withGuest { host in
            let calls = Locked<[String]>()
            let loop = host.loop
            loop.performLocally {
                TestThread { loop.perform { calls.note("from outside") } }.join()
            }
            #expect(host.run { calls.lines.count == 1 } != nil)
        }
    }

    // MARK: Descriptors

    @Test func `Any thread may add and remove descriptor sources of a guest`() throws {
        try withGuest { host in
            let pipe = DescriptorPair.pipe()
            let got = Locked<[String]>()
            let descriptorSource = RunLoop.DescriptorSource.sendable(pipe.first) { source, _ in
                got.note(readText(source.descriptor))
            }
            let loop = host.loop
            TestThread { _ = try? loop.add(descriptorSource, in: .default) }.join()
            #expect(!host.isReady)
            pipe.send("one")
            #expect(host.isReady)
            loop.runReady()
            #expect(got.lines == ["one"])
            #expect(!host.isReady)
            pipe.send("two")
            #expect(host.isReady)
            TestThread { loop.remove(descriptorSource, from: .default) }.join()
            #expect(!host.isReady)
        }
    }

    @Test func `Changing a descriptor source's events changes whether the poll descriptor is readable`() throws {
        try withGuest { host in
            let sockets = DescriptorPair.sockets()
            let descriptorSource = RunLoop.DescriptorSource.sendable(sockets.first) { _, _ in }
            try host.loop.add(descriptorSource, in: .default)
            #expect(!host.isReady)
            TestThread { descriptorSource.events = .writable }.join()
            #expect(host.isReady)
            descriptorSource.events = .readable
            host.loop.runReady()
            #expect(!host.isReady)
        }
    }

    @Test func `A regular file is always ready for a guest`() throws {
        try withGuest { host in
            let file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
            defer { close(file) }
            let served = Box(0)
            let descriptorSource = RunLoop.DescriptorSource(file) { source, _ in
                served.value += 1
                if served.value == 40 { source.invalidate() }
            }
            try host.loop.add(descriptorSource, in: .default)
            #expect(host.run { served.value == 40 } == 3)
            #expect(!host.isReady)
        }
    }

    @Test func `A descriptor closed before its source is removed does not disturb the host`() throws {
        try withGuest { host in
            let loop = host.loop
            let (stale, fresh) = (DescriptorPair.pipe(), DescriptorPair.pipe())
            let descriptorSource = RunLoop.DescriptorSource(stale.first) { _, _ in }
            try loop.add(descriptorSource, in: .default)
            let duplicate = dup(stale.first)
            defer { close(duplicate) }
            stale.closeFirst()
            stale.send("nobody reads this")
            descriptorSource.invalidate()
            #expect(!host.isReady)
            let got = Box("")
            try loop.add(
                RunLoop.DescriptorSource(fresh.first) { source, _ in got.value = readText(source.descriptor) },
                in: .default)
            fresh.send("heard")
            #expect(host.run { got.value == "heard" } == 1)
            #expect(try loop.pollDescriptor == host.descriptor)
        }
    }

    @Test func `The poll descriptor is readable for work, except while the loop sleeps in a run outside runReady`()
        throws
    {
        try withGuest { host in
            let loop = host.loop
            let pipe = DescriptorPair.pipe()
            let source = RunLoop.DescriptorSource(pipe.first) { source, _ in readText(source.descriptor) }
            try loop.add(source, in: .default)
            let timer = RunLoop.Timer(.every(.milliseconds(1))) { _ in }
            loop.add(timer, in: .default)
            #expect(host.isReadable(within: plenty))
            // From the end of the first sleep to the end of the last.
            let (began, silent) = (Locked(false), Locked(false))
            let first = RunLoop.Observer(.afterWaiting, repeats: false) { _, _ in began.withLock { $0 = true } }
            loop.add(first, in: .default)
            let other = TestThread {
                while !began.copy { sched_yield() }
                var shown = 0
                for _ in 0..<200 {
                    pipe.send()
                    loop.perform {}
                    usleep(100)
                    if host.isReady { shown += 1 }
                }
                silent.withLock { $0 = shown == 0 }
                loop.perform { RunLoop.current.stop() }
            }
            loop.run()
            other.join()
            #expect(silent.copy)
            #expect(host.isReadable(within: plenty))
            timer.invalidate()
            loop.runReady()
            #expect(!host.isReady)
            pipe.send()
            #expect(host.isReady)
            loop.runReady()
            #expect(!host.isReady)
            loop.wakeUp()
            #expect(host.isReady)
            loop.runReady()
            #expect(!host.isReady)
        }
    }

    @Test func `A guest can be a descriptor source of another loop`() throws {
        let served = try withGuest { guest in
            let got = Locked(0)
            let (inner, descriptor) = (guest.loop, guest.descriptor)
            let outer = RunLoop(kernel: EpollKernel(), threadID: SystemCalls.threadID)
            let descriptorSource = RunLoop.DescriptorSource(descriptor) { [unowned inner] _, _ in inner.runReady() }
            try outer.add(descriptorSource, in: .default)
            TestThread {
                for _ in 0..<3 { inner.perform { got.increment() } }
                inner.add(.sendable(.after(.milliseconds(2))) { _ in got.increment() }, in: .default)
            }.join()
            while got.count < 4,
                outer.run(in: .default, for: plenty, returnsAfterSource: true) == .handledSource
            {}
            outer.threadEnds()
            return got.count
        }
        #expect(served == 4)
    }
}
