// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// A mode becomes a common one while a block waits for the common modes: Specification 3.7.5.
@Suite(.ownThread) struct MarkingTests {
    /// Another thread marks a mode as common when the loop has looked for closures and is about to sleep in the mode.
    private final class Marking: ManualWorld, @unchecked Sendable {
        let kernel = ManualKernel()
        let loop: RunLoop
        private var hasMarked = false

        init() {
            loop = RunLoop(kernel: kernel, threadID: SystemCalls.threadID)
            kernel.world = self
        }

        func refusal(
            of events: RunLoop.DescriptorEvents, former: RunLoop.DescriptorEvents?
        ) -> RunLoop.SystemCallError? { nil }

        func willSleep() {
            if hasMarked { return }
            hasMarked = true
            let loop = loop
            TestThread.run { loop.markCommon("other") }
        }

        func whileAsleep(until limit: WaitLimit) -> ManualHappening { .nothing(late: 0) }
    }

    @Test func `A mode marked as common before the sleep runs the common blocks`() {
        let marking = Marking()
        let loop = marking.loop
        defer { loop.threadEnds() }
        let timer = RunLoop.Timer.starting(
            at: RunLoop.Instant(nanoseconds: marking.kernel.now(.monotonic)).advanced(by: .seconds(3600)),
            tolerance: .zero, label: "keeps the mode"
        ) { _ in }
        loop.add(timer, in: "other")
        let start = marking.kernel.now(.monotonic)
        let ran = Locked<Int64?>(nil)
        loop.perform(in: .common) { [kernel = marking.kernel] in
            let now = kernel.now(.monotonic)
            ran.withLock { $0 = now - start }
        }
        loop.run(in: "other", for: .seconds(1))
        #expect(ran.copy == 0)
    }

    /// With a descriptor the loop sleeps on epoll, without on a futex.
    @Test(arguments: [false, true]) func `A mode marked as common during the sleep runs the common blocks`(
        hasDescriptor: Bool
    ) {
        withRealLoop { loop in
            let pipe = DescriptorPair.pipe()
            if hasDescriptor {
                addDescriptorSource(RunLoop.DescriptorSource(pipe.first) { _, _ in }, to: loop, in: "other")
            }
            loop.addSource(in: "other")
            let hasRun = Locked(false)
            loop.perform(in: .common) {
                hasRun.withLock { $0 = true }
                RunLoop.current.stop()
            }
            let marker = TestThread {
                waitUntil { loop.isWaiting }
                loop.markCommon("other")
            }
            #expect(loop.run(in: "other", for: .seconds(600)) == .stopped)
            #expect(hasRun.copy)
            marker.join()
            withExtendedLifetime(pipe) {}
        }
    }

    @Test func `Marking a mode as common during the sleep causes no turn if there is no common block`() {
        withRealLoop { loop in
            loop.addSource(in: "other")
            let turns = Locked(0)
            loop.add(RunLoop.Observer(.beforeTimers) { _, _ in turns.increment() }, in: "other")
            let marker = TestThread {
                waitUntil { loop.isWaiting }
                loop.markCommon("other")
                loop.stop()
            }
            #expect(loop.run(in: "other", for: .seconds(600)) == .stopped)
            #expect(turns.count == 1)
            marker.join()
        }
    }

    @Test(arguments: [false, true])
    func `A mode marked as common while the thread is in the host runs the common blocks`(
        onTheLoopsThread: Bool
    ) throws {
        try withRealLoop { loop in
            Result {
                loop.addSource(in: "other")
                let host = try Host(loop, in: "other")
                let hasRun = Locked(false)
                loop.perform(in: .common) { hasRun.withLock { $0 = true } }
                // The wake-up of the block may have its turn first.
                while host.isReady { loop.runReady(in: "other") }
                #expect(!hasRun.copy)
                if onTheLoopsThread {
                    loop.markCommon("other")
                } else {
                    TestThread.run { loop.markCommon("other") }
                }
                #expect(host.run(in: "other") { hasRun.copy } != nil)
            }
        }.get()
    }
}
