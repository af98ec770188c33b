// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsKit
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// Marks that are committed once, before the thread sleeps.
@Suite(.ownThread) struct TransactionTests {
    private final class View {}

    @Test func `Marked objects are committed once each before the sleep, in the order of their first mark`() {
        ManualRunLoop.with { manual in
            let transaction = RunLoop.Transaction()
            let lines = Box<[String]>([])
            let (one, two) = (View(), View())
            manual.loop.add(
                RunLoop.Timer(.after(.seconds(1))) { _ in
                    #expect(transaction.mark(one) { lines.value.append("one") })
                    #expect(transaction.mark(two) { lines.value.append("two") })
                    #expect(!transaction.mark(one) { lines.value.append("one again") })
                    lines.value.append("marked")
                }, in: .default)
            keepAlive(manual.loop)
            manual.advance(by: .seconds(2))
            #expect(lines.value == ["marked", "one", "two"])
            #expect(transaction.commits == 2)
            #expect(transaction.pending == 0)
        }
    }

    @Test func `An object marked during a poll is committed before the poll returns`() {
        ManualRunLoop.with { manual in
            let transaction = RunLoop.Transaction()
            let commits = Box(0)
            manual.loop.performLocally { transaction.mark(View()) { commits.value += 1 } }
            manual.loop.runTurn()
            #expect(commits.value == 1)
        }
    }

    @Test func `Observers of lower order are called before the commit and its hooks, and those of higher order after`()
    {
        ManualRunLoop.with { manual in
            let transaction = RunLoop.Transaction()
            let lines = Box<[String]>([])
            let view = View()
            for order in [RunLoop.Transaction.commitOrder - 2, RunLoop.Transaction.commitOrder + 2] {
                manual.loop.add(
                    RunLoop.Observer(.beforeWaiting, order: order) { _, _ in lines.value.append("\(order)") },
                    in: .default)
            }
            transaction.beforeCommit { [unowned transaction] in
                lines.value.append("before")
                transaction.mark(lines) { lines.value.append("marked by the hook") }
            }
            transaction.afterCommit { lines.value.append("after") }
            manual.loop.performLocally { transaction.mark(view) { lines.value.append("commit") } }
            keepAlive(manual.loop)
            manual.loop.run(in: .default, for: .seconds(1))
            let turn = ["1999998", "before", "commit", "marked by the hook", "after", "2000002"]
            #expect(Array(lines.value.prefix(6)) == turn)
            // Nothing is marked now: the hooks are quiet.
            manual.loop.wakeUp()
            manual.advance(by: .seconds(1))
            #expect(lines.value.count { $0 == "before" } == 1)
            #expect(lines.value.count { $0 == "after" } == 1)
        }
    }

    @Test func `An object marked by a commit is committed in the same pass`() {
        ManualRunLoop.with { manual in
            let transaction = RunLoop.Transaction()
            let (parent, child) = (View(), View())
            let lines = Box<[String]>([])
            transaction.mark(parent) {
                lines.value.append("parent")
                transaction.mark(child) {
                    lines.value.append("child")
                    transaction.mark(parent) { lines.value.append("parent again") }
                }
            }
            keepAlive(manual.loop)
            manual.advance(by: .seconds(1))
            #expect(lines.value == ["parent", "child", "parent again"])
            #expect(transaction.overruns == 0)
        }
    }

    @Test func `If commits mark objects again and again, each pass ends at the round limit and is reported`() {
        ManualRunLoop.with { manual in
            let transaction = RunLoop.Transaction(roundLimit: 4)
            let view = View()
            let reports = Box<[Int]>([])
            let commits = Box(0)
            func mark() {
                transaction.mark(view) {
                    commits.value += 1
                    if commits.value < 10 { mark() }
                }
            }
            transaction.overrunHandler = { reports.value.append($0) }
            let turns = Box(0)
            manual.loop.add(RunLoop.Observer(.beforeTimers) { _, _ in turns.value += 1 }, in: .default)
            manual.loop.performLocally { mark() }
            keepAlive(manual.loop)
            manual.loop.run(in: .default, for: .seconds(1))
            // 4, 4 and 2, a turn each, without a sleep between them.
            #expect(commits.value == 10)
            #expect(reports.value == [1, 1])
            #expect(transaction.overruns == 2)
            #expect(turns.value == 3)
            #expect(manual.sleeps == 1)
        }
    }

    @Test func `Marks of a group are committed when the outermost group ends`() {
        ManualRunLoop.with { manual in
            let transaction = RunLoop.Transaction()
            let lines = Box<[String]>([])
            let (one, two) = (View(), View())
            keepAlive(manual.loop)
            manual.loop.performLocally {
                transaction.group(completion: { lines.value.append("outer done") }) {
                    transaction.mark(one) { lines.value.append("one") }
                    transaction.group(completion: { lines.value.append("inner done") }) {
                        transaction.mark(two) { lines.value.append("two") }
                        transaction.mark(one) { lines.value.append("one again") }
                    }
                    manual.loop.runTurn()
                    lines.value.append("nested run over")
                    #expect(transaction.pending == 2)
                }
            }
            manual.advance(by: .seconds(1))
            #expect(lines.value == ["nested run over", "one", "two", "inner done", "outer done"])
        }
    }

    @Test func `flush commits at once and does nothing inside a commit`() {
        ManualRunLoop.with { _ in
            let transaction = RunLoop.Transaction()
            let lines = Box<[String]>([])
            let view = View()
            transaction.mark(view) {
                transaction.mark(view) { lines.value.append("second") }
                transaction.flush()
                lines.value.append("first")
            }
            transaction.flush()
            #expect(lines.value == ["first", "second"])
        }
    }

    @Test func `A released transaction leaves nothing in the loop and an idle transaction costs no wake-up`() {
        ManualRunLoop.with { manual in
            var transaction: RunLoop.Transaction? = RunLoop.Transaction()
            transaction?.beforeCommit {}
            keepAlive(manual.loop)
            #expect(idleWakeUps(manual) == 0)
            let commits = Box(0)
            transaction?.mark(View()) { commits.value += 1 }
            transaction = nil
            manual.advance(by: .seconds(1))
            #expect(commits.value == 0)
        }
    }
}
