// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsTestSupport
import Synchronization
import Testing

/// Signals are the process's: one test at a time, each with signals of its own.
@Suite(.ownThread, .serialized, .leavesNothing) struct SignalSourceTests {
    // MARK: Their life

    @Test func `A signal is reported with its sender`() throws {
        try withLoop { loop in
            let told = Box<SignalSource.Delivery?>(nil)
            let source = try SignalSource(SIGUSR1) { source, delivery in
                told.value = delivery
                source.invalidate()
            }
            add(source, to: loop)
            kill(getpid(), SIGUSR1)
            #expect(loop.runPlenty() == .finished)
            #expect(told.value?.signal == SIGUSR1)
            #expect(told.value?.count == 1)
            #expect(told.value?.sender == SignalSource.Sender(process: getpid(), user: getuid()))
        }
    }

    /// Blocks a signal in this thread, as the launcher of a program may have done in all.
    private static func block(_ signal: CInt) {
        var one = sigset_t()
        sigemptyset(&one)
        sigaddset(&one, signal)
        pthread_sigmask(SIG_BLOCK, &one, nil)
    }

    @Test func `A source receives a signal that was blocked in the thread that makes it`() throws {
        try withLoop { loop in
            Self.block(SIGUSR1)
            // For this thread alone: another thread may receive what is sent to the process.
            pthread_kill(pthread_self(), SIGUSR1)
            let count = Box(0)
            add(
                try SignalSource(SIGUSR1) { source, _ in
                    count.value += 1
                    if count.value == 2 { source.invalidate() } else { pthread_kill(pthread_self(), SIGUSR1) }
                }, to: loop)
            #expect(loop.runPlenty() == .finished)
            #expect(count.value == 2)
        }
    }

    @Test func `A source that another thread made receives a signal that was blocked in its loop's thread`() throws {
        try withLoop { loop in
            Self.block(SIGUSR1)
            let source = try TestThread.run { () throws(RunLoop.SystemCallError) in
                try SignalSource.sendable(SIGUSR1) { source, _ in source.invalidate() }
            }
            add(source, to: loop)
            pthread_kill(pthread_self(), SIGUSR1)
            #expect(loop.runPlenty() == .finished)
            #expect(!source.isValid)
        }
    }

    // The thread sanitizer holds signals back, and keeps one of a kind.
    @Test(.disabled(if: Sanitizer.isThread)) func `Queued signals are reported one by one with their values`() throws {
        try withLoop { loop in
            let values = Box<[CInt]>([])
            let signal = __libc_current_sigrtmin() + 1
            add(
                try SignalSource(signal) { source, delivery in
                    values.value.append(delivery.value)
                    if values.value.count == 20 { source.invalidate() }
                }, to: loop)
            for value in 1...20 { sigqueue(getpid(), signal, sigval(sival_int: CInt(value))) }
            #expect(loop.runPlenty() == .finished)
            #expect(values.value.sorted() == Array(1...20))
        }
    }

    @Test func `Each of several sources in loops of several threads receives the signal`() throws {
        let told = Locked(0)
        let ready = Permit()
        let threads = (0..<4).map { _ in
            TestThread {
                let loop = RunLoop.current
                for _ in 0..<3 {
                    guard
                        let source = try? SignalSource(
                            SIGUSR2,
                            handler: { source, _ in
                                told.increment()
                                source.invalidate()
                            })
                    else {
                        Issue.record("no source")
                        return
                    }
                    add(source, to: loop)
                }
                ready.signal()
                #expect(loop.runPlenty() == .finished)
            }
        }
        for _ in threads { ready.wait() }
        kill(getpid(), SIGUSR2)
        for thread in threads { thread.join() }
        #expect(told.count == 12)
    }

    @Test func `A signal sent to any thread is reported`() throws {
        let end = Permit()
        let before = TestThread { end.wait() }
        let signal = __libc_current_sigrtmin() + 2
        try withLoop { loop in
            let told = Box(0)
            let source = try SignalSource(signal) { source, delivery in
                told.value += delivery.count
                if told.value == 3 { source.invalidate() }
            }
            add(source, to: loop)
            let after = TestThread { end.wait() }
            before.signal(signal)
            after.signal(signal)
            // Its own.
            raise(signal)
            #expect(loop.runPlenty() == .finished)
            #expect(told.value == 3)
            end.signal()
            end.signal()
            after.join()
        }
        before.join()
    }

