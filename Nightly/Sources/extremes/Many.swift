// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import NightlyKit
import RunLoops
import RunLoopsKit
import RunLoopsTesting

/// Fires timers at random instants within two seconds, and checks that each fires once, in order and not early.
func manyTimers(_ count: Int) throws {
    var random = SeededRandom(seed: 20_261_122)
    var fired = 0
    var latest = RunLoop.Instant(nanoseconds: 0)
    var disorders = 0
    var early = 0
    let loop = RunLoop.current
    // Time enough to add them all, also on a machine that is busy.
    let start = RunLoop.Instant.now + .seconds(4)
    for _ in 0..<count {
        let instant = start + .nanoseconds(Int64.random(in: 0..<2_000_000_000, using: &random))
        let timer = RunLoop.Timer(.at(instant)) { timer in
            fired += 1
            // A date that had passed when the timer was made is the time of the making, as in Core Foundation.
            let due = timer.deadline
            if due < latest { disorders += 1 }
            if RunLoop.Instant.now < due { early += 1 }
            latest = due
        }
        loop.add(timer, in: .default)
    }
    // The last one ends the run.
    loop.add(RunLoop.Timer(.at(start + .seconds(2))) { _ in loop.stop() }, in: .default)
    loop.run(in: .default, until: start + .seconds(600))
    check(fired == count, "\(fired) of \(count) timers have fired")
    check(early == 0, "\(early) fired early")
    // Timers that are due at the same look are called in the order of their instants. One look at a time.
    check(disorders == 0, "\(disorders) fired before one that was due earlier")
    check(loop.nextTimerDeadline(in: .default) == nil, "timers that have fired are left in the mode")
}

func manySources(_ count: Int) {
    let loop = RunLoop.current
    var performed = [Int](repeating: 0, count: count)
    let sources = (0..<count).map { index in
        RunLoop.Source(order: index % 7) { _ in performed[index] += 1 }
    }
    for source in sources { loop.add(source, in: .default) }
    for source in sources { source.signal() }
    loop.runTurn(in: .default)
    check(performed.allSatisfy { $0 == 1 }, "each source is performed once")
    for source in sources { source.invalidate() }
    check(!sources.contains { loop.contains($0, in: .default) }, "sources that are invalid are left in the mode")
}

/// Asks for a limit of that many descriptors; returns how many are allowed.
private func allowDescriptors(_ wished: Int) -> Int {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(7), &limit)  // RLIMIT_NOFILE, which Swift does not see.
    // Some may raise the hard limit, too.
    var wishedLimit = rlimit(rlim_cur: UInt(wished), rlim_max: max(limit.rlim_max, UInt(wished)))
    if setrlimit(__rlimit_resource_t(7), &wishedLimit) == 0 { return wished }
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(7), &limit)
    return Int(limit.rlim_cur)
}

func manyDescriptors(_ wished: Int) throws {
    let count = min(wished, allowDescriptors(wished + 50) - 50)
    if count < wished { print("only \(count) descriptors are allowed here") }
    let loop = RunLoop.current
    var called = [Int](repeating: 0, count: count)
    var sources: [RunLoop.DescriptorSource] = []
    for pair in 0..<count / 2 {
        var ends: [CInt] = [-1, -1]
        let flags = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
        precondition(socketpair(AF_UNIX, flags, 0, &ends) == 0, "socket pair \(pair): error \(errno)")
        for (index, end) in ends.enumerated() {
            write(end, "x", 1)
            let source = RunLoop.DescriptorSource(end) { source, _ in
                called[2 * pair + index] += 1
                var byte: UInt8 = 0
                read(source.descriptor, &byte, 1)
            }
            try loop.add(source, in: .default)
            sources.append(source)
        }
    }
    var turns = 0
    while called.contains(0), turns < count {
        turns += 1
        loop.runTurn(in: .default)
    }
    loop.runTurn(in: .default)
    check(called.allSatisfy { $0 == 1 }, "each descriptor that is readable once is called once")
    print("\(count) readable descriptors were called in \(turns) turns")
    for source in sources {
        source.invalidate()
        close(source.descriptor)
    }
}

func manyModes(_ count: Int) {
    let loop = RunLoop.current
    var performed = 0
    let modes = (0..<count).map { RunLoop.Mode("extreme \($0)") }
    let sources = modes.map { mode in
        let source = RunLoop.Source { _ in performed += 1 }
        loop.add(source, in: mode)
        source.signal()
        return source
    }
    for mode in modes { loop.runTurn(in: mode) }
    check(performed == count, "\(performed) of \(count) modes performed their source")
    for source in sources { source.invalidate() }
    check(modes.allSatisfy { loop.isEmpty($0) }, "modes are empty")
}

func manyLoops(_ count: Int) throws {
    let ran = Counter()
    // The loop's own two for each, and some more, so that a loss is found by a count and not by a refusal.
    precondition(allowDescriptors(4 * count) == 4 * count, "too few descriptors are allowed")
    var ends: [CInt] = [-1, -1]
    precondition(pipe(&ends) == 0, "no pipe: error \(errno)")
    defer { for end in ends { close(end) } }
    let silent = ends[0]
    let threads = try (0..<count).map { try RunLoopThread(name: "loop \($0)") }
    for thread in threads { try thread.loop.add(RunLoop.DescriptorSource.sendable(silent) { _, _ in }, in: .default) }
    for thread in threads { check(thread.post { ran.add(1) }, "a running thread takes a closure") }
    for thread in threads { thread.stop(.draining) }
    for thread in threads { thread.join() }
    check(ran.value == count, "\(ran.value) of \(count) closures ran")
}

func nestedRuns(_ depth: Int) {
    let loop = RunLoop.current
    var deepest = 0
    func nest(_ level: Int) {
        deepest = max(deepest, level)
        guard level < depth else { return }
        loop.performLocally { nest(level + 1) }
        loop.runTurn(in: .default)
    }
    nest(0)
    check(deepest == depth, "\(deepest) of \(depth) runs were nested")
    check(loop.currentMode == nil, "no run is left")
}

/// A timer of 1 µs.
///
/// First each fire of a virtual second; then the machine is suspended for a second again and again. After each suspension the timer
/// fires once for all missed dates, on the grid of the interval to the nanosecond.
func manySuspensions(_ count: Int) {
    ManualRunLoop.with { manual in
        let start = manual.now(.boottime)
        var fires = 0
        var offGrid = 0
        let timer = RunLoop.Timer(.every(.microseconds(1), clock: .boottime)) { timer in
            fires += 1
            if (timer.deadline.nanoseconds - start.nanoseconds) % 1000 != 0 { offGrid += 1 }
        }
        manual.loop.add(timer, in: .default)
        manual.advance(by: .seconds(1))
        check(fires == 1_000_000, "\(fires) fires in a virtual second of a timer of 1 µs")
        for second in 1...count {
            manual.suspend(for: .seconds(1))
            manual.loop.runTurn(in: .default)
            check(fires == 1_000_000 + second, "\(fires) fires after \(second) suspensions")
        }
        check(manual.now(.boottime) - start == .seconds(count + 1), "the suspensions and a second have passed")
        check(offGrid == 0, "\(offGrid) fires were off the grid")
        timer.invalidate()
    }
}
