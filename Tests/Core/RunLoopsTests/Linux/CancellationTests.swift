// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

/// `pthread_cancel` of a thread that calls a loop.
@Suite(.ownThread) struct CancellationTests {
    enum Call: CaseIterable, Sendable {
        case add, stop, wakeUp, perform, changeEvents
    }

    /// A thread that ended there would leave the loop's lock held for ever.
    @Test(arguments: Call.allCases)
    func `A cancelled thread does not exit inside a call on a sleeping loop`(call: Call) {
        let (cameThrough, running) = (Locked(false), RunningLoop())
        let loop = running.loop
        let pipe = DescriptorPair.pipe()
        let source = RunLoop.DescriptorSource.sendable(pipe.first) { _, _ in }
        addDescriptorSource(source, to: loop)
        let caller = TestThread {
            waitUntil { loop.isWaiting }
            let run = loop.currentRun
            pthread_cancel(pthread_self())
            switch call {
            case .add: loop.add(RunLoop.Timer.sendable(.after(.zero)) { _ in }, in: .default)
            case .stop: run.map { loop.stop($0) }
            case .wakeUp: loop.wakeUp()
            case .perform: loop.perform {}
            case .changeEvents: source.events = .writable
            }
            // The cancellation is still to come, and is not wanted.
            pthread_setcancelstate(CInt(PTHREAD_CANCEL_DISABLE), nil)
            cameThrough.withLock { $0 = true }
        }
        caller.join()
        guard cameThrough.copy else {
            Issue.record("the thread has ended inside of the call")
            return
        }
        source.invalidate()
        running.end()
    }
}
