// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import Testing

@testable import RunLoopsDiagnostics

private let millisecond: Int64 = 1_000_000

@Suite("The beginning and end of a hang")
final class HangDetectorTests {
    private var detector = HangDetector(limit: 250 * millisecond, interval: 50 * millisecond)

    private func busy(_ now: Int64, since: Int64, standstill: Int64 = 0) -> HangDetector.Look {
        HangDetector.Look(
            now: now * millisecond, isBusy: true, since: since * millisecond, standstill: standstill * millisecond)
    }

    private func asleep(_ now: Int64, since: Int64) -> HangDetector.Look {
        HangDetector.Look(now: now * millisecond, isBusy: false, since: since * millisecond)
    }

    @Test func `a hang begins when the limit has passed, and the watcher's next look is set to that time`() {
        #expect(detector.look(busy(1000, since: 990)) == .newStretch)
        #expect(detector.nextLook == 1240 * millisecond)
        #expect(detector.look(busy(1239, since: 990)) == .nothing)
        #expect(detector.look(busy(1240, since: 990)) == .began)
        #expect(detector.look(busy(1290, since: 990)) == .goesOn)
        #expect(detector.look(asleep(1400, since: 1395)) == .ended(405 * millisecond))
        #expect(detector.look(asleep(1500, since: 1395)) == .nothing)
    }

    @Test func `short busy periods in sequence are not a hang`() {
        for start in stride(from: Int64(0), to: 100_000, by: 125) {
            #expect(detector.look(busy(start + 120, since: start)) == .newStretch)
        }
        #expect(!detector.isHanging)
    }

    @Test func `the end of a hang is the time that the loop's thread recorded, not the time at which it was found`() {
        _ = detector.look(busy(1000, since: 1000))
        _ = detector.look(busy(1250, since: 1000))
        var look = busy(1900, since: 1800)
        look.ended = (1000 * millisecond, 1300 * millisecond)
        #expect(detector.look(look) == .ended(300 * millisecond))
        #expect(detector.stretch == 1800 * millisecond && detector.nextLook == 2050 * millisecond)
    }

    @Test func `a hang directly after another is a separate hang`() {
        _ = detector.look(busy(1000, since: 1000))
        #expect(detector.look(busy(1250, since: 1000)) == .began)
        #expect(detector.look(busy(1700, since: 1300)) == .ended(300 * millisecond))
        #expect(detector.nextLook < 1700 * millisecond)
        #expect(detector.look(busy(1701, since: 1300)) == .began)
    }

    @Test func `a hang that began and ended between two looks of the watcher is reported once`() {
        _ = detector.look(busy(1000, since: 1000))
        var look = asleep(1500, since: 1400)
        look.ended = (1000 * millisecond, 1400 * millisecond)
        #expect(detector.look(look) == .missed(400 * millisecond))
        look.now += 125 * millisecond
        #expect(detector.look(look) == .nothing)
        look = busy(5000, since: 4990, standstill: 3300)
        look.ended = (1700 * millisecond, 4980 * millisecond)
        #expect(detector.look(look) == .newStretch, "the process was stopped in it")
    }

    @Test func `time in which the process was stopped is not counted`() {
        _ = detector.look(busy(1000, since: 1000))
        #expect(detector.look(busy(4200, since: 1000, standstill: 3200)) == .nothing)
        #expect(detector.nextLook == 4450 * millisecond)
        #expect(detector.look(busy(4300, since: 1000)) == .nothing)
        #expect(detector.look(busy(4450, since: 1000)) == .began)
        #expect(detector.look(asleep(4500, since: 4500)) == .ended(300 * millisecond))
    }

    @Test func `if the process was stopped, only the stopped time within a busy period is deducted`() {
        _ = detector.look(asleep(1000, since: 500))
        #expect(detector.look(busy(4000, since: 1100, standstill: 3000)) == .newStretch)
        #expect(detector.standstill == 2900 * millisecond)
        #expect(detector.look(busy(4249, since: 1100)) == .nothing)
        #expect(detector.look(busy(4250, since: 1100)) == .began)
    }

