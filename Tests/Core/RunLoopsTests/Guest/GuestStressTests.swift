// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

/// Random operations from three threads under a loop that only ever waits for the descriptor.
///
/// The whole 100,000 of them with `RUNLOOPS_FULL=1`.
@Suite(.ownThread)
struct GuestStressTests {
    private static var operations: Int { getenv("RUNLOOPS_FULL") == nil ? 15_000 : 100_000 }

    @Test func `A host serves random work once and in time, and makes no turn without a reason`() throws {
        let ledger = Ledger()
        let outcome = try withGuest { host in Self.drive(host, ledger) }
        #expect(outcome.isComplete, "the descriptor stayed silent for plenty of time")
        #expect(ledger.faults == [])
        // A turn that did nothing needs a reason: a wake-up whose reason was served before, or a timer or a descriptor
        // that was taken away when it had made the descriptor readable.
        #expect(outcome.idleRuns <= ledger.excuses)
        print(
            "guest: \(Self.operations) operations, \(outcome.runs) runs, \(outcome.idleRuns) for nothing",
            ledger.summary)
    }

    @Test func `After all work is done, the poll descriptor is not readable`() throws {
        let ledger = Ledger()
        let isSilent = try withGuest { host in
            #expect(Self.drive(host, ledger).isComplete, "the descriptor stayed silent for plenty of time")
            // The last wake-up may have come when the turn before had done its work: one turn takes it.
            host.loop.runReady()
            host.loop.add(RunLoop.Timer(.after(.seconds(1000))) { _ in }, in: .default)
            return !host.isReadable(within: .milliseconds(200))
        }
        #expect(isSilent)
    }

    private struct Outcome: Sendable {
        var runs = 0
        var idleRuns = 0
        var isComplete = true
    }

    private static func drive(_ host: Host, _ ledger: Ledger) -> Outcome {
        let loop = host.loop
        let threads = (0..<3).map { number in
            Worker(loop: loop, ledger: ledger, seed: UInt64(number) + 1, operations: operations / 3)
        }.map { worker in TestThread { worker.work() } }
        var outcome = Outcome()
        while !ledger.isDone(threads.count) {
            guard host.isReadable(within: plenty) else {
                outcome.isComplete = false
                break
            }
            let before = ledger.callouts
            loop.runReady()
            outcome.runs += 1
            if ledger.callouts == before { outcome.idleRuns += 1 }
            ledger.check(host)
        }
        for thread in threads { thread.join() }
        return outcome
    }
}
