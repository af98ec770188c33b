// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import Testing

@testable import RunLoops

/// The life of descriptor sources on the real kernel: resting, armed, refused, closing.
@Suite(.ownThread) struct DescriptorSourceTests {
    // MARK: Resting

    @Test func `A descriptor source without events costs no system call, and its hang-up does not wake the loop`() {
        let calls = CountingCalls()
        withRealLoop(calls: calls) { loop in
            let pipe = DescriptorPair.pipe()
            let turns = Box(0)
            let source = RunLoop.DescriptorSource(pipe.first, for: []) { _, _ in Issue.record("called") }
            addDescriptorSource(source, to: loop)
            loop.add(RunLoop.Observer(.beforeWaiting) { _, _ in turns.value += 1 }, in: .default)
            pipe.closeSecond()
            #expect(loop.run(in: .default, for: .milliseconds(20)) == .timedOut)
            #expect(turns.value == 1)
            #expect(calls.count("epoll_add") == 0)
            source.events = .readable
            source.events = .readable
            source.events = []
            // The pipe, and the descriptor that wakes the thread.
            #expect(calls.count("epoll_add") == 2)
            #expect(calls.count("epoll_modify") == 0)
            #expect(calls.count("epoll_remove") == 1)
            turns.value = 0
            #expect(loop.run(in: .default, for: .milliseconds(20)) == .timedOut)
            #expect(turns.value == 1)
        }
        #expect(calls.openDescriptors == 0)
    }

    @Test func `A half-closed connection is reported to a source that asks for hangUp alone`() {
        let sockets = DescriptorPair.sockets()
        withRealLoop { loop in
            let told = Box<RunLoop.DescriptorEvents>([])
            addDescriptorSource(
                RunLoop.DescriptorSource(sockets.first, for: .hangUp) { source, events in
                    told.value = events
                    source.invalidate()
                }, to: loop)
            #expect(loop.runTurn() == .timedOut)
            shutdown(sockets.second, CInt(SHUT_WR))
            #expect(loop.runPlenty() == .finished)
            #expect(told.value == .hangUp)
        }
    }

    @Test func `A source is not called while its events are empty, even if another source on its descriptor is`() {
        withRealLoop { loop in
            let sockets = DescriptorPair.sockets()
            let calls = Box<[String]>([])
            let resting = RunLoop.DescriptorSource(sockets.first, for: []) { source, events in
                calls.value.append("resting \(events)")
                source.events = []
            }
            let reader = RunLoop.DescriptorSource(sockets.first) { source, _ in
                calls.value.append("reader \(readText(source.descriptor))")
            }
            addDescriptorSource(resting, to: loop)
            addDescriptorSource(reader, to: loop)
            sockets.send("1")
            for _ in 0..<3 { loop.runTurn() }
            resting.events = .writable
            for _ in 0..<3 { loop.runTurn() }
            reader.events = []
            sockets.send("2")
            for _ in 0..<3 { loop.runTurn() }
            reader.events = .readable
            loop.runTurn()
            #expect(calls.value == ["reader 1", "resting [writable]", "reader 2"])
        }
    }

    // MARK: Once

    @Test func `Another thread may arm a one-shot descriptor source while the loop sleeps`() {
        let rounds = isFull ? 10_000 : 300
        let pipe = DescriptorPair.pipe()
        pipe.send()
        withRealLoop { loop in
            let calls = Locked(0)
            let next = Permit()
            let source = RunLoop.DescriptorSource.sendable(pipe.first, repeats: false) { source, events in
                #expect(events == .readable)
                #expect(source.events == [])
                if calls.incremented() == rounds { return source.invalidate() }
                next.signal()
            }
            addDescriptorSource(source, to: loop)
            let other = TestThread {
                for _ in 1..<rounds {
                    next.wait()
                    source.events = .readable
                }
            }
            #expect(loop.runPlenty() == .finished)
            other.join()
            #expect(calls.count == rounds)
        }
    }