    @Test func `the watcher looks less often during a long hang`() {
        _ = detector.look(busy(1000, since: 1000))
        var looks = 0
        var now: Int64 = 1250
        while now < 3_600_000 {
            _ = detector.look(busy(now, since: 1000))
            now = detector.nextLook / millisecond
            looks += 1
        }
        #expect((900...1300).contains(looks), "an hour")
    }

    @Test func `a loop counts as idle after the watcher has found it asleep several times`() {
        for look in 0..<4 { _ = detector.look(asleep(Int64(1000 + look * 125), since: 900)) }
        #expect(!detector.isIdle)
        _ = detector.look(asleep(1500, since: 900))
        #expect(detector.isIdle)
        _ = detector.look(asleep(1625, since: 1600))
        #expect(!detector.isIdle, "it was used in between")
    }
}

@Suite("The cause of a hang")
struct HangEvidenceTests {
    private func cause(
        _ duration: Int64, processor: Int64, delay: Int64 = 0, longest: Int64? = nil, others: Bool = false,
        waits: [RunLoop.HangWatch.Cause.Wait: Int] = [:], runs: Int = 0, isOver: Bool = true
    ) -> RunLoop.HangWatch.Cause {
        HangEvidence(
            limit: 250, duration: duration, processor: processor, delay: delay, longest: longest ?? duration,
            hasOthers: others, waits: waits, runs: runs, isOver: isOver
        ).cause
    }

    @Test func `the cause of a hang is computing if one callout uses the processor`() {
        #expect(cause(300, processor: 290) == .computing)
        #expect(cause(300, processor: 290, longest: 200, others: true) == .computing)
    }

    @Test func `if the thread did not run, the cause of a hang is the wait that was seen most often`() {
        #expect(cause(300, processor: 5, waits: [.lock: 3, .sleep: 1]) == .waiting(.lock))
        #expect(cause(300, processor: 5, waits: [.lock: 1, .sleep: 1]) == .waiting(.lock), "always the same of equals")
        #expect(cause(300, processor: 5) == .waiting(.other(call: -1)))
    }

    @Test func `the cause of a hang is congestion if none of many callouts took half of the time`() {
        #expect(cause(300, processor: 290, longest: 20, others: true) == .congestion)
        #expect(cause(300, processor: 290, longest: 20) == .computing, "the loop's own work")
    }

    @Test func `the cause of a hang is starvation if the period would be below the limit with a free processor`() {
        #expect(cause(1000, processor: 50, delay: 900) == .starvation)
        #expect(cause(1000, processor: 50, delay: 900, longest: 10, others: true) == .starvation)
        #expect(cause(1000, processor: 400, delay: 600) == .computing, "it would have been a hang anyway")
        #expect(cause(1000, processor: 10, delay: 100, waits: [.sleep: 3]) == .waiting(.sleep))
    }

    @Test func `the cause of a hang is starvation if a ready thread does not run, even if no delay is counted yet`() {
        #expect(cause(250, processor: 0, runs: 1, isOver: false) == .starvation)
        #expect(cause(250, processor: 100, runs: 1, isOver: false) == .computing, "not clear enough")
        #expect(cause(250, processor: 0, waits: [.sleep: 1], isOver: false) == .waiting(.sleep))
    }
}

@Suite("Detecting that the process was stopped")
final class StandstillTests {
    private func at(_ time: Int64, suspended: Int64 = 0, delay: Int64 = 0) -> Instants {
        Instants(
            monotonic: time * millisecond, boottime: (time + suspended) * millisecond, delay: delay * millisecond)
    }

    private var clock = StandstillClock()

    private func standstill(_ now: Instants, wanted: Int64) -> Int64 {
        clock.standstill(now, wanted: wanted * millisecond, askedAt: 1000 * millisecond) / millisecond
    }

