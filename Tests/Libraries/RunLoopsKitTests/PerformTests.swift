// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsKit
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// Asking a loop to run a closure, and taking it back.
@Suite(.ownThread) struct PerformTests {
    @Test func `A request wakes the loop and runs once on its thread`() {
        let thread = makeThread("worker")
        let ran = Locked<[Int32]>([])
        let done = Permit()
        let request = thread.loop.performRequest {
            ran.withLock { $0.append(SystemCalls.threadID) }
            done.signal()
        }
        done.wait()
        #expect(ran.withLock { $0 } == [thread.identity.number])
        #expect(!request.isPending)
        #expect(!request.cancel())
    }

    @Test func `A delayed request runs at its instant and not before`() {
        ManualRunLoop.with { manual in
            let ran = Locked(0)
            manual.loop.performRequest(after: .seconds(3)) { ran.increment() }
            manual.advance(by: .milliseconds(2999))
            #expect(ran.count == 0)
            manual.advance(by: .milliseconds(1))
            #expect(ran.count == 1)
            manual.advance(by: .seconds(10))
            #expect(ran.count == 1)
        }
    }

    @Test(arguments: [nil, Duration.zero]) func `A request runs only in its modes`(delay: Duration?) {
        ManualRunLoop.with { manual in
            let ran = Locked(0)
            keepAlive(manual.loop)
            manual.loop.performRequest(after: delay, in: ["one", "two"]) { ran.increment() }
            manual.advance(by: .seconds(1))
            #expect(ran.count == 0)
            manual.advance(by: .seconds(1), in: "two")
            #expect(ran.count == 1)
            manual.advance(by: .seconds(1), in: "one")
            #expect(ran.count == 1)
        }
    }

    @Test(arguments: [nil, Duration.seconds(1)]) func `A cancelled request does not run and is released at once`(
        delay: Duration?
    ) {
        ManualRunLoop.with { manual in
            let released = Locked(0)
            var token: Token? = Token { released.increment() }
            let request = manual.loop.performRequest(after: delay) { [token] in withExtendedLifetime(token) {} }
            token = nil
            #expect(request.isPending)
            #expect(request.cancel())
            #expect(released.count == 1)
            #expect(!request.isPending)
            #expect(!request.cancel())
            manual.advance(by: .seconds(2))
            #expect(manual.loop.nextTimerDeadline(in: .default) == nil)
        }
    }

    @Test func `cancelPerforms cancels all requests of a target and no others`() {
        ManualRunLoop.with { manual in
            let lines = Locked<[String]>()
            let (mine, other) = (Token(), Token())
            manual.loop.performRequest(for: mine) { lines.note("mine") }
            manual.loop.performRequest(for: mine, after: .seconds(1)) { lines.note("mine later") }
            manual.loop.performRequest(for: other, after: .seconds(1)) { lines.note("other") }
            manual.loop.performRequest { lines.note("nobody's") }
            #expect(manual.loop.cancelPerforms(for: mine) == 2)
            #expect(manual.loop.cancelPerforms(for: mine) == 0)
            manual.advance(by: .seconds(2))
            #expect(lines.lines == ["nobody's", "other"])
        }
    }

    @Test func `A target is kept alive until its request has run`() {
        ManualRunLoop.with { manual in
            let released = Locked(0)
            manual.loop.performRequest(for: Token { released.increment() }, after: .seconds(1)) {}
            manual.advance(by: .milliseconds(999))
            #expect(released.count == 0)
            manual.advance(by: .milliseconds(1))
            #expect(released.count == 1)
        }
    }

    @Test func `A pending request is cancelled when its thread ends`() {
        let thread = makeThread("short")
        let released = Locked(0)
        let token = Token { released.increment() }
        let requests = [nil, Duration.seconds(100)].map { delay in
            thread.loop.performRequest(for: token, after: delay, in: ["never"]) {}
        }
        thread.stop()
        thread.join()
        #expect(requests.allSatisfy { !$0.isPending })
        #expect(!thread.loop.performRequest(for: token) {}.isPending)
        #expect(thread.loop.cancelPerforms(for: token) == 0)
    }

    @Test func `A pending request costs an idle loop no wake-up`() {
        ManualRunLoop.with { manual in
            keepAlive(manual.loop)
            manual.loop.performRequest(after: .seconds(100)) {}
            manual.loop.performRequest(in: ["other"]) {}
            manual.advance(by: .zero)
            #expect(idleWakeUps(manual) == 0)
        }
    }
}
