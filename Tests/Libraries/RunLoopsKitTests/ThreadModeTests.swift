// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsKit
import RunLoopsTestSupport
import Testing

/// Tasks of a resident thread that may run in some modes only, and what it does while there are none.
@Suite(.ownThread) struct ThreadModeTests {
    /// Makes the thread run in `mode` until that run is stopped; the permit that this returns is signalled then.
    private func running(_ mode: RunLoop.Mode, _ thread: RunLoopThread) -> Permit {
        let (inside, left) = (Permit(), Permit())
        let run: @Sendable () -> Void = {
            let keeper = RunLoop.Source.sendable { _ in }
            RunLoop.current.add(keeper, in: mode)
            inside.signal()
            _ = RunLoop.current.run(in: mode, for: plenty)
            keeper.invalidate()
            left.signal()
        }
        // Posted by a task, so that it runs before the sleep of its turn and not after.
        thread.post { thread.post(run) }
        inside.wait()
        return left
    }

    @Test func `A task runs only in its modes`() throws {
        let thread = makeThread("modes")
        let lines = Locked<[String]>()
        let left = running("private", thread)
        for mode in [RunLoop.Mode.default, "private", .common, "other"] {
            thread.post(in: [mode]) { lines.note("\(mode) in \(presentMode)") }
        }
        thread.post(in: ["other", "private"]) { lines.note("either in \(presentMode)") }
        try thread.performAndWait(in: ["private"]) {}
        #expect(lines.lines == ["private in private", "either in private"])
        thread.post(in: ["private"]) { RunLoop.current.stop() }
        left.wait()
        try thread.performAndWait {}
        let name = RunLoop.Mode.default.rawValue
        #expect(lines.lines.dropFirst(2) == ["\(name) in \(name)", "\(RunLoop.Mode.common) in \(name)"])
        #expect(lines.lines.count == 4)
    }

    @Test func `Tasks of one mode run in order whatever other modes they have`() {
        let thread = makeThread("ordered")
        let lists: [[RunLoop.Mode]] = [[.common], [.default], [.default, "other"], ["other", .common]]
        let numbers = Locked<[Int]>([])
        for number in 0..<1000 { thread.post(in: lists[number * 7 % 4]) { numbers.withLock { $0.append(number) } } }
        let done = Permit()
        thread.post { done.signal() }
        done.wait()
        #expect(numbers.copy == Array(0..<1000))
    }

    @Test func `A task still runs if a run in another mode has consumed its wake-up`() throws {
        let thread = makeThread("left behind")
        let left = running("private", thread)
        let modes = Locked<[String]>()
        let done = Permit()
        thread.post {
            modes.note("\(presentMode)")
            done.signal()
        }
        // When this has run, the wake-up has had its turn, in the private mode.
        try thread.performAndWait(in: ["private"]) {}
        #expect(modes.lines.isEmpty)
        thread.post(in: ["private"]) { RunLoop.current.stop() }
        left.wait()
        done.wait()
        #expect(modes.lines == [RunLoop.Mode.default.rawValue])
    }

    @Test func `A draining stop runs tasks of modes that never ran and a dropping stop does not`() {
        for (ending, expected) in [(RunLoopThread.Ending.draining, ["never", "none", "never"]), (.dropping, [])] {
            let thread = makeThread("ending")
            let (busy, proceed) = (Permit(), Permit())
            let (lines, released) = (Locked<[String]>(), Locked(0))
            thread.post {
                busy.signal()
                proceed.wait()
            }
            busy.wait()
            let posts: [(String, [RunLoop.Mode])] = [("never", ["never"]), ("none", []), ("never", ["never"])]
            for (name, modes) in posts {
                let token = Token { released.increment() }
                thread.post(in: modes) { withExtendedLifetime(token) { lines.note(name) } }
            }
            thread.stop(ending)
            #expect(!thread.post(in: ["never"]) {})
            proceed.signal()
            thread.join()
            #expect(lines.lines == expected)
            #expect(released.count == 3)
        }
    }

    @Test func `performAndWait throws for a mode that does not run`() {
        let thread = makeThread("waited")
        let here = makeThread("asking")
        let errors = Locked<[RunLoop.PerformError?]>([])
        here.post {
            do { try thread.performAndWait(in: ["never"], startingWithin: .milliseconds(5)) {} } catch {
                errors.withLock { $0.append(error as? RunLoop.PerformError) }
            }
        }
        here.stop()
        here.join()
        guard case .notStarted(_, thread.identity, .milliseconds(5)) = errors.copy.first ?? nil else {
            Issue.record("\(errors.copy)")
            return
        }
    }

    @Test func `An idle thread does not wake up`() throws {
        let threads = (0..<3).map { makeThread("idle \($0)") }
        for thread in threads {
            // Tasks in several modes; one of the modes does not run.
            try thread.performAndWait {}
            thread.post(in: ["never"]) {}
            waitUntilAtRest(thread.loop)
        }
        let before = threads.map { sleeps(ofThread: $0.loop.threadID) }
        // The longer the surer to see a wake-up; that there is none does not depend on it.
        usleep(isFull ? 5_000_000 : 500_000)
        #expect(threads.map { sleeps(ofThread: $0.loop.threadID) } == before)
        #expect(before.allSatisfy { $0 > 0 })
    }
}

/// The name of the mode in which the calling thread's loop runs.
private var presentMode: String { RunLoop.current.currentMode?.rawValue ?? "none" }
