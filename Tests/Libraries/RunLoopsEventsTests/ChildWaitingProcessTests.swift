// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsTestSupport
import Testing

/// A thread that waits for the exit of a child by running its loop.
@Suite(.ownThread, .leavesNothing) struct ChildWaitingProcessTests {
    @Test func `waitForExit returns how the child ended`() throws {
        let child = try Child.spawn(.path("/bin/sh"), arguments: ["-c", "exit 7"])
        #expect(try child.waitForExit(within: plenty)?.status == .exited(7))
        // A child that has ended already is reported again.
        #expect(try child.waitForExit()?.status == .exited(7))
        let ended = try Child.spawn(.path("/bin/sh"), arguments: ["-c", "kill -9 $$"])
        #expect(try ended.waitForExit(within: plenty)?.status == .signalled(SIGKILL, dumpedCore: false))
    }

    @Test func `waitForExit runs the task death check mode and does not serve the default mode`() throws {
        let loop = RunLoop.current
        var fired = 0
        let timer = RunLoop.Timer(.every(.milliseconds(1))) { _ in fired += 1 }
        loop.add(timer, in: .default)
        defer { timer.invalidate() }
        var modes: Set<RunLoop.Mode> = []
        let observer = RunLoop.Observer(.beforeWaiting) { _, _ in if let mode = loop.currentMode { modes.insert(mode) }
        }
        loop.add(observer, in: .taskDeathCheck)
        defer { observer.invalidate() }
        let child = try Child.spawn(.path("/bin/sh"), arguments: ["-c", "sleep 0.05"])
        #expect(try child.waitForExit(within: plenty)?.status == .exited(0))
        #expect(fired == 0)
        #expect(modes == [.taskDeathCheck])
    }

    @Test func `waitForExit in another mode serves the items of that mode`() throws {
        let loop = RunLoop.current
        var fired = 0
        // The child ends when the timer has closed its input.
        let child = try Child.spawn(.name("cat"), input: .pipe, output: .null)
        let input = try #require(child.standardInput)
        let timer = RunLoop.Timer(.every(.milliseconds(1))) { timer in
            fired += 1
            input.close()
            timer.invalidate()
        }
        loop.add(timer, in: "work")
        #expect(try child.waitForExit(within: plenty, in: "work")?.status == .exited(0))
        #expect(fired == 1)
    }

    @Test func `waitForExit returns nil at its limit and a stop does not end the wait`() throws {
        let loop = RunLoop.current
        let child = try Child.spawn(.name("sleep"), arguments: ["1000"])
        defer { try? child.send(SIGKILL) }
        let timer = RunLoop.Timer(.every(.milliseconds(1))) { _ in loop.stop() }
        loop.add(timer, in: .taskDeathCheck)
        defer { timer.invalidate() }
        let start = RunLoop.Instant.now
        #expect(try child.waitForExit(within: .milliseconds(50)) == nil)
        #expect(start.duration(to: .now) >= .milliseconds(50))
        try child.send(SIGKILL)
        #expect(try child.waitForExit(within: plenty)?.status == .signalled(SIGKILL, dumpedCore: false))
        #expect(!loop.isEmpty(in: .taskDeathCheck))
        timer.invalidate()
        #expect(loop.isEmpty(in: .taskDeathCheck))
    }
}
