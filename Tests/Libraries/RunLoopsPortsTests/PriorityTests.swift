// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsKit
import RunLoopsPorts
import RunLoopsTestSupport
import Testing

/// A message that carries its sender's priority.
@Suite(.ownThread, .enabled(if: mayRaise, "needs CAP_SYS_NICE"))
struct PriorityTests {
    /// The nice value of the calling thread.
    private static var nice: Int32 { getpriority(__priority_which_t(0), 0) }

    /// Sends a message from a thread to a port on another thread; the nice values of the receiver in its closure and afterwards.
    private func niceValues(
        sender: Int, receiver: Int, carries: Bool, changingTo change: Int32? = nil
    ) throws -> (inside: Int32, after: Int32) {
        let sending = try RunLoopThread(RunLoopThread.Attributes(name: "sender", nice: sender))
        let receiving = try RunLoopThread(RunLoopThread.Attributes(name: "receiver", nice: receiver))
        defer {
            for thread in [sending, receiving] {
                thread.stop()
                thread.join()
            }
        }
        let port = RunLoop.MessagePort.sendable { _ in
            let inside = Self.nice
            if let change { setpriority(__priority_which_t(0), 0, change) }
            return RunLoop.MessagePort.Message(id: inside)
        }
        port.carriesPriority = carries
        #expect(port.carriesPriority == carries)
        _ = try receiving.performAndWait { try receiving.loop.add(port, in: .default) }
        // Not performAndWait, with which this thread would lend the sender its own priority.
        let (inside, after) = (Locked<Int32?>(nil), Locked<Int32?>(nil))
        sending.post { [sender = port.sender] in
            let reply = try? sender.request(RunLoop.MessagePort.Message(), within: plenty)
            inside.withLock { $0 = reply?.id ?? .max }
        }
        waitUntil { inside.withLock { $0 != nil } }
        receiving.post { after.withLock { $0 = Self.nice } }
        waitUntil { after.withLock { $0 != nil } }
        port.invalidate()
        return (inside.withLock { $0 } ?? .min, after.withLock { $0 } ?? .min)
    }

    @Test func `A port's callout runs at the sender's priority, and the receiver's is restored afterwards`() throws {
        #expect(try niceValues(sender: 0, receiver: 10, carries: true) == (0, 10))
        #expect(try niceValues(sender: -5, receiver: 3, carries: true) == (-5, 3))
    }

    @Test func `A sender of lower priority does not slow the receiver down`() throws {
        #expect(try niceValues(sender: 10, receiver: 5, carries: true) == (5, 5))
    }

    @Test func `A port that does not carry priorities runs its closure at the receiver's priority`() throws {
        #expect(try niceValues(sender: 0, receiver: 10, carries: false) == (10, 10))
    }

    @Test func `A priority that the closure sets is kept after the callout`() throws {
        #expect(try niceValues(sender: 0, receiver: 10, carries: true, changingTo: 7) == (0, 7))
    }
}

/// Whether this process may give a thread a better nice value.
private let mayRaise: Bool = TestThread.run {
    setpriority(__priority_which_t(0), 0, 5)
    return setpriority(__priority_which_t(0), 0, -5) == 0
}
