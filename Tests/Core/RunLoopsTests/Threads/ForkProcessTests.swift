// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import Testing

@testable import RunLoops

/// A forked child does no harm to its parent's loops, whatever it does with them, and has loops of its own.
@Suite(
    .ownThread,
    .disabled(if: Sanitizer.isAny, "a sanitizer copies its locks, and calls a leak what a child inherits"))
struct ForkProcessTests {
    // MARK: The parent's items in the child

    // Swift Testing before 6.3 takes no value into an exit test.
    #if compiler(>=6.3)
    @Test(arguments: ["invalidate", "events", "release", "exit", "nothing"])
    func `Calls of a child on a descriptor source do not affect its parent`(_ deed: String) async {
        await #expect(processExitsWith: .success) { [deed] in
            TestThread.run {
                let loop = RunLoop.current
                let pipe = DescriptorPair.pipe()
                let calls = Box(0)
                var source: RunLoop.DescriptorSource? = RunLoop.DescriptorSource(dup(pipe.first), closes: true) {
                    source, _ in
                    calls.value += 1
                    readText(source.descriptor)
                    RunLoop.current.stop()
                }
                #expect(throws: Never.self) { try source.map { try loop.add($0, in: .default) } }
                loop.runTurn()
                let end = ForkedChild.run {
                    switch deed {
                    case "invalidate": source?.invalidate()
                    case "events": source?.events = []
                    case "release": source = nil
                    case "exit": exit(0)
                    default: break
                    }
                    return true
                }
                #expect(end == .good)
                pipe.send()
                #expect(loop.runPlenty() == .stopped)
                #expect(calls.value == 1)
            }
        }
    }
    #endif

    @Test func `In a child, calls on items of the parent's loop make no system call`() async {
        await #expect(processExitsWith: .success) {
            let calls = CountingCalls()
            withRealLoop(calls: calls) { loop in
                let pipe = DescriptorPair.pipe()
                let descriptor = RunLoop.DescriptorSource(pipe.first) { _, _ in }
                addDescriptorSource(descriptor, to: loop)
                let other = RunLoop.DescriptorSource(pipe.second) { _, _ in }
                addDescriptorSource(other, to: loop)
                let timer = RunLoop.Timer(.after(.seconds(1000))) { _ in }
                loop.add(timer, in: .default)
                let later = RunLoop.Timer(.after(.seconds(2000), clock: .realtime)) { _ in }
                loop.add(later, in: .default)
                let source = loop.addSource()
                let observer = RunLoop.Observer(.exit) { _, _ in }
                loop.add(observer, in: .common)
                #expect((try? loop.pollDescriptor) != nil)
                loop.runReady()
                calls.takeCounts()
                let end = ForkedChild.run {
                    timer.restart(after: .zero)
                    timer.tolerance = .seconds(1)
                    later.deadline = .now(.realtime)
                    source.signal()
                    descriptor.events = .writable
                    for item in [timer, later, source, observer, descriptor, other] as [RunLoop.Item] {
                        item.invalidate()
                    }
                    let made = calls.takeCounts()
                    if !made.isEmpty { SystemCalls.writeToStandardError("\(made)\n") }
                    return made.isEmpty
                }
                #expect(end == .good)
                #expect(timer.isValid && descriptor.events == .readable)
                #expect(loop.contains(observer, in: .common))
            }
        }
    }

    @Test func `The parent's loop continues when the thread that forked ends in the child`() async {
        await #expect(processExitsWith: .success) {
            let cancelled = Locked(0)
            let ends: ForkedChild.End? = TestThread.run {
                let loop = RunLoop.current
                let pipe = DescriptorPair.pipe()
                addDescriptorSource(RunLoop.DescriptorSource(pipe.first) { _, _ in loop.stop() }, to: loop)
                loop.add(
                    RunLoop.Source.sendable(cancel: { _, _ in cancelled.increment() }, handler: { _ in }), in: .default)
                loop.runTurn()
                let child = fork()
                // Back to the thread's start routine, which tears down what is the thread's.
                if child == 0 { return nil }
                var status: CInt = 0
                waitpid(child, &status, 0)
                pipe.send()
                #expect(loop.runPlenty() == .stopped)
                return status == 0 ? .good : .signalled(status)
            }
            guard let ends else { _exit(cancelled.count == 0 ? 0 : 1) }
            #expect(ends == .good)
            #expect(cancelled.count == 1)
        }
    }

    @Test func `A child does not consume readiness of its parent's poll descriptor`() async {
        await #expect(processExitsWith: .success) {
            TestThread.run {
                let loop = RunLoop.current
                let fired = Box(false)
                let timer = RunLoop.Timer(.every(.milliseconds(50))) { _ in fired.value = true }
                loop.add(timer, in: .default)
                let descriptor = (try? loop.pollDescriptor) ?? -1
                loop.runReady()
                fired.value = false
                let end = ForkedChild.run {
                    timer.invalidate()
                    return true
                }
                #expect(end == .good)
                var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                #expect(poll(&wanted, 1, 300_000) == 1)
                loop.runReady()
                #expect(fired.value)
            }
        }
    }

    @Test func `A child's loop refuses items of the parent's loop and accepts items of no loop`() async {
        await #expect(processExitsWith: .success) {
            TestThread.run {
                let taken = RunLoop.Timer.sendable(.after(.seconds(1000))) { _ in }
                RunLoop.current.add(taken, in: .default)
                let free = RunLoop.Timer.sendable(.after(.zero)) { _ in RunLoop.current.stop() }
                let end = ForkedChild.run {
                    let loop = RunLoop.current
                    return !loop.addUnlessElsewhere(taken, in: .default) && loop.add(free, in: .default)
                        && loop.runPlenty() == .stopped
                }
                #expect(end == .good)
                #expect(RunLoop.current.contains(taken, in: .default))
                #expect(free.isValid)
            }
        }
    }

    // MARK: When the parent forks

    @Test func `A child's own loop runs inside a callout of its parent's loop, and returning from that callout traps`()
        async
    {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            TestThread.run {
                let loop = RunLoop.current
                let (ran, returned) = (Locked(ForkedChild.End?.none), Locked(ForkedChild.End?.none))
                loop.perform {
                    let end = ForkedChild.run {
                        RunLoop.current.perform { RunLoop.current.stop() }
                        return RunLoop.current !== loop && RunLoop.current.runPlenty() == .stopped
                    }
                    ran.withLock { $0 = end }
                }
                let rest = Locked(0)
                loop.perform {
                    let child = fork()
                    // The child leaves the callout.
                    if child == 0 { return }
                    var status: CInt = 0
                    waitpid(child, &status, 0)
                    let end: ForkedChild.End = status & 0x7F != 0 ? .signalled(status & 0x7F) : .exited(status >> 8)
                    returned.withLock { $0 = end }
                }
                loop.perform {
                    rest.increment()
                    loop.stop()
                }
                loop.addSource()
                #expect(loop.runPlenty() == .stopped)
                #expect(ran.copy == .good)
                #expect(returned.copy == .signalled(SIGILL) || returned.copy == .signalled(SIGTRAP))
                #expect(rest.count == 1)
            }
        }
        expectText(result, "If fork() was called in a callout of the loop, the child must not return from the callout.")
    }

    @Test func `A sleeping loop still runs closures after another thread forks`() async {
        await #expect(processExitsWith: .success) {
            let loops = Locked<RunLoop?>(nil)
            let timers = Locked<[RunLoop.Timer]>([])
            let calls = Locked(0)
            let began = Permit()
            let sleeper = TestThread {
                let loop = RunLoop.current
                let keeper = RunLoop.Timer.sendable(.after(.seconds(100_000))) { _ in }
                loop.add(keeper, in: .default)
                timers.withLock { $0 = [keeper] }
                loops.withLock { $0 = loop }
                began.signal()
                #expect(loop.runPlenty() == .stopped)
            }
            began.wait()
            guard let loop = loops.copy else { return }
            waitUntilAtRest(loop)
            let end = ForkedChild.run {
                for timer in timers.copy { timer.invalidate() }
                RunLoop.current.perform { RunLoop.current.stop() }
                return RunLoop.current.runPlenty() == .stopped
            }
            #expect(end == .good)
            loop.perform { calls.increment() }
            loop.perform { RunLoop.current.stop() }
            sleeper.join()
            #expect(calls.count == 1)
        }
    }

    @Test func `Each child forked while other threads change a loop has a working loop`() async {
        await #expect(processExitsWith: .success) {
            let isOver = Locked(false)
            let began = Permit()
            let mode: RunLoop.Mode = "mode"
            let busy = TestThread {
                let loop = RunLoop.current
                for round in 0... {
                    if isOver.copy { break }
                    let timer = RunLoop.Timer.sendable(.after(.zero)) { _ in }
                    loop.add(timer, in: mode)
                    timer.invalidate()
                    // Later, when the Swift runtime has made what it makes once: it has locks of its own.
                    if round == 100 { began.signal() }
                }
            }
            began.wait()
            for round in 0..<(isFull ? 2_000 : 100) {
                let end = ForkedChild.run(besideRunningThreads: true) {
                    let own = RunLoop.current
                    own.add(RunLoop.Timer(.after(.zero)) { _ in own.stop() }, in: mode)
                    return own.runPlenty(mode) == .stopped
                }
                #expect(end == .good, "round \(round)")
            }
            isOver.withLock { $0 = true }
            busy.join()
        }
    }

    // MARK: What the child has of its own

    @Test func `A child and its own child have new loops on the forking thread`() async {
        await #expect(processExitsWith: .success) {
            TestThread.run {
                let loop = RunLoop.current
                let source = loop.addSource()
                let end = ForkedChild.run {
                    let own = RunLoop.current
                    own.add(RunLoop.Timer(.after(.milliseconds(1))) { _ in own.stop() }, in: .default)
                    let inner = ForkedChild.run {
                        let third = RunLoop.current
                        third.perform { third.stop() }
                        return third !== own && third !== loop && third.runPlenty() == .stopped
                    }
                    return inner == .good && own !== loop && own === RunLoop.current && own.runPlenty() == .stopped
                }
                #expect(end == .good)
                source.signal()
                loop.perform { loop.stop() }
                #expect(loop === RunLoop.current && loop.runPlenty() == .stopped)
            }
        }
    }

    @Test func `A child has a new main loop on its thread`() async {
        await #expect(processExitsWith: .success) {
            let main = RunLoop.main
            let end = TestThread.run {
                ForkedChild.run {
                    let own = RunLoop.main
                    own.add(RunLoop.Timer(.after(.milliseconds(1))) { _ in own.stop() }, in: .common)
                    return own !== main && own === RunLoop.current && own.threadID == getpid()
                        && own.runPlenty() == .stopped
                }
            }
            #expect(end == .good)
            #expect(main === RunLoop.main)
        }
    }

    @Test func `A child that has run its own loop can call exit`() async {
        await #expect(processExitsWith: .success) {
            let end = TestThread.run { () -> ForkedChild.End in
                RunLoop.current.addSource()
                return ForkedChild.run {
                    RunLoop.current.addSource()
                    RunLoop.current.runTurn()
                    exit(0)
                }
            }
            #expect(end == .good)
        }
    }

    @Test func `A program started by posix_spawn does not affect the parent's loop`() async {
        await #expect(processExitsWith: .success) {
            TestThread.run {
                let loop = RunLoop.current
                loop.addSource()
                let generation = ForkGeneration()
                #expect(system("exit 7") == 7 << 8)
                #expect(!generation.isInherited)
                loop.perform { loop.stop() }
                #expect(loop.runPlenty() == .stopped)
            }
        }
    }
}
