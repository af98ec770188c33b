// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsTestSupport
import Testing

/// A library whose preparation holds something until the check.
@Suite(.ownThread, .leavesNothing) struct PollSourceCheckTests {
    /// Notes what happens, in order; all of it on the loop's thread.
    private final class Library {
        let pipe = DescriptorPair.pipe()
        var limit: Duration?
        var isDue: ([pollfd]) -> Bool = { $0[0].revents != 0 }
        var notes: [String] = []
        var isHeld: Bool { notes.last { $0.hasPrefix("prepare") || $0.hasPrefix("check") } == "prepare" }

        func enterLoop() throws -> PollSource {
            try PollSource { wait in
                self.notes.append("prepare")
                wait.descriptors = [pollfd(fd: self.pipe.first, events: Int16(POLLIN), revents: 0)]
                wait.limit = self.limit
            } check: { polled in
                self.notes.append(polled[0].revents == 0 ? "check" : "check ready")
                return self.isDue(polled)
            } dispatch: { polled in
                self.notes.append(polled[0].revents == 0 ? "dispatch" : "dispatch ready")
                readText(self.pipe.first)
                RunLoop.current.stop()
            }
        }

        /// Each preparation was followed by its check, and each dispatch came after a check.
        var isBalanced: Bool {
            var calls = notes.filter { !$0.hasPrefix("dispatch") && $0 != "callout" }
            while calls.count > 1, calls[0] == "prepare", calls[1].hasPrefix("check") { calls.removeFirst(2) }
            return calls.isEmpty
        }
    }

    @Test func `After a preparation the check is called before any other callout`() throws {
        try withLoop { loop in
            let library = Library()
            let source = try library.enterLoop()
            let held = Box(0)
            let calls = Box(0)
            let timer = RunLoop.Timer(.every(.milliseconds(1))) { _ in
                calls.value += 1
                if library.isHeld { held.value += 1 }
                if calls.value == 20 { loop.stop() }
            }
            let observer = RunLoop.Observer([.afterWaiting, .beforeTimers, .exit]) { _, _ in
                if library.isHeld { held.value += 1 }
            }
            loop.add(timer, in: .default)
            loop.add(observer, in: .default)
            #expect(loop.run(in: .default, for: .seconds(600)) == .stopped)
            #expect(held.value == 0)
            #expect(library.notes.count(where: { $0 == "prepare" }) >= 20)
            #expect(library.isBalanced, "\(library.notes)")
            #expect(!library.notes.contains("dispatch"))
            source.invalidate()
        }
    }

    @Test func `A poll source dispatches once if its check finds the library ready`() throws {
        try withLoop { loop in
            let library = Library()
            let source = try library.enterLoop()
            let pipe = library.pipe
            let thread = TestThread {
                waitUntil { loop.isWaiting }
                pipe.send()
            }
            #expect(loop.run(in: .default, for: .seconds(600)) == .stopped)
            thread.join()
            #expect(library.notes == ["prepare", "check", "prepare", "check ready", "dispatch ready"])
            source.invalidate()
        }
    }

    @Test func `After its time limit a poll source dispatches only if its check returns true`() throws {
        try withLoop { loop in
            let library = Library()
            library.limit = .milliseconds(10)
            var checks = 0
            library.isDue = { _ in
                checks += 1
                return checks == 5
            }
            let source = try library.enterLoop()
            let start = RunLoop.Instant.now
            #expect(loop.run(in: .default, for: .seconds(600)) == .stopped)
            #expect(RunLoop.Instant.now - start >= .milliseconds(10))
            #expect(library.notes.last == "dispatch")
            #expect(checks == 5)
            #expect(library.isBalanced, "\(library.notes)")
            source.invalidate()
            library.isDue = { _ in false }
        }
    }

    @Test func `Polling a loop calls the check and the dispatch of a poll source`() throws {
        try withLoop { loop in
            let library = Library()
            let source = try library.enterLoop()
            for _ in 0..<2 { loop.runTurn() }
            #expect(library.notes == ["prepare", "check", "prepare", "check"])
            library.pipe.send()
            for _ in 0..<5 where !library.notes.contains("dispatch ready") { loop.runTurn() }
            #expect(library.notes.contains("dispatch ready"))
            #expect(library.isBalanced, "\(library.notes)")
            source.invalidate()
        }
    }

    @Test func `A poll source invalidated between its preparation and its check is still checked`() throws {
        try withLoop { loop in
            let library = Library()
            let source = try library.enterLoop()
            // After the source's own observer.
            let observer = RunLoop.Observer(.beforeWaiting, order: .max) { _, _ in
                #expect(library.isHeld)
                source.invalidate()
                #expect(!library.isHeld)
            }
            loop.add(observer, in: .default)
            loop.run(in: .default, for: .milliseconds(10))
            #expect(library.notes == ["prepare", "check", "prepare", "check"])
            #expect(!source.isValid)
        }
    }

    @Test func `In a host, the check of a poll source is called after the host's wait`() throws {
        try withLoop { loop in
            let library = Library()
            let source = try library.enterLoop()
            _ = try loop.pollDescriptor
            loop.runReady()
            #expect(library.isHeld)
            library.pipe.send()
            for _ in 0..<5 where !library.notes.contains("dispatch ready") { loop.runReady() }
            #expect(library.notes.contains("dispatch ready"))
            // A run in the host's own time sleeps again before the host has reported the end of its wait.
            loop.runReady()
            #expect(library.isHeld)
            loop.run(in: .default, for: .milliseconds(1))
            loop.runReady()
            source.invalidate()
            #expect(library.isBalanced, "\(library.notes)")
        }
    }
}
