// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsKit
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// Waiting for a closure on another thread, and what makes that impossible.
@Suite(.ownThread) struct PerformAndWaitTests {
    private struct Refusal: Error, Equatable {}

    /// What the wait was refused with.
    private func refusal(_ body: () throws -> Void) -> RunLoop.PerformError? {
        do {
            try body()
            return nil
        } catch {
            return error as? RunLoop.PerformError
        }
    }

    @Test func `performAndWait returns the closure's result or throws its error`() throws {
        let thread = makeThread("answers")
        let number = try thread.loop.performAndWait { SystemCalls.threadID }
        #expect(number == thread.identity.number)
        #expect(throws: Refusal()) { try thread.loop.performAndWait { throw Refusal() } }
        #expect(try thread.performAndWait { 42 } == 42)
        #expect(throws: Refusal()) { try thread.performAndWait { throw Refusal() } }
    }

    @Test func `performAndWait on the caller's own loop runs the closure at once`() throws {
        try ManualRunLoop.with { (manual) throws in
            let result = try manual.loop.performAndWait { 1 }
            #expect(result == 1)
            #expect(manual.polls == 0)
        }
        let thread = makeThread("itself")
        let inner = try thread.performAndWait { try thread.performAndWait { SystemCalls.threadID } }
        #expect(inner == thread.identity.number)
    }

    @Test func `performAndWait on an ended thread throws at once and names both threads`() {
        let thread = makeThread("gone")
        thread.stop()
        thread.join()
        let here = makeThread("asking")
        let expected = RunLoop.PerformError.threadEnded(
            waiting: here.identity, on: RunLoopThread.Identity(number: thread.identity.number, name: "gone"))
        let error = try? here.performAndWait { refusal { try thread.performAndWait {} } }
        #expect(error == expected)
        #expect("\(expected)".contains("asking") && "\(expected)".contains("gone"))
        let other = try? here.performAndWait { refusal { try thread.loop.performAndWait {} } }
        guard case .threadEnded(let waiting, let on) = other else {
            Issue.record("\(String(describing: other))")
            return
        }
        #expect(waiting == here.identity)
        #expect(on.number == thread.identity.number)
    }

    @Test func `performAndWait throws if the thread ends during the wait`() {
        let thread = makeThread("ending")
        let here = makeThread("asking")
        let (busy, proceed, done) = (Permit(), Permit(), Permit())
        thread.post {
            busy.signal()
            proceed.wait()
        }
        busy.wait()
        let errors = Locked<[RunLoop.PerformError?]>([])
        here.post {
            errors.withLock { $0.append(refusal { try thread.performAndWait {} }) }
            // The thread has taken no task, but its loop lives: this one is released with the loop.
            proceed.signal()
            errors.withLock { $0.append(refusal { try thread.loop.performAndWait(in: ["never"]) {} }) }
            done.signal()
        }
        // Whether it comes before the wait or during it, the answer is the same.
        thread.stop(.dropping)
        done.wait()
        let found = errors.withLock { $0 }
        #expect(found.count == 2)
        for error in found {
            guard case .threadEnded(here.identity, let on) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(on.number == thread.identity.number)
        }
    }

    @Test func `performAndWait throws after the given time if the loop does not run`() {
        let thread = makeThread("busy")
        let here = makeThread("asking")
        let (busy, proceed) = (Permit(), Permit())
        thread.post {
            busy.signal()
            proceed.wait()
        }
        busy.wait()
        let ran = Locked(0)
        let start = RunLoop.Instant.now
        let error = try? here.performAndWait {
            refusal { try thread.loop.performAndWait(startingWithin: .milliseconds(20)) { ran.increment() } }
        }
        #expect(start.duration(to: .now) >= .milliseconds(20))
        #expect(error == .notStarted(waiting: here.identity, on: thread.identity, within: .milliseconds(20)))
        proceed.signal()
        thread.stop()
        thread.join()
        #expect(ran.count == 0)
    }

    @Test func `performAndWait waits for a closure that started in time`() throws {
        let thread = makeThread("slow")
        let (begun, proceed) = (Permit(), Permit())
        let here = makeThread("asking")
        let results = Locked<[Int]>([])
        here.post {
            let result = try? thread.performAndWait(startingWithin: plenty) {
                begun.signal()
                proceed.wait()
                return 7
            }
            results.withLock { $0.append(result ?? 0) }
        }
        begun.wait()
        proceed.signal()
        here.stop()
        here.join()
        #expect(results.withLock { $0 } == [7])
    }

    @Test func `Two threads that wait for each other get an error at once`() {
        let (one, two) = (makeThread("one"), makeThread("two"))
        let error = try? one.performAndWait { try two.performAndWait { refusal { try one.performAndWait {} } } }
        #expect(error == .cycle([two.identity, one.identity]))
    }

    @Test func `A cycle of three threads is found and each thread is named`() {
        let threads = ["one", "two", "three"].map(makeThread)
        let (one, two, three) = (threads[0], threads[1], threads[2])
        let error = try? one.performAndWait {
            try two.performAndWait { try three.performAndWait { refusal { try one.loop.performAndWait {} } } }
        }
        #expect(error == .cycle([three.identity, one.identity, two.identity]))
        for name in ["one", "two", "three"] { #expect(String(describing: error).contains(name)) }
        // And nothing is left of it.
        #expect((try? three.performAndWait { try one.performAndWait { 1 } }) == 1)
    }

    @Test func `If two threads close a cycle of waits at the same time, at least one of them gets an error`() {
        let (one, two) = (makeThread("one"), makeThread("two"))
        let errors = Locked<[RunLoop.PerformError]>([])
        let (first, second) = (Permit(), Permit())
        // Each asks while it is in a task of its own: one of them gets in first, and the other gets an error.
        one.post {
            first.signal()
            second.wait()
            if let error = refusal({ try two.performAndWait {} }) { errors.withLock { $0.append(error) } }
        }
        two.post {
            second.signal()
            first.wait()
            if let error = refusal({ try one.performAndWait {} }) { errors.withLock { $0.append(error) } }
        }
        for thread in [one, two] {
            thread.stop()
        }
        for thread in [one, two] { thread.join() }
        // A thread that was stopped also refuses, by its end; no waiting thread hangs.
        #expect(!errors.withLock { $0 }.isEmpty)
    }

    @Test func `If two threads wait for each other almost at once, the second wait succeeds or reports a cycle`() throws
    {
        let (one, two) = (makeThread("one"), makeThread("two"))
        for _ in 0..<500 {
            let done = Permit()
            one.post {
                _ = try? two.performAndWait {}
                done.signal()
            }
            // Posted behind the one above: `one` may not have woken up yet, and is not to blame for it.
            let error = try two.performAndWait { refusal { try one.performAndWait(startingWithin: plenty) {} } }
            if case .cycle = error { done.wait() } else { #expect(error == nil) }
            if error == nil { done.wait() }
        }
    }
}
