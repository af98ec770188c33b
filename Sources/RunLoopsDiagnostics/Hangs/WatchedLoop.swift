// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import Synchronization

/// One loop that one watch looks at.
// Unchecked: what is not fixed belongs to the watcher's thread.
final class WatchedLoop: LookedAt, @unchecked Sendable {
    /// What the thread has had in all.
    private struct Usage {
        var processor: Int64
        var delay: Int64

        init(_ probe: ThreadProbe) {
            processor = probe.processorTime
            delay = probe.processorDelay
        }
    }

    /// A hang under way.
    private struct Hang {
        var number: Int
        var samples = HangSamples()
        var mode: RunLoop.Mode?
        var depth: Int
        var isReported: Bool
        var leftOut: Int
        var file: HangFile?
        /// The last look that found it.
        var status: LoopStatus.Snapshot
    }

    let listener: HangListener
    private let setting: HangSetting
    private weak let loop: RunLoop?
    private let limit: Int64
    private let probe: ThreadProbe
    private var detector: HangDetector
    /// At the last look.
    private var usage: Usage
    /// When the present stretch began, as far as is known.
    private var usageBefore: Usage
    private var hang: Hang?
    /// Of a stretch of a traced process.
    private var isIgnored = false

    init(_ loop: RunLoop, limit: Int64, setting: HangSetting) {
        self.loop = loop
        self.limit = limit
        self.setting = setting
        listener = HangListener(loop, limit: limit, watcher: .shared)
        probe = ThreadProbe(thread: loop.threadID)
        detector = HangDetector(limit: limit, interval: setting.interval)
        usage = Usage(probe)
        usageBefore = usage
    }

    // Nobody looks now: a report of a hang under way would stay for ever.
    deinit { hang?.file?.remove() }

    /// Whether the loop's thread has ended.
    ///
    /// Any thread.
    var isWithoutLoop: Bool { loop == nil }

    // MARK: The watcher's thread

    /// Whether there is nothing left to look at.
    var isGone: Bool { isWithoutLoop && hang == nil }

    /// Whether it has slept for long enough.
    var isIdle: Bool { detector.isIdle }

    /// Whether it is busy at this moment.
    var isInUse: Bool { listener.status.snapshot().activity == .busy }

    /// Looks at it, reports what there is to report, and says when to look again.
    func look(standstill: Int64) -> Int64 {
        let status = listener.status.snapshot()
        let now = SystemCalls.now(.monotonic)
        let ended = listener.tally.read().lastLong
        let step = detector.look(
            HangDetector.Look(
                now: now, isBusy: status.activity == .busy, since: status.since, standstill: standstill,
                ended: (ended.began, ended.ended)))
        let before = usage
        usage = Usage(probe)
        switch step {
        case .nothing: break
        case .newStretch: newStretch(after: now - status.since, before)
        case .began: begins(status, now)
        case .goesOn: goesOn(status, now)
        case .ended(let duration):
            ends(ended, duration, now)
            newStretch(after: now - status.since, before)
        case .missed(let duration):
            newStretch(after: now - ended.began, before)
            missed(ended, duration, status, now)
            newStretch(after: now - status.since, before)
        }
        return detector.nextLook
    }

    /// A stretch that was over before the watcher could look at it: only the notes of the loop's thread are known.
    private func missed(
        _ ended: StretchTally.Stretch, _ duration: Int64, _ status: LoopStatus.Snapshot, _ now: Int64
    ) {
        if !setting.reportsWhenTraced, ThreadProbe.isTraced { return }
        var hang = Hang(
            number: HangWatcher.shared.nextNumber(), mode: loop?.currentMode, depth: max(1, status.depth),
            isReported: true, leftOut: 0, status: status)
        hang.status.since = ended.began
        var report = makeReport(.began, hang, duration: duration, now, ended)
        (hang.isReported, hang.leftOut) = setting.annealer.begins(key(report, hang))
        report.leftOut = hang.leftOut
        if hang.isReported { setting.handler(report) }
        self.hang = hang
        ends(ended, duration, now)
    }

    /// A stretch is seen for the first time, when it has lasted for a while already.
    private func newStretch(after time: Int64, _ before: Usage) {
        // What the thread has had since the look before may have been in that time: all that fits is taken to have
        // been.
        let delay = min(usage.delay - before.delay, max(0, time))
        usageBefore = usage
        usageBefore.delay -= delay
        usageBefore.processor -= min(usage.processor - before.processor, max(0, time) - delay)
        isIgnored = false
    }