    @Test func `a thread that wakes much later than requested was stopped`() {
        #expect(standstill(at(1000), wanted: 900) == 0, "the first time")
        #expect(standstill(at(1130), wanted: 1125) == 0)
        #expect(standstill(at(4000), wanted: 1255) == 2870)
    }

    @Test func `a late thread that was ready to run was not stopped`() {
        _ = standstill(at(1000), wanted: 1000)
        #expect(standstill(at(4000, delay: 2870), wanted: 1125) == 0)
    }

    @Test func `a thread that asked for a time already past was not stopped`() {
        _ = standstill(at(500), wanted: 500)
        #expect(standstill(at(1001), wanted: 600) == 0)
    }

    @Test func `a suspension of the machine is found by the difference of the clocks`() {
        _ = standstill(at(1000), wanted: 1000)
        #expect(standstill(at(1126, suspended: 60_000), wanted: 1125) == 126)
        #expect(standstill(at(1251, suspended: 60_000), wanted: 1250) == 0)
    }

    @Test func `a thread that waits without limit is never late`() {
        _ = standstill(at(1000), wanted: 1000)
        #expect(clock.standstill(at(1_000_000), wanted: .max, askedAt: 0) == 0)
    }
}

@Suite("Repeated hangs")
struct HangAnnealerTests {
    private func key(_ functions: UInt64..., callout: String = "timer tick") -> HangAnnealer.Key {
        HangAnnealer.Key(callout: callout, functions: functions)
    }

    @Test func `a repeated hang is reported the 1st, 2nd, 4th and 8th time and the others are counted`() {
        var annealer = HangAnnealer()
        var reported: [Int] = []
        var leftOut: [Int] = []
        for time in 1...20 {
            // Each was found in another place inside the same function.
            let (isReported, before) = annealer.begins(key(1, 2, UInt64(100 + time)))
            guard isReported else { continue }
            reported.append(time)
            leftOut.append(before)
            annealer.ends(key(1, 2))
        }
        #expect(reported == [1, 2, 4, 8, 16])
        #expect(leftOut == [0, 0, 1, 3, 7])
    }

    @Test func `a hang with another stack or callout is a different hang`() {
        var annealer = HangAnnealer()
        for _ in 0..<3 {
            _ = annealer.begins(key(1, 2))
            annealer.ends(key(1, 2))
        }
        let (same, stack, callout) = (
            annealer.begins(key(1, 2)), annealer.begins(key(1, 3)), annealer.begins(key(1, 2, callout: "timer tock"))
        )
        #expect(same == (true, 1) && stack == (true, 0) && callout == (true, 0))
    }

    @Test func `the hang that ended longest ago is forgotten after 64 different hangs`() {
        var annealer = HangAnnealer()
        annealer.ends(key(1))
        for function in 2...65 { annealer.ends(key(UInt64(function))) }
        _ = annealer.begins(key(65))
        let (last, first) = (annealer.begins(key(65)), annealer.begins(key(1)))
        #expect(!last.isReported && first == (true, 0))
    }
}

@Suite("The majority of stack samples")
struct MajorityStackTests {
    private func find(_ stacks: [UInt64]...) -> (index: Int, depth: Int, count: Int)? {
        HangSamples.majority(of: stacks)
    }

    @Test func `samples without a stack or without a common function have no majority`() {
        #expect(HangSamples.majority(of: []) == nil)
        #expect(HangSamples.majority(of: [[]]) == nil)
        #expect(find([1], [2]) == nil, "one in each")
    }

    @Test func `a single stack is the majority with all its functions`() {
        #expect(find([3, 2, 1])! == (0, 3, 1))
    }

    @Test func `inner functions that differ are removed from the majority`() {
        #expect(find([9, 2, 1], [8, 2, 1], [7, 6, 2, 1], [2, 1])! == (0, 2, 4))
    }

    @Test func `the majority of samples is the deepest stack that more than half of them share`() {
        #expect(find([5, 4, 1], [3, 1], [6, 4, 1], [6, 4, 1], [6, 4, 1])! == (2, 3, 3))
    }
}
