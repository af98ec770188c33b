// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// A thread with a running loop, for a test: its closures, its end, and what it says when it does not end.
@Suite(.ownThread) struct LoopThreadTests {
    private struct Failure: Error {}

    /// Short: every use of it is waited for in full.
    private let soon = Duration.milliseconds(20)

    @Test func `sync runs closures on the loop's thread, one after the other`() throws {
        try RunLoop.TestThread.with { thread in
            let (order, loop) = (Locked<[String]>([]), thread.loop)
            let threads = try (0..<100).map { number in
                try thread.sync { given in
                    #expect(given === loop && RunLoop.current === loop)
                    order.note("\(number)")
                    return pthread_self()
                }
            }
            #expect(Set(threads).count == 1)
            #expect(!threads.contains(pthread_self()))
            #expect(order.lines == (0..<100).map(String.init))
        }
    }

    @Test func `The loop of a TestThread runs in the default mode and sleeps between closures`() throws {
        try RunLoop.TestThread.with { thread in
            let mode = try thread.sync { $0.currentMode }
            #expect(mode == .default)
            waitUntil { thread.loop.isWaiting }
        }
    }

    @Test func `sync inside a closure runs its closure at once`() throws {
        try RunLoop.TestThread.with { thread in
            let value = try thread.sync { _ in try thread.sync { _ in 7 } }
            #expect(value == 7)
        }
    }

    @Test func `A closure may run the loop and another closure may stop that run`() throws {
        try RunLoop.TestThread.with { thread in
            let began = Permit()
            let result = Locked<RunLoop.RunResult?>(nil)
            let waiting = TestThread {
                let run = try? thread.sync { loop in
                    loop.performLocally { began.signal() }
                    return loop.run(in: .default, until: nil)
                }
                result.withLock { $0 = run }
            }
            began.wait()
            try thread.sync { $0.stop() }
            waiting.join()
            #expect(result.copy == .stopped)
        }
    }

    @Test func `sync can run its closure in a private mode`() throws {
        try RunLoop.TestThread.with { thread in
            thread.loop.perform {
                let loop = RunLoop.current
                loop.add(RunLoop.Source(label: "keeper") { _ in }, in: .tracking)
                loop.run(in: .tracking, until: nil)
            }
            waitUntil { thread.loop.currentMode == .tracking }
            let mode = try thread.sync(in: [.tracking]) { loop in
                loop.stop()
                return loop.currentMode
            }
            #expect(mode == .tracking)
        }
    }

    @Test func `An error thrown by a closure is rethrown by sync and by TestThread.with, and the thread ends`() {
        let witness = Witness()
        #expect(throws: Failure.self) {
            try RunLoop.TestThread.with { thread in
                hold(witness.makeToken(), in: thread.loop)
                try thread.sync { _ in throw Failure() }
            }
        }
        #expect(witness.isGone)
    }

    @Test func `The end of TestThread.with stops nested runs and releases the loop's items`() throws {
        let (witness, began) = (Witness(), Permit())
        let value = try RunLoop.TestThread.with { thread in
            hold(witness.makeToken(), in: thread.loop)
            thread.loop.perform {
                let loop = RunLoop.current
                loop.performLocally {
                    loop.performLocally { began.signal() }
                    loop.run(in: .default, until: nil)
                }
                loop.run(in: .default, until: nil)
            }
            began.wait()
            return 5
        }
        #expect(value == 5)
        #expect(witness.isGone)
    }

    @Test func `sync throws a timeout that describes the loop if a closure does not return`() throws {
        try RunLoop.TestThread.with(name: "keen", within: soon) { thread in
            let (began, proceed) = (Permit(), Permit())
            thread.loop.perform {
                began.signal()
                proceed.wait()
            }
            began.wait()
            // It waits for the callout before it, and gives up its place with the test's patience.
            let ran = Locked<[String]>([])
            let error = #expect(throws: RunLoop.TestThread.Timeout.self) { try thread.sync { _ in ran.note("late") } }
            proceed.signal()
            // On a busy machine this one may be late as well.
            waitUntil { (try? thread.sync { _ in ran.note("next") }) != nil }
            #expect(Set(ran.lines) == ["next"])
            let text = error?.description ?? ""
            #expect(text.hasPrefix("A closure of TestThread.sync has not returned within 0.02 seconds: on thread "))
            #expect(text.contains("(keen) a callout in mode kCFRunLoopDefaultMode has not returned.\n"))
        }
    }

    @Test
    func `If the loop does not end, TestThread.with throws a timeout that describes the loop and the test's own error`()
    {
        let (began, proceed, witness) = (Permit(), Permit(), Witness())
        let error = #expect(throws: RunLoop.TestThread.Timeout.self) {
            try RunLoop.TestThread.with(within: soon) { thread in
                hold(witness.makeToken(), in: thread.loop)
                thread.loop.perform {
                    began.signal()
                    proceed.wait()
                }
                began.wait()
                throw Failure()
            }
        }
        let text = error?.description ?? ""
        #expect(text.hasPrefix("The loop of TestThread.with has not ended within 0.02 seconds: on thread "))
        #expect(text.contains("a callout in mode kCFRunLoopDefaultMode has not returned."))
        #expect(text.contains("The test had thrown before: Failure()."))
        proceed.signal()
        waitUntil { witness.isGone }
    }

    @Test func `A loop that sleeps in a private mode at the end of the test is reported`() {
        let (loop, witness) = (Locked<RunLoop?>(nil), Witness())
        let error = #expect(throws: RunLoop.TestThread.Timeout.self) {
            try RunLoop.TestThread.with(within: soon) { thread in
                loop.withLock { $0 = thread.loop }
                hold(witness.makeToken(), in: thread.loop)
                thread.loop.perform {
                    RunLoop.current.add(RunLoop.Source(label: "keeper") { _ in }, in: "private")
                    RunLoop.current.run(in: "private", until: nil)
                }
                waitUntil { thread.loop.currentMode == "private" && thread.loop.isWaiting }
            }
        }
        #expect(error?.description.contains("the loop sleeps in mode private: nothing has ended that run") == true)
        loop.copy?.stop()
        waitUntil { witness.isGone }
    }

    @Test func `sync after the end of the test traps with a message that names the remedy`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try TestThread.run {
                let thread = try RunLoop.TestThread.with { $0 }
                try thread.sync { _ in }
            }
        }
        expectText(result, "has ended with TestThread.with: use it inside of the closure alone")
    }

    /// Lets the loop hold a token until its thread ends.
    private func hold(_ token: Token, in loop: RunLoop) {
        loop.add(RunLoop.Source.sendable(label: "holder") { _ in withExtendedLifetime(token) {} }, in: "held")
    }
}
