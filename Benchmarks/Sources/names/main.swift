// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Measures the additional cost of Core Foundation's names over the loop's own: the same operation by both, on the same loop, in turn, and the best
// of many passes, since a name can only add to what the loop does.
//
//   swift run -c release --package-path Benchmarks names

import CoreFoundationRunLoop
import Glibc
import RunLoops

/// How many operations are timed together, and how often.
let count = 1000
let passes = 2000

func nanoseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// The nanoseconds of one operation, in the best pass; `between` is not timed.
struct Best {
    private(set) var each = Double.infinity

    mutating func time(_ operations: () -> Void) {
        let began = nanoseconds()
        operations()
        each = min(each, Double(nanoseconds() - began) / Double(count))
    }
}

/// Times both in turn, and prints what each took.
func compare(_ name: String, goal: Double, _ own: () -> Void, _ named: () -> Void, between: () -> Void) {
    var (best, bestNamed) = (Best(), Best())
    for _ in 0..<passes {
        best.time(own)
        between()
        bestNamed.time(named)
        between()
    }
    let more = bestNamed.each - best.each
    print(
        row([name, tenths(best.each), tenths(bestNamed.each), tenths(more), tenths(goal), more <= goal ? "yes" : "no"]))
}

func tenths(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }

func row(_ columns: [String]) -> String {
    columns.map { $0 + String(repeating: " ", count: max(1, 14 - $0.count)) }.joined()
}

let loop = RunLoop.current
let named = CFRunLoopGetCurrent()

print(row(["ns", "own name", "named", "more", "goal", "kept"]))

// Signals: each source is signalled once, and then performed.
let sources = (0..<count).map { _ in RunLoop.Source { _ in } }
let namedSources = (0..<count).map { _ -> CFRunLoopSource in
    var context = CFRunLoopSourceContext()
    context.perform = { _ in }
    return CFRunLoopSourceCreate(nil, 0, &context)
}
for source in sources { loop.add(source, in: .default) }
for source in namedSources { CFRunLoopAddSource(named, source, .defaultMode) }
compare("signal", goal: 30) {
    for source in sources { source.signal() }
} _: {
    for source in namedSources { CFRunLoopSourceSignal(source) }
} between: {
    loop.runTurn()
}

// Posts: a closure that is there already, for a run that takes all of them.
let body: @Sendable () -> Void = {}
compare("post", goal: 30) {
    for _ in 0..<count { loop.perform(in: .default, wake: false, body) }
} _: {
    for _ in 0..<count { CFRunLoopPerformBlock(named, kCFRunLoopDefaultMode, body) }
} between: {
    loop.runTurn()
}

// Timers: adding those that were made before.
let timers = (0..<count).map { RunLoop.Timer(.after(.seconds(3600 + $0))) { _ in } }
let now = CFAbsoluteTimeGetCurrent()
let namedTimers = (0..<count).map { CFRunLoopTimerCreateWithHandler(nil, now + Double(3600 + $0), 0, 0, 0) { _ in }! }
compare("timer add", goal: 150) {
    for timer in timers { loop.add(timer, in: .default) }
} _: {
    for timer in namedTimers { CFRunLoopAddTimer(named, timer, kCFRunLoopDefaultMode) }
} between: {
    for timer in timers { loop.remove(timer, from: .default) }
    for timer in namedTimers { CFRunLoopRemoveTimer(named, timer, kCFRunLoopDefaultMode) }
}