    @Test func `The earlier disposition of a signal is restored when its last source is invalidated`() throws {
        let signal = __libc_current_sigrtmin() + 3
        setHandler(signal, SIG_IGN)
        let first = try SignalSource.sendable(signal) { _, _ in }
        let second = try SignalSource.sendable(signal) { _, _ in }
        #expect(handler(of: signal) != handlerAddress(SIG_IGN))
        first.invalidate()
        #expect(handler(of: signal) != handlerAddress(SIG_IGN))
        second.invalidate()
        #expect(handler(of: signal) == handlerAddress(SIG_IGN))
        // Dropped and not cancelled.
        _ = try SignalSource.sendable(signal) { _, _ in }
        #expect(handler(of: signal) == handlerAddress(SIG_IGN))
        // Another's handler that came later stays.
        let third = try SignalSource.sendable(signal) { _, _ in }
        setHandler(signal, SIG_DFL)
        third.invalidate()
        #expect(handler(of: signal) == handlerAddress(SIG_DFL))
    }

    @Test func `A source invalidated in its closure restores the old disposition at once`() throws {
        try withLoop { loop in
            let signal = __libc_current_sigrtmin() + 4
            setHandler(signal, SIG_IGN)
            add(
                try SignalSource(signal) { source, _ in
                    source.invalidate()
                    #expect(handler(of: signal) == handlerAddress(SIG_IGN))
                }, to: loop)
            raise(signal)
            #expect(loop.runPlenty() == .finished)
        }
    }

    // MARK: The worst

