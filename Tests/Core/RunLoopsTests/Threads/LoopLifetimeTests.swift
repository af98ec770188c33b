// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsTestSupport
import Testing

@testable import RunLoops

/// The end of a loop's memory, beside calls on items that were in the loop.
@Suite(.ownThread) struct LoopLifetimeTests {
    /// Such an item still takes the lock of its loop, which it does not keep alive.
    @Test func `A loop may be released while another thread uses an item that was in it`() {
        let rounds = isFull ? 500_000 : 20_000
        let timer = Locked<RunLoop.Timer?>(nil)
        let isOver = Locked(false)
        let caller = TestThread {
            while !isOver.copy {
                guard let timer = timer.copy else { continue }
                for _ in 0..<20 {
                    timer.restart(after: .seconds(3600))
                    timer.tolerance = .seconds(1)
                }
            }
        }
        let witness = Witness()
        for _ in 0..<rounds {
            var loop: RunLoop? = RunLoop(kernel: EpollKernel(), threadID: SystemCalls.threadID)
            let item = RunLoop.Timer.sendable(.after(.seconds(3600))) { _ in }
            loop?.add(item, in: .default)
            timer.withLock { $0 = item }
            loop?.threadEnds()
            witness.watch(loop!)
            loop = nil
        }
        isOver.withLock { $0 = true }
        caller.join()
        #expect(witness.isGone)
    }
}
