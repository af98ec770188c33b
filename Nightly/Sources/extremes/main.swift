// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Numbers that nobody has: each must be correct, and cost what the documentation says.
//
//   extremes            all rows
//   extremes ROW…       some: timers sources descriptors modes loops runs hours

import Glibc
import NightlyKit
import RunLoops
import RunLoopsKit
import RunLoopsTesting

/// A line of the table: what was done, how long one took, and what it left.
///
/// It is done twice, and the second time must leave nothing: what the first time leaves is kept for the next, by the
/// allocator and by the loop.
func row(_ what: String, _ count: Int, _ body: () throws -> Void) rethrows {
    try body()
    let before = Usage.trimmed
    let start = RunLoop.Instant.now
    try body()
    let time = RunLoop.Instant.now - start
    let each = Int(time / .nanoseconds(1)) / max(1, count)
    let after = Usage.trimmed
    print(
        "\(what) | \(count) | \(time.rounded) | \(each) ns | \(after.memory - before.memory) KiB,"
            + " \(after.descriptors - before.descriptors) descriptors, \(after.threads - before.threads) threads left")
    fflush(nil)
    check(after.memory - before.memory <= 8192, "\(what): memory is left")
    check(after.descriptors == before.descriptors, "\(what): descriptors are left")
    check(after.threads == before.threads, "\(what): threads are left")
}

extension Duration {
    var rounded: String { "\(Int(self / .milliseconds(1))) ms" }
}

let rows: [(name: String, what: String, count: Int, body: (Int) throws -> Void)] = [
    ("timers", "timers, added, fired in order, gone", 1_000_000, manyTimers),
    ("sources", "sources, signalled and performed once each in one turn", 100_000, manySources),
    ("descriptors", "descriptors, all readable", 20_000, manyDescriptors),
    ("modes", "modes with an item each, each run once", 10_000, manyModes),
    ("loops", "loops of threads, a closure and a descriptor each, then ended", 1000, manyLoops),
    ("runs", "runs nested in each other", 500, nestedRuns),
    (
        "suspensions", "fires of a timer of 1 µs, 36,000 of them after a suspension", 1_036_000,
        { _ in manySuspensions(36_000) }
    ),
]
let wanted = CommandLine.arguments.dropFirst()
precondition(wanted.allSatisfy { name in rows.contains { $0.name == name } }, "rows: \(rows.map(\.name))")
print("what | how many | time | each | left behind")
for (name, what, count, body) in rows where wanted.isEmpty || wanted.contains(name) {
    try row(what, count) { try body(count) }
}
endOfChecks()
