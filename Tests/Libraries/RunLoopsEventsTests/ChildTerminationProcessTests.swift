// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsConcurrency
import RunLoopsEvents
import RunLoopsKit
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// Children that are asked to end, and killed if they do not.
@Suite(.ownThread, .leavesNothing) struct ChildTerminationProcessTests {
    @Test func `A child that ends by SIGTERM is not killed later`() throws {
        try withLoop { loop in
            let child = try Child.spawn(.name("sleep"), arguments: ["600"])
            let told = Box<ChildSource.Status?>(nil)
            add(ChildSource(child) { _, exit in told.value = exit.status }, to: loop)
            // Were the timer still there, the run would not finish for an hour.
            child.terminate(killAfter: .seconds(3600), on: loop, in: .default)
            #expect(loop.runPlenty() == .finished)
            #expect(told.value == .signalled(SIGTERM, dumpedCore: false))
            #expect(child.exit?.status == told.value)
        }
    }

    @Test func `A child that ignores SIGTERM is killed when killAfter has passed, not before`() throws {
        try withLoop { loop in
            let child = try spawnIgnoring()
            let began = ContinuousClock.now
            child.terminate(killAfter: .milliseconds(50), on: loop)
            // A second call with more time changes nothing.
            child.terminate(killAfter: .seconds(3600), on: loop)
            #expect(loop.runPlenty() == .finished)
            #expect(child.exit?.status == .signalled(SIGKILL, dumpedCore: false))
            #expect(ContinuousClock.now - began >= .milliseconds(50))
        }
    }

    @Test func `The description of a child that has not obeyed SIGTERM names killAfter`() throws {
        try withLoop { loop in
            let child = try spawnIgnoring()
            #expect("\(child)" == "<Child \(child.process)>{not reaped}")
            child.terminate()
            #expect("\(child)".contains("{not reaped, SIGTERM "))
            #expect("\(child)".contains("terminate(killAfter:on:in:)"))
            child.terminate(killAfter: .zero, on: loop)
            #expect(loop.runPlenty() == .finished)
            _ = child.exit
            #expect(!"\(child)".contains("killAfter"))
        }
    }

    @Test func `terminate ends a child that is stopped by SIGSTOP`() throws {
        try withLoop { loop in
            let child = try Child.spawn(.name("sleep"), arguments: ["600"])
            try child.send(SIGSTOP)
            child.terminate(killAfter: .seconds(3600), on: loop)
            #expect(loop.runPlenty() == .finished)
            #expect(child.exit?.status == .signalled(SIGTERM, dumpedCore: false))
        }
    }

    @Test func `terminate does nothing after the child has ended`() throws {
        try withLoop { loop in
            let child = try Child.spawn(.name("true"))
            add(ChildSource(child) { _, _ in }, to: loop)
            #expect(loop.runPlenty() == .finished)
            child.terminate(killAfter: .zero, on: loop, in: .default)
            #expect(loop.isEmpty(in: .default))
            #expect(child.exit?.status.isSuccess == true)
        }
    }

    @Test func `The loop retains a child from the call of terminate until the child has ended`() throws {
        try withLoop { loop in
            var child: Child? = try spawnIgnoring()
            weak let weakChild = child
            child?.terminate(killAfter: .milliseconds(1), on: loop)
            child = nil
            #expect(weakChild != nil)
            #expect(loop.runPlenty() == .finished)
            #expect(weakChild == nil)
        }
    }

    @Test func `In virtual time the child is killed exactly when killAfter has passed`() throws {
        try ManualRunLoop.with { manual in
            let child = try spawnIgnoring()
            child.terminate(killAfter: .seconds(3600), on: manual.loop)
            manual.advance(by: .seconds(3599))
            #expect(child.exit == nil)
            manual.advance(by: .seconds(1))
            #expect(waitForEnd(child) == .signalled(SIGKILL, dumpedCore: false))
        }
    }

    @Test func `A task can terminate a child on another thread's loop and wait for its exit`() async throws {
        let thread = try RunLoopThread(name: "termination")
        let child = try spawnIgnoring()
        child.terminate(killAfter: .milliseconds(1), on: thread.loop)
        #expect(try await thread.loop.exit(of: child).status == .signalled(SIGKILL, dumpedCore: false))
        end(thread)
        // A loop whose thread has ended keeps no time: the first signals are all.
        let other = try Child.spawn(.name("sleep"), arguments: ["600"])
        other.terminate(killAfter: .zero, on: thread.loop)
        #expect(waitForEnd(other) == .signalled(SIGTERM, dumpedCore: false))
    }

    /// A child that ignores `SIGTERM` from now on.
    private func spawnIgnoring() throws -> Child {
        // The shell alone is killed: what it waits for ends with its input.
        let child = try Child.spawn(
            .name("sh"), arguments: ["-c", "trap '' TERM; echo ready; read line; read line"], input: .pipe,
            output: .pipe)
        let output = try #require(child.standardOutput?.descriptor)
        #expect(rl_wait_readable(output, -1) > 0)
        return child
    }
}
