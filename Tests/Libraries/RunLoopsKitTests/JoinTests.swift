// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsKit
import RunLoopsTestSupport
import Testing

/// Waiting for a thread's end, while that thread may wait for the waiting one.
@Suite(.ownThread) struct JoinTests {
    @Test func `performAndWait on a thread that joins the caller throws`() throws {
        let (joining, asking) = (makeThread("joining"), makeThread("asking"))
        let errors = Locked<[RunLoop.PerformError?]>([])
        let begun = Permit()
        asking.post {
            begun.signal()
            // Until the other one waits: before, this is an ordinary wait that takes too long.
            var found: RunLoop.PerformError?
            while true {
                do {
                    try joining.performAndWait(startingWithin: .milliseconds(1)) {}
                } catch {
                    found = error as? RunLoop.PerformError
                    if case .cycle = found { break }
                }
            }
            errors.withLock { $0.append(found) }
            asking.stop()
        }
        begun.wait()
        joining.post { asking.join() }
        joining.stop()
        joining.join()
        #expect(errors.copy == [.cycle([asking.identity, joining.identity])])
    }

    @Test func `A join returns after performAndWait of the joined thread has thrown`() {
        let (joining, asking) = (makeThread("joining"), makeThread("asking"))
        let errors = Locked<[RunLoop.PerformError?]>([])
        let (busy, proceed) = (Permit(), Permit())
        joining.post {
            busy.signal()
            proceed.wait()
            asking.join()
        }
        busy.wait()
        asking.post {
            proceed.signal()
            do {
                try joining.performAndWait(startingWithin: .milliseconds(50)) {}
            } catch { errors.withLock { $0.append(error as? RunLoop.PerformError) } }
        }
        asking.stop()
        joining.stop()
        joining.join()
        // Which of the two waits began first is open, and so is why the second one did not get its way.
        #expect(errors.copy.count == 1)
    }

    @Test func `Several threads may join one thread`() {
        let thread = makeThread("ending")
        let others = (0..<3).map { makeThread("other \($0)") }
        let (begun, proceed) = (Permit(), Permit())
        let isDone = Locked<Bool>(false)
        let seen = Locked<[Bool]>([])
        thread.post {
            proceed.wait()
            isDone.withLock { $0 = true }
        }
        for other in others {
            other.post {
                begun.signal()
                thread.join()
                seen.withLock { $0.append(isDone.copy) }
            }
        }
        for _ in others { begun.wait() }
        thread.stop()
        proceed.signal()
        for other in others { other.stop() }
        for other in others { other.join() }
        #expect(seen.copy == [true, true, true])
    }
}

/// Joins that trap, each in a process of its own.
@Suite(.ownThread) struct JoinTrapProcessTests {
    @Test func `Joining a thread that waits for the caller traps and names both threads`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (joining, asking) = (makeThread("joining"), makeThread("asking"))
            // The closure of the one runs on the other, which then waits for its end.
            asking.post { try? joining.performAndWait { asking.join() } }
            TestThread.run { joining.join() }
        }
        expectText(result, "(joining) was asked to wait for the end of thread ")
        expectText(result, "(asking), which waits on thread ")
        expectText(result, "Call stop() alone there")
    }

    @Test func `Two threads that join each other trap`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (one, two) = (makeThread("one"), makeThread("two"))
            one.post { two.join() }
            two.post { one.join() }
            TestThread.run { one.join() }
        }
        expectText(result, "was asked to wait for the end of thread ")
        expectText(result, "none could go on")
    }
}
