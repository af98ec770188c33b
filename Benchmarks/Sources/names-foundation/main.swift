// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Measures the additional cost of Foundation's names over the loop's own: the same operation by both, on the same loop, in turn, and the best of
// many passes, since a name can only add to what the loop does.
//
//   swift run -c release --package-path Benchmarks names-foundation

import Foundation
import FoundationRunLoop
import RunLoops

typealias Own = RunLoops.RunLoop
typealias Named = FoundationRunLoop.RunLoop
typealias NamedTimer = FoundationRunLoop.Timer

/// How many operations are timed together, and how often.
let count = 1000
let passes = 1000

/// The nanoseconds of one operation, in the best pass.
struct Best {
    private(set) var each = Double.infinity

    mutating func time(_ operations: () -> Void) {
        let began = Own.Instant.now
        operations()
        each = min(each, Double(began.duration(to: .now) / .nanoseconds(1)) / Double(count))
    }
}

/// Times both in turn, and prints what each took; `before` and `after` are not timed.
func compare(
    _ name: String, goal: Double, before: () -> Void, _ own: () -> Void, _ named: () -> Void, after: () -> Void
) {
    var (best, bestNamed) = (Best(), Best())
    for _ in 0..<passes {
        before()
        best.time(own)
        after()
        before()
        bestNamed.time(named)
        after()
    }
    let more = bestNamed.each - best.each
    print(
        row([name, tenths(best.each), tenths(bestNamed.each), tenths(more), tenths(goal), more <= goal ? "yes" : "no"]))
}

func tenths(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }

func row(_ columns: [String]) -> String {
    columns.map { $0 + String(repeating: " ", count: max(1, 18 - $0.count)) }.joined()
}

let own = Own.current
let named = Named.current

print(row(["ns", "own name", "named", "more", "goal", "kept"]))

// Posts: a closure that is there already, for a run that takes all of them.
let body: @Sendable () -> Void = {}
compare("post", goal: 30) {
} _: {
    for _ in 0..<count { own.perform(body) }
} _: {
    for _ in 0..<count { named.perform(body) }
} after: {
    own.runTurn()
}

// Timers that were made before; the named ones make the loop's own when they are added.
var timers: [Own.Timer] = []
var namedTimers: [NamedTimer] = []
@MainActor func invalidateAll() {
    for timer in timers { timer.invalidate() }
    for timer in namedTimers { timer.invalidate() }
    (timers, namedTimers) = ([], [])
}
compare("timer add", goal: 150) {
    timers = (0..<count).map { Own.Timer.sendable(.after(.seconds(3600 + $0))) { _ in } }
    namedTimers = (0..<count).map { NamedTimer(timeInterval: Double(3600 + $0), repeats: false) { _ in } }
} _: {
    for timer in timers { own.add(timer, in: .default) }
} _: {
    for timer in namedTimers { named.add(timer, forMode: .default) }
} after: {
    invalidateAll()
}

// Making and adding together.
compare("timer make, add", goal: 150) {
    timers.reserveCapacity(count)
    namedTimers.reserveCapacity(count)
} _: {
    for index in 0..<count {
        let timer = Own.Timer.sendable(.after(.seconds(3600 + index))) { _ in }
        Own.current.add(timer, in: .default)
        timers.append(timer)
    }
} _: {
    for index in 0..<count {
        namedTimers.append(
            NamedTimer.scheduledTimer(withTimeInterval: Double(3600 + index), repeats: false) { _ in })
    }
} after: {
    invalidateAll()
}
