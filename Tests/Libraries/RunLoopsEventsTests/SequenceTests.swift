// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsConcurrency
import RunLoopsEvents
import RunLoopsKit
import RunLoopsTestSupport
import Testing

/// Signals and file changes, awaited.
@Suite(.ownThread, .leavesNothing) struct SequenceTests {
    @Test func `A sequence delivers each signal, and its end restores the signal's earlier disposition`() async throws {
        // No other test has this signal: what it does belongs to the process.
        let thread = try RunLoopThread(name: "signals")
        let events = try thread.loop.signals(of: SIGURG)
        // To a thread that runs: ThreadSanitizer keeps a signal that finds a thread in a system call it does not know of.
        TestThread.run { raise(SIGURG) }
        var seen = 0
        for await delivery in events {
            #expect(delivery.signal == SIGURG)
            seen += 1
            if seen == 3 { break }
            TestThread.run { raise(SIGURG) }
        }
        events.invalidate()
        var action = sigaction()
        // The cancel is done when it returns.
        sigaction(SIGURG, nil, &action)
        #expect(action.__sigaction_handler.sa_handler == nil)
        thread.end()
    }

    @Test func `A sequence of a directory's changes delivers every change`() async throws {
        let directory = TemporaryDirectory()
        let thread = try RunLoopThread(name: "changes")
        let events = try thread.loop.changes(at: [directory.path], for: .created)
        for index in 0..<10 { directory.write("\(index)") }
        var made = 0
        for await batch in events {
            made += batch.count
            if made == 10 { break }
        }
        #expect(made == 10)
        thread.end()
    }
}

extension RunLoopThread {
    /// Stops the thread and waits for its end: a function of its own, because tasks may not wait so.
    fileprivate func end() {
        stop()
        join()
    }
}