    private func begins(_ status: LoopStatus.Snapshot, _ now: Int64) {
        if !setting.reportsWhenTraced, ThreadProbe.isTraced { isIgnored = true }
        guard !isIgnored else { return }
        listener.wantsEnd.store(true, ordering: .relaxed)
        var hang = Hang(
            number: HangWatcher.shared.nextNumber(), mode: loop?.currentMode, depth: status.depth, isReported: true,
            leftOut: 0, status: status)
        takeSample(&hang)
        var report = makeReport(.began, hang, duration: duration(now), now, nil)
        (hang.isReported, hang.leftOut) = setting.annealer.begins(key(report, hang))
        report.leftOut = hang.leftOut
        // Also for a hang that is not reported: nobody knows whether the program survives the hang.
        hang.file = setting.file(for: report)
        self.hang = hang
        if hang.isReported { setting.handler(report) }
    }

    private func goesOn(_ status: LoopStatus.Snapshot, _ now: Int64) {
        guard var hang else { return }
        hang.status = status
        takeSample(&hang)
        if hang.file?.isDue(at: now) == true {
            let report = makeReport(.began, hang, duration: duration(now), now, nil)
            hang.file?.write(report)
        }
        self.hang = hang
    }

    /// How long the present stretch has taken so far.
    private func duration(_ now: Int64) -> Int64 { now - (detector.stretch ?? now) - detector.standstill }

    private func ends(_ ended: StretchTally.Stretch, _ duration: Int64, _ now: Int64) {
        listener.wantsEnd.store(false, ordering: .relaxed)
        guard let hang else { return }
        self.hang = nil
        let isKnown = ended.ended != 0 && ended.began == hang.status.since
        let report = makeReport(.ended, hang, duration: duration, now, isKnown ? ended : nil)
        hang.file?.end(report)
        guard hang.isReported else { return }
        setting.annealer.ends(key(report, hang))
        setting.handler(report)
    }

    private func takeSample(_ hang: inout Hang) {
        let end = listener.stackEnd.load(ordering: .relaxed)
        let sample =
            setting.sampler?.sample(probe.thread, stackEnd: end) ?? StackSampler.sampleWithoutStack(probe.thread)
        hang.samples.add(sample, setting.symbolizer)
    }

    private func key(_ report: RunLoop.HangWatch.Report, _ hang: Hang) -> HangAnnealer.Key {
        let callout = report.callout.map { "\($0.kind) \($0.label)" } ?? ""
        return HangAnnealer.Key(callout: callout, functions: hang.samples.majorityFunctions)
    }

    // MARK: Reports

    private func makeReport(
        _ stage: RunLoop.HangWatch.Report.Stage, _ hang: Hang, duration: Int64, _ now: Int64,
        _ ended: StretchTally.Stretch?
    ) -> RunLoop.HangWatch.Report {
        let stretch = ended ?? listener.tally.read().present
        let since = hang.status.since
        let tally = HangTally(stretch, open: ended == nil ? hang.status.callouts : [], since: since, now: now)
        let processor = min(usage.processor - usageBefore.processor, duration)
        let delay = min(usage.delay - usageBefore.delay, duration)
        let evidence = HangEvidence(
            limit: limit, duration: duration, processor: processor, delay: delay,
            longest: tally.longest?.nanoseconds ?? 0,
            hasOthers: tally.callouts > 1, waits: hang.samples.waits,
            runs: hang.samples.runs, isOver: stage == .ended)
        let cause = evidence.cause
        let (frames, count) = hang.samples.majorityStack(setting.symbolizer)
        return RunLoop.HangWatch.Report(
            stage: stage, number: hang.number, loop: RunLoop.Identity(thread: probe.thread),
            mode: hang.mode, depth: hang.depth, since: RunLoop.Instant(nanoseconds: since),
            duration: .nanoseconds(duration), standstill: .nanoseconds(detector.standstill),
            limit: .nanoseconds(limit), cause: cause,
            callout: cause == .congestion ? tally.commonest.first : tally.longest?.callout,
            commonest: tally.commonest, calloutCount: stretch.callouts, processorTime: .nanoseconds(processor),
            processorDelay: .nanoseconds(delay), stack: frames, stackSamples: count, samples: hang.samples.count,
            leftOut: hang.leftOut)
    }
}
