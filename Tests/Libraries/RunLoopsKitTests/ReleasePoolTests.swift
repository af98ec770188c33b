// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsKit
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// Pools around the turns of a loop.
///
/// Each test begins with the thread's pools closed.
@Suite(.ownThread) struct ReleasePoolTests {
    @Test func `A held object is released before the loop sleeps`() {
        ManualRunLoop.with { manual in
            let pool = RunLoop.ReleasePool()
            let lines = Locked<[String]>([])
            manual.loop.add(
                RunLoop.Timer(.after(.seconds(1))) { _ in
                    RunLoop.ReleasePool.hold(Token { lines.note("released") })
                    lines.note("handed over")
                    manual.loop.performLocally { lines.note("block after it") }
                }, in: .default)
            manual.loop.add(
                RunLoop.Observer(.beforeWaiting, order: .max - 1) { _, _ in lines.note("before waiting") }, in: .default
            )
            keepAlive(manual.loop)
            manual.advance(by: .seconds(2))
            #expect(
                lines.lines == [
                    "before waiting", "handed over", "block after it", "released", "before waiting",
                ])
            #expect(RunLoop.ReleasePool.depth == 0)
            withExtendedLifetime(pool) {}
        }
    }

    @Test func `The pool's observers have the orders of Apple's autorelease pools`() {
        ManualRunLoop.with { manual in
            let pool = RunLoop.ReleasePool()
            let lines = Locked<[String]>([])
            manual.loop.add(
                RunLoop.Observer(.entry, order: RunLoop.ReleasePool.openingOrder - 1) { _, _ in
                    lines.note("before: \(RunLoop.ReleasePool.depth)")
                }, in: .default)
            manual.loop.add(
                RunLoop.Observer(.entry, order: RunLoop.ReleasePool.openingOrder + 1) { _, _ in
                    lines.note("after: \(RunLoop.ReleasePool.depth)")
                    RunLoop.ReleasePool.hold(Token { lines.note("released") })
                }, in: .default)
            manual.loop.add(
                RunLoop.Observer(.exit, order: RunLoop.ReleasePool.closingOrder - 1) { _, _ in lines.note("exit") },
                in: .default)
            manual.loop.add(
                RunLoop.Observer(.exit, order: RunLoop.ReleasePool.closingOrder + 1) { _, _ in
                    lines.note("closed: \(RunLoop.ReleasePool.depth)")
                }, in: .default)
            keepAlive(manual.loop)
            manual.loop.runTurn()
            #expect(lines.lines == ["before: 0", "after: 1", "exit", "released", "closed: 0"])
            withExtendedLifetime(pool) {}
        }
    }

    @Test func `A nested run has its own pool and does not drain the outer one`() {
        ManualRunLoop.with { manual in
            let pool = RunLoop.ReleasePool()
            let lines = Locked<[String]>([])
            keepAlive(manual.loop)
            manual.loop.performLocally {
                RunLoop.ReleasePool.hold(Token { lines.note("outer") })
                manual.loop.performLocally {
                    RunLoop.ReleasePool.hold(Token { lines.note("inner") })
                    #expect(RunLoop.ReleasePool.depth == 2)
                }
                manual.loop.runTurn()
                lines.note("nested run over")
            }
            manual.loop.runTurn()
            #expect(lines.lines == ["inner", "nested run over", "outer"])
            withExtendedLifetime(pool) {}
        }
    }

    @Test func `A scope releases its objects in reverse order when it ends, also after an error`() {
        struct Failure: Error {}
        let lines = Locked<[String]>([])
        RunLoop.ReleasePool.with {
            RunLoop.ReleasePool.hold(Token { lines.note("outer") })
            try? RunLoop.ReleasePool.with { () throws(Failure) -> Void in
                RunLoop.ReleasePool.hold(Token { lines.note("first") })
                RunLoop.ReleasePool.hold(Token { lines.note("second") })
                throw Failure()
            }
            #expect(lines.lines == ["second", "first"])
        }
        #expect(lines.lines == ["second", "first", "outer"])
    }

    @Test func `An object that a deinitialiser adds while the pool releases its objects is released too`() {
        let lines = Locked<[String]>([])
        RunLoop.ReleasePool.with { () -> Void in
            RunLoop.ReleasePool.hold(
                Token {
                    lines.note("one")
                    RunLoop.ReleasePool.hold(Token { lines.note("two") })
                })
        }
        #expect(lines.lines == ["one", "two"])
    }

    @Test func `After a deinitialiser has run the loop, no pool and no held object is left`() {
        ManualRunLoop.with { manual in
            let pool = RunLoop.ReleasePool()
            let released = Box(0)
            keepAlive(manual.loop)
            final class Runner {
                let body: () -> Void
                init(_ body: @escaping () -> Void) { self.body = body }
                deinit { body() }
            }
            for _ in 0..<3 {
                manual.loop.performLocally {
                    RunLoop.ReleasePool.hold(
                        Runner {
                            manual.loop.runTurn()
                            released.value += 1
                        })
                }
                manual.advance(by: .seconds(1))
            }
            #expect(released.value == 3)
            #expect(RunLoop.ReleasePool.depth == 0)
            #expect(RunLoop.ReleasePool.count == 0)
            withExtendedLifetime(pool) {}
        }
    }

    @Test func `A release pool never holds more objects than one turn adds`() {
        let perTurn = 1000
        ManualRunLoop.with { manual in
            let pool = RunLoop.ReleasePool()
            let turns = 1000
            let released = Locked(0)
            RunLoop.ReleasePool.resetHighWaterMark()
            let timer = RunLoop.Timer(.every(.milliseconds(1))) { _ in
                for _ in 0..<perTurn { RunLoop.ReleasePool.hold(Token { released.increment() }) }
            }
            manual.loop.add(timer, in: .default)
            manual.advance(by: .milliseconds(turns))
            #expect(released.count == turns * perTurn)
            #expect(RunLoop.ReleasePool.highWaterMark == perTurn)
            withExtendedLifetime(pool) {}
        }
    }

    @Test func `Pools cost an idle loop no wake-up`() {
        ManualRunLoop.with { manual in
            let pool = RunLoop.ReleasePool()
            keepAlive(manual.loop)
            #expect(idleWakeUps(manual) == 0)
            withExtendedLifetime(pool) {}
        }
    }
}