    @Test func `A signal that cannot be caught is refused`() {
        for number in [SIGKILL, SIGSTOP, 0, -1, 65, 1000] {
            #expect(throws: RunLoop.SystemCallError(call: "sigaction", code: EINVAL)) {
                _ = try SignalSource.sendable(number) { _, _ in }
            }
        }
    }

    @Test func `All signals that four threads raise at once are counted`() throws {
        let signal = __libc_current_sigrtmin() + 5
        let each = isFull ? 250_000 : 5000
        try withLoop { loop in
            let counted = Box(0)
            let calls = Box(0)
            let source = try SignalSource(signal) { source, delivery in
                counted.value += delivery.count
                calls.value += 1
                if counted.value == 4 * each { source.invalidate() }
            }
            add(source, to: loop)
            // A signal that a thread sends itself is delivered before the call returns: none merge.
            let threads = (0..<4).map { _ in TestThread { for _ in 0..<each { raise(signal) } } }
            #expect(loop.runPlenty() == .finished)
            for thread in threads { thread.join() }
            #expect(counted.value == 4 * each)
            #expect(calls.value <= 4 * each)
        }
    }

    @Test func `Sources can be added and removed while other threads raise their signal`() throws {
        let signal = __libc_current_sigrtmin() + 6
        setHandler(signal, SIG_IGN)
        let isOver = Locked(false)
        let threads = (0..<2).map { _ in TestThread { while !isOver.withLock({ $0 }) { raise(signal) } } }
        try withLoop { loop in
            for _ in 0..<(isFull ? 500 : 20) {
                let sources = try (0..<3).map { _ in try SignalSource(signal) { source, _ in source.invalidate() } }
                for source in sources { add(source, to: loop) }
                #expect(loop.runPlenty() == .finished)
            }
        }
        isOver.withLock { $0 = true }
        for thread in threads { thread.join() }
        #expect(handler(of: signal) == handlerAddress(SIG_IGN))
    }

    @Test func `A signal sent while its first source is made reaches the earlier handler or the source`() throws {
        let signal = __libc_current_sigrtmin() + 11
        setHandler(signal) { _ in earlierCalls.add(1, ordering: .relaxed) }
        defer { setHandler(signal, SIG_DFL) }
        let rounds = isFull ? 20_000 : 2000
        let begun = Atomic(0)
        let ended = Atomic(0)
        try withLoop { loop in
            let told = Box(0)
            let sender = TestThread {
                for round in 1...rounds {
                    while begun.load(ordering: .acquiring) < round {}
                    // The signal comes at another moment of the source's making in each round.
                    for _ in 0..<(round % 100 * 20) { _ = begun.load(ordering: .relaxed) }
                    raise(signal)
                    ended.store(round, ordering: .releasing)
                }
            }
            defer { sender.join() }
            for round in 1...rounds {
                begun.store(round, ordering: .releasing)
                let source = try SignalSource(signal) { _, delivery in told.value += delivery.count }
                add(source, to: loop)
                while ended.load(ordering: .acquiring) < round { sched_yield() }
                _ = loop.runUntilIdle()
                source.invalidate()
            }
            let earlier = earlierCalls.load(ordering: .relaxed)
            #expect(told.value + earlier == rounds)
            #expect(told.value > 0 && earlier > 0)
        }
    }

    @Test func `Each of a thousand sources of one signal is called once`() throws {
        try withLoop { loop in
            let signal = __libc_current_sigrtmin() + 7
            let told = Box(0)
            for _ in 0..<1000 {
                add(
                    try SignalSource(signal) { source, delivery in
                        told.value += delivery.count
                        source.invalidate()
                    }, to: loop)
            }
            raise(signal)
            #expect(loop.runPlenty() == .finished)
            #expect(told.value == 1000)
        }
    }

    // MARK: Several sources on one thread, which share a descriptor

    @Test func `All sources of a mode are called in the same turn, each with every signal`() throws {
        try withLoop { loop in
            let signal = __libc_current_sigrtmin() + 8
            let told = Box<[String]>([])
            let sources = try ["one", "two", "three"].map { name in
                try SignalSource(signal) { _, _ in told.value.append(name) }
            }
            for source in sources { add(source, to: loop) }
            // To this thread: the handler has run when the call returns.
            for _ in 0..<2 { raise(signal) }
            loop.runTurn()
            #expect(told.value == ["one", "two", "three"])
            loop.runTurn()
            #expect(told.value.suffix(3) == ["one", "two", "three"])
            loop.runTurn()
            #expect(told.value.count == 6)
            for source in sources { source.invalidate() }
        }
    }

    @Test func `A signal that waits for a source in another mode, or in no loop, does not keep the loop awake`() throws
    {
        try withLoop { loop in
            let signal = __libc_current_sigrtmin() + 9
            let told = Box<[String]>([])
            func source(_ name: String) throws -> SignalSource {
                try SignalSource(signal) { _, _ in told.value.append(name) }
            }
            let (here, elsewhere, nowhere) = (try source("here"), try source("elsewhere"), try source("nowhere"))
            add(here, to: loop)
            add(elsewhere, to: loop, in: "other")
            for _ in 0..<2 { raise(signal) }
            _ = loop.runUntilIdle()
            #expect(told.value == ["here", "here"])
            // Not a single turn is needed when the loop has come to rest.
            let turns = Box(0)
            let observer = RunLoop.Observer(.afterWaiting) { _, _ in turns.value += 1 }
            loop.add(observer, in: .default)
            loop.run(in: .default, for: .milliseconds(100))
            #expect(turns.value <= 2)
            told.value = []
            _ = loop.runUntilIdle(in: "other")
            #expect(told.value == ["elsewhere", "elsewhere"])
            add(nowhere, to: loop)
            _ = loop.runUntilIdle()
            #expect(told.value.suffix(2) == ["nowhere", "nowhere"])
            for source in [here, elsewhere, nowhere] { source.invalidate() }
            observer.invalidate()
        }
    }

    @Test func `A source that is made after a signal does not receive it`() throws {
        try withLoop { loop in
            let signal = __libc_current_sigrtmin() + 10
            let told = Box<[String]>([])
            let first = try SignalSource(signal) { _, _ in told.value.append("first") }
            raise(signal)
            let second = try SignalSource(signal) { _, _ in told.value.append("second") }
            for source in [first, second] { add(source, to: loop) }
            _ = loop.runUntilIdle()
            #expect(told.value == ["first"])
            for source in [first, second] { source.invalidate() }
        }
    }
}

/// How often the handler was called that a test has installed.
private let earlierCalls = Atomic(0)

private func setHandler(_ signal: CInt, _ handler: __sighandler_t?) {
    var action = sigaction()
    action.__sigaction_handler.sa_handler = handler
    sigaction(signal, &action, nil)
}

private func handler(of signal: CInt) -> Int {
    var action = sigaction()
    sigaction(signal, nil, &action)
    return handlerAddress(action.__sigaction_handler.sa_handler)
}

private func handlerAddress(_ handler: __sighandler_t?) -> Int { unsafeBitCast(handler, to: Int.self) }