    @Test func `A one-shot descriptor source in two loops is called by one of them`() {
        let rounds = isFull ? 5000 : 200
        let pipe = DescriptorPair.pipe()
        pipe.send()
        let calls = Locked(0)
        let source = RunLoop.DescriptorSource.sendable(pipe.first, for: [], repeats: false) { _, _ in
            calls.increment()
        }
        let isOver = Locked(false)
        let ready = Permit()
        let threads = (0..<2).map { _ in
            TestThread {
                withRealLoop { loop in
                    addDescriptorSource(source, to: loop)
                    ready.signal()
                    while !isOver.withLock({ $0 }) { loop.run(in: .default, for: .milliseconds(1)) }
                }
            }
        }
        for _ in threads { ready.wait() }
        for round in 1...rounds {
            source.events = .readable
            waitUntil { calls.count == round }
            #expect(source.events == [])
        }
        isOver.withLock { $0 = true }
        for thread in threads { thread.join() }
        #expect(calls.count == rounds)
    }

    // MARK: Refused

    @Test func `Arming a source whose descriptor was closed reports an error once`() {
        let pipe = DescriptorPair.pipe()
        withRealLoop { loop in
            let number = duplicateFarAway(pipe.first)
            let told = Locked<[RunLoop.DescriptorEvents]>([])
            let source = RunLoop.DescriptorSource.sendable(number, for: []) { source, events in
                told.withLock { $0.append(events) }
                #expect(source.events == [])
                // The first report comes while the loop is awake; the second ends the loop's sleep.
                if told.withLock({ $0.count }) == 2 { RunLoop.current.stop() }
            }
            for mode: RunLoop.Mode in [.default, "second"] { addDescriptorSource(source, to: loop, in: mode) }
            close(number)
            source.events = .readable
            loop.runTurn()
            loop.runTurn(in: "second")
            #expect(told.withLock { $0 } == [.error])
            let other = TestThread {
                waitUntil { loop.isWaiting }
                source.events = .writable
            }
            #expect(loop.runPlenty() == .stopped)
            other.join()
            loop.runTurn()
            #expect(told.withLock { $0 } == [.error, .error])
            #expect(throws: RunLoop.SystemCallError(call: "epoll_ctl", code: EBADF)) {
                try loop.add(RunLoop.DescriptorSource(number) { _, _ in }, in: .default)
            }
        }
    }

    @Test func `A source whose descriptor number was reused is not called and does not disturb the new source`() {
        withRealLoop { loop in
            let old = DescriptorPair.pipe()
            let new = DescriptorPair.pipe()
            let stale = RunLoop.DescriptorSource(old.first) { _, _ in Issue.record("the old one was called") }
            addDescriptorSource(stale, to: loop)
            #expect(dup2(new.first, old.first) == old.first)
            new.send("new")
            #expect(loop.run(in: .default, for: .milliseconds(5)) == .timedOut)
            let fresh = RunLoop.DescriptorSource(old.first) { source, _ in
                #expect(readText(source.descriptor) == "new")
                loop.stop()
            }
            addDescriptorSource(fresh, to: loop)
            stale.events = [.readable, .writable]
            stale.invalidate()
            #expect(loop.runPlenty() == .stopped)
        }
    }

    // MARK: Closing

    private static func isOpen(_ descriptor: CInt) -> Bool { fcntl(descriptor, F_GETFD) >= 0 }

    @Test func `A source invalidated in its own callout closes its descriptor after the callout`() {
        let pipe = DescriptorPair.pipe()
        pipe.send()
        withRealLoop { loop in
            let number = duplicateFarAway(pipe.first)
            let source = RunLoop.DescriptorSource(number, closes: true) { source, _ in
                source.invalidate()
                source.invalidate()
                #expect(Self.isOpen(number))
            }
            addDescriptorSource(source, to: loop)
            #expect(loop.runPlenty() == .finished)
            #expect(!Self.isOpen(number))
            // Once: the number is another file's from here on.
            #expect(dup2(pipe.first, number) == number)
            source.invalidate()
            #expect(Self.isOpen(number))
            close(number)
        }
    }

    @Test func `A source closes its descriptor once, when it is released or invalidated`() {
        let pipe = DescriptorPair.pipe()
        withRealLoop { loop in
            for isAdded in [false, true] {
                for isInvalidated in [false, true] {
                    let number = duplicateFarAway(pipe.first)
                    do {
                        let source = RunLoop.DescriptorSource(number, for: [], closes: true) { _, _ in }
                        if isAdded { addDescriptorSource(source, to: loop) }
                        if isInvalidated {
                            source.invalidate()
                            #expect(!Self.isOpen(number))
                            #expect(dup2(pipe.first, number) == number)
                        } else {
                            loop.remove(source, from: .default)
                            #expect(Self.isOpen(number))
                        }
                    }
                    #expect(Self.isOpen(number) == isInvalidated)
                    if isInvalidated { close(number) }
                }
            }
            let number = duplicateFarAway(pipe.first)
            RunLoop.DescriptorSource(number) { _, _ in }.invalidate()
            #expect(Self.isOpen(number))
            close(number)
        }
    }

    @Test func `A source invalidated by another thread during its callout closes its descriptor after the callout`() {
        let rounds = isFull ? 10_000 : 500
        let open = Locked<RunLoop.DescriptorSource?>(nil)
        let next = Permit()
        let other = TestThread {
            for _ in 0..<rounds {
                next.wait()
                open.withLock { $0 }?.invalidate()
            }
        }
        withRealLoop { loop in
            for _ in 0..<rounds {
                let sockets = DescriptorPair.sockets()
                sockets.send()
                let source = RunLoop.DescriptorSource.sendable(dup(sockets.first), closes: true) { source, _ in
                    var byte: UInt8 = 0
                    let got = recv(source.descriptor, &byte, 1, CInt(MSG_PEEK))
                    #expect(got == 1, "errno \(errno)")
                }
                addDescriptorSource(source, to: loop)
                open.withLock { $0 = source }
                next.signal()
                // In small steps: whether a run has begun when its last source goes is a matter of chance.
                while source.isValid { loop.run(in: .default, for: .milliseconds(1)) }
            }
        }
        other.join()
    }

    // MARK: Many, and memory

    @Test(.needsDescriptors(2000)) func `A thousand ready descriptors are each served once`() {
        withRealLoop { loop in
            let pipes = (0..<1000).map { _ in DescriptorPair.pipe() }
            let calls = Box([Int](repeating: 0, count: pipes.count))
            for (place, pipe) in pipes.enumerated() {
                addDescriptorSource(
                    RunLoop.DescriptorSource(pipe.first) { source, _ in
                        calls.value[place] += 1
                        _ = readText(source.descriptor)
                        source.invalidate()
                    }, to: loop)
                pipe.send()
            }
            #expect(loop.runPlenty() == .finished)
            #expect(calls.value == [Int](repeating: 1, count: pipes.count))
        }
    }

    @Test func `A source's closure is released when the source is invalidated or released, or when its loop ends`() {
        let witnesses = (0..<3).map { _ in Witness() }
        let pipe = DescriptorPair.pipe()
        withRealLoop { loop in
            let sources = witnesses.map { witness in
                let token = witness.makeToken()
                return RunLoop.DescriptorSource(pipe.first) { _, _ in withExtendedLifetime(token) {} }
            }
            addDescriptorSource(sources[0], to: loop)
            sources[0].invalidate()
            #expect(witnesses[0].isGone)
            addDescriptorSource(sources[1], to: loop)
            _ = sources[2]
        }
        #expect(witnesses.allSatisfy { $0.isGone })
    }
}
