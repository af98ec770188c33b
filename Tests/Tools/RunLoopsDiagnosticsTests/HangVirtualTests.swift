// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

@testable import RunLoops
@testable import RunLoopsDiagnostics

private let millisecond: Int64 = 1_000_000

/// A busy loop and the thread that watches it, both in virtual time.
private final class VirtualLoop {
    private let state: LoopState
    private let watched: WatchedLoop
    private var clock = StandstillClock()
    private var random = SeededRandom(33)
    private(set) var now: Int64 = 1_000_000 * millisecond
    private var asleepSince: Int64 = 0
    // The watching thread: when it wanted to look, when it asked for that, and when it will.
    private var wanted: Int64 = .max
    private var askedAt: Int64 = 0
    private var lookAt: Int64 = .max
    private(set) var looks = 0
    private(set) var standstills = 0

    init(_ loop: RunLoop, _ setting: HangSetting) {
        state = LoopState(loop)
        watched = WatchedLoop(loop, state, limit: 250 * millisecond, setting: setting)
        hear(.runBegins(.default))
        unpark()
    }

    func upTo(_ milliseconds: Int64) -> Int64 { .random(in: 0..<milliseconds * millisecond, using: &random) }
    func oneIn(_ count: Int) -> Bool { random.oneIn(count) }

    /// As the loop's stream does it: the return of a callout is heard before it is noted.
    private func hear(_ event: LoopEvent, depth: UInt16 = 1) {
        if case .returns = event {
            watched.hear(event, at: now, depth: depth)
            state.note(event, at: now, depth: depth)
        } else {
            state.note(event, at: now, depth: depth)
            watched.hear(event, at: now, depth: depth)
        }
    }

    /// Time passes for both.
    private func pass(_ time: Int64) {
        let end = now + time
        while lookAt <= end {
            now = max(now, lookAt)
            look()
        }
        now = end
    }

    private func look() {
        looks += 1
        let standstill = clock.standstill(
            Instants(monotonic: now, boottime: now, delay: 0), wanted: wanted, askedAt: askedAt)
        if standstill > 0 { standstills += 1 }
        wanted = watched.look(at: now, standstill: standstill)
        askedAt = now
        if watched.isIdle { wanted = .max }
        // A thread is seldom prompt.
        lookAt = wanted == .max ? .max : max(now, wanted) + upTo(40)
    }

    /// The watching thread waits without a limit until the loop wakes up.
    private func unpark() {
        guard wanted == .max else { return }
        wanted = now
        lookAt = now + upTo(10)
    }

    /// The whole process stands still.
    func stop(_ time: Int64) {
        now += time
        if lookAt < now { lookAt = now + upTo(5) }
    }

    func sleep(_ time: Int64, depth: UInt16 = 1) {
        hear(.sleeps, depth: depth)
        asleepSince = now
        pass(time)
        hear(.wakes((cause: .timer, asleepSince: asleepSince, calledAt: 0, thread: 0)), depth: depth)
        unpark()
    }

    /// One callout, and since when the loop has not come to rest when it returns.
    func call(_ time: Int64, line: UInt, stop: Int64 = 0, restsFor rest: Int64 = 0) {
        hear(.calls(.timer, ItemLabel(nil, #fileID, line)))
        pass(time / 2)
        if rest > 0 {
            hear(.runBegins(.default), depth: 2)
            sleep(rest, depth: 2)
            hear(.runEnds(.finished), depth: 2)
        }
        if stop > 0 { self.stop(stop) }
        pass(time / 2)
        hear(.returns)
    }
}

/// An hour, which takes two seconds; ten hours with `RUNLOOPS_FULL=1`.
private let hours: Int64 = getenv("RUNLOOPS_FULL").map { String(cString: $0) } == "1" ? 10 : 1

@Suite("A busy loop, in hours of virtual time", .ownThread)
struct HangVirtualTests {
    @Test func `exactly the hangs of a busy loop are found, each once`() throws {
        let reports = Locked<[RunLoop.HangWatch.Report]>([])
        var options = RunLoop.HangWatch.Options()
        options.takesStacks = false
        let setting = try HangSetting(options) { report in reports.withLock { $0.append(report) } }
        try ManualRunLoop.with { manual in
            let loop = VirtualLoop(manual.loop, setting)
            var hangs: [Int64] = []
            let end = loop.now + hours * 3_600_000 * millisecond
            while loop.now < end {
                loop.sleep(loop.upTo(loop.oneIn(50) ? 5000 : 200))
                let began = loop.now
                if loop.oneIn(500) {
                    // Its label is its own, or the same hang would be reported less and less often.
                    loop.call(255 * millisecond + loop.upTo(3000), line: UInt(1000 + hangs.count))
                    hangs.append(began)
                    loop.sleep(400 * millisecond)
                } else if loop.oneIn(500) {
                    loop.call(loop.upTo(200), line: 3, stop: 300 * millisecond + loop.upTo(10_000))
                    loop.sleep(400 * millisecond)
                } else if loop.oneIn(5) {
                    // Comes to rest inside the callout: two stretches.
                    loop.call(loop.upTo(400), line: 2, restsFor: loop.upTo(600))
                } else {
                    for _ in 0..<3 { loop.call(loop.upTo(80), line: 1) }
                }
            }
            loop.sleep(1000 * millisecond)
            let found = reports.copy
            try #require(hangs.count > 5 * hours && loop.standstills > 5 * hours)
            #expect(found.filter { $0.stage == .began }.map(\.since.nanoseconds) == hangs)
            #expect(found.filter { $0.stage == .ended }.map(\.since.nanoseconds) == hangs)
            #expect(found.allSatisfy { $0.callout?.place?.contains("HangVirtualTests.swift:1") == true })
        }
    }
}
