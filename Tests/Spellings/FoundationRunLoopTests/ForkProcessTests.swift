// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import FoundationRunLoop
import Glibc
import RunLoopsTestSupport
import Testing

/// A forked child under Foundation's names: it has a loop of its own, and harms none of its parent's.
@Suite(
    .ownThread,
    .disabled(if: Sanitizer.isAny, "a sanitizer copies its locks, and calls a leak what a child inherits"))
struct ForkProcessTests {
    @Test func `A child has a new loop, and invalidating its parent's timer does not affect the parent`() async {
        await #expect(processExitsWith: .success) {
            TestThread.run {
                let loop = RunLoop.current
                let fired = Locked(0)
                let timer = Timer(timeInterval: 0.001, repeats: false) { _ in fired.increment() }
                loop.add(timer, forMode: .default)
                let end = ForkedChild.run {
                    timer.invalidate()
                    let own = Locked(0)
                    RunLoop.current.add(
                        Timer(timeInterval: 0.001, repeats: false) { _ in own.increment() }, forMode: .default)
                    while own.count == 0 {
                        _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
                    }
                    return own.count == 1 && RunLoop.current !== loop && fired.count == 0
                }
                #expect(end == .good)
                while fired.count == 0, loop.run(mode: .default, before: .distantFuture) {}
                #expect(fired.count == 1)
            }
        }
    }

    @Test func `A child that adds a timer to its parent's loop traps`() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            TestThread.run {
                let loop = RunLoop.current
                let end = ForkedChild.run {
                    loop.add(Timer(timeInterval: 1, repeats: false) { _ in }, forMode: .common)
                    return true
                }
                #expect(end == .signalled(SIGILL) || end == .signalled(SIGTRAP))
            }
        }
        expectText(result, "A run loop made before fork() was used in the child process")
    }
}
