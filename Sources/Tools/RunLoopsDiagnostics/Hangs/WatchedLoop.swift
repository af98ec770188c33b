// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsStackSampling
internal import RunLoops
internal import Synchronization

/// A loop that is watched by one watch.
// Unchecked: what is not fixed belongs to the watcher's thread.
final class WatchedLoop: LoopSubscriber, @unchecked Sendable {
    /// The thread's processor time and its waits for a processor so far, in nanoseconds.
    private struct Usage {
        var processor: Int64
        var delay: Int64

        /// Reads the thread's usage; no value is less than in `before`, because a thread that has ended reports 0.
        init(_ probe: ThreadProbe, before: Usage? = nil) {
            processor = max(probe.processorTime, before?.processor ?? 0)
            delay = max(probe.processorDelay, before?.delay ?? 0)
        }
    }

    /// A hang under way.
    private struct Hang {
        var number: Int
        var samples = HangSamples()
        var mode: RunLoop.Mode?
        var depth: Int
        var isReported = true
        var leftOut = 0
        /// Sentences about tasks that wait for each other.
        var tasks: [String] = []
        var file: HangFile?
        /// The loop's state in the last look that found the hang.
        var status: LoopState.Snapshot
    }

    private let state: LoopState
    private let tally: StretchTally
    private let setting: HangSetting
    private let watcher = HangWatcher.shared
    private weak let loop: RunLoop?
    private let limit: Int64
    private let probe: ThreadProbe
    /// The upper end of the thread's stack; 0 until the loop's thread has reported it.
    private let stackEnd = Atomic<UInt64>(0)
    private let watchedSince = Atomic<Int64>(0)
    /// Whether the loop's thread has to wake the watcher when the present stretch ends.
    private let wantsEnd = Atomic<Bool>(false)

    // The watcher's thread.
    private var detector: HangDetector
    /// The thread's usage at the last look.
    private var usage: Usage
    /// The thread's usage at the beginning of the present stretch, as far as it is known.
    private var usageBefore: Usage
    private var hang: Hang?
    /// When the sleep began in which tasks were searched last.
    private var searchedSleep: Int64 = .min
    /// Whether the present stretch is not reported, because the process was traced when the hang began.
    private var isIgnored = false

    init(_ loop: RunLoop, _ state: LoopState, limit: Int64, setting: HangSetting) {
        self.loop = loop
        self.state = state
        self.limit = limit
        self.setting = setting
        tally = StretchTally(limit: limit, labels: state.labels)
        probe = ThreadProbe(thread: loop.threadID)
        detector = HangDetector(limit: limit, interval: setting.options.samplingInterval.clampedNanoseconds)
        usage = Usage(probe)
        usageBefore = usage
    }

    // Nobody looks now: a report of a hang under way would stay for ever.
    deinit { hang?.file?.remove() }

    // MARK: The loop's thread

    func begin(in mode: RunLoop.Mode?, at time: Int64) {
        stackEnd.store(rl_sampling_join(), ordering: .relaxed)
        watchedSince.store(time, ordering: .relaxed)
        // The work under way is a stretch as well; its first part is not the watch's.
        if mode != nil { begins(time) }
    }

    func hear(_ event: LoopEvent, at time: Int64, depth: UInt16) {
        switch event {
        case .returns: if let callout = state.innermost { tally.returns(callout, at: time) }
        case .wakes: begins(time)
        case .runBegins: if depth == 1 { begins(time) }
        case .sleeps: ends(time)
        case .runEnds: if depth <= 1 { ends(time) }
        case .passes, .calls, .wanted: break
        }
    }

    private func begins(_ time: Int64) {
        tally.begins(at: time)
        // Partner of the fence in HangWatcher.park(): either the watcher sees that the loop is in use, or the loop sees
        // that the watcher sleeps.
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        if watcher.isParked.load(ordering: .relaxed) { watcher.unpark(at: time) }
    }

    private func ends(_ time: Int64) {
        tally.ends(at: time)
        // Relaxed: if it is seen too late, the next look finds the end.
        if wantsEnd.load(ordering: .relaxed) {
            wantsEnd.store(false, ordering: .relaxed)
            watcher.poke(at: time)
        }
    }

    // MARK: The watcher's thread

    /// Whether there is nothing left to look at.
    var isGone: Bool { loop == nil && hang == nil }

    /// Whether the loop has slept through so many looks that the watcher can wait for it to wake up.
    var isIdle: Bool { detector.isIdle }

    /// Whether the loop is busy at this moment.
    var isInUse: Bool { state.snapshot().activity == .busy }

    /// Looks at the loop, reports a hang that has begun or ended, and returns when to look again, in nanoseconds of the
    /// monotonic clock.
    ///
    /// - Parameters:
    ///   - now: The time on the monotonic clock, in nanoseconds.
    ///   - standstill: How many nanoseconds of the time since the last look the process was stopped.
    func look(at now: Int64, standstill: Int64) -> Int64 {
        var status = state.snapshot()
        status.since = max(status.since, watchedSince.load(ordering: .relaxed))
        let ended = tally.read().lastLong
        let step = detector.look(
            HangDetector.Look(
                now: now, isBusy: status.activity == .busy, since: status.since, standstill: standstill,
                ended: (ended.began, ended.ended)))
        let before = usage
        usage = Usage(probe, before: before)
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

    /// Reports a hang that ended before the watcher could look at it, from the records of the loop's thread alone.
    private func missed(
        _ ended: StretchTally.Stretch, _ duration: Int64, _ status: LoopState.Snapshot, _ now: Int64
    ) {
        if !setting.options.reportsWhenTraced, ThreadProbe.isTraced { return }
        var hang = Hang(
            number: watcher.nextNumber(), mode: loop?.currentMode, depth: max(1, status.depth), status: status)
        hang.status.since = ended.began
        var report = makeReport(.began, hang, duration: duration, now, ended)
        (hang.isReported, hang.leftOut) = setting.annealer.begins(key(report, hang))
        report.leftOut = hang.leftOut
        if hang.isReported { setting.handler(report) }
        self.hang = hang
        ends(ended, duration, now)
    }

    /// Called when a stretch is first seen, `time` nanoseconds after its beginning.
    private func newStretch(after time: Int64, _ before: Usage) {
        // The delay since the previous look may have been in that time: as much of it as fits is counted.
        let delay = min(usage.delay - before.delay, max(0, time))
        usageBefore = usage
        usageBefore.delay -= delay
        usageBefore.processor -= min(usage.processor - before.processor, max(0, time) - delay)
        isIgnored = false
    }

    private func begins(_ status: LoopState.Snapshot, _ now: Int64) {
        if !setting.options.reportsWhenTraced, ThreadProbe.isTraced { isIgnored = true }
        guard !isIgnored else { return }
        wantsEnd.store(true, ordering: .relaxed)
        var hang = Hang(number: watcher.nextNumber(), mode: loop?.currentMode, depth: status.depth, status: status)
        takeSample(&hang)
        // A thread that runs waits for no task.
        if setting.options.taskLimit != nil, hang.samples.runs == 0 { hang.tasks = setting.newRings() }
        var report = makeReport(.began, hang, duration: duration(now), now, nil)
        (hang.isReported, hang.leftOut) = setting.annealer.begins(key(report, hang))
        report.leftOut = hang.leftOut
        // Also for a hang that is not reported: nobody knows whether the program survives the hang.
        hang.file = setting.file(for: report)
        self.hang = hang
        if hang.isReported { setting.handler(report) }
    }

    private func goesOn(_ status: LoopState.Snapshot, _ now: Int64) {
        guard var hang else { return }
        hang.status = status
        takeSample(&hang)
        if hang.file?.isDue(at: now) == true {
            let report = makeReport(.began, hang, duration: duration(now), now, nil)
            hang.file?.write(report)
        }
        self.hang = hang
    }

    /// Returns how long the present stretch has taken so far, in nanoseconds.
    private func duration(_ now: Int64) -> Int64 { now - (detector.stretch ?? now) - detector.standstill }

    private func ends(_ ended: StretchTally.Stretch, _ duration: Int64, _ now: Int64) {
        wantsEnd.store(false, ordering: .relaxed)
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
        let end = stackEnd.load(ordering: .relaxed)
        let sample = setting.sampler?.sample(probe.thread, stackEnd: end) ?? StackSampler.Sample(probe.state)
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
        let since = hang.status.since
        let returned = ended ?? tally.read().present
        let stretch = ended ?? returned.adding(hang.status.callouts, since: since, now: now)
        let processor = min(usage.processor - usageBefore.processor, duration)
        let delay = min(usage.delay - usageBefore.delay, duration)
        let evidence = HangEvidence(
            limit: limit, duration: duration, processor: processor, delay: delay,
            longest: stretch.longest?.time ?? 0, hasOthers: stretch.callouts > 1, waits: hang.samples.waits,
            runs: hang.samples.runs, isOver: stage == .ended)
        let cause = evidence.cause
        let commonest = stretch.commonest.prefix(8)
        let (frames, count) = hang.samples.majorityStack
        return RunLoop.HangWatch.Report(
            stage: stage, number: hang.number, loop: RunLoop.Identity(thread: probe.thread),
            mode: hang.mode, depth: hang.depth, since: RunLoop.Instant(nanoseconds: since),
            duration: .nanoseconds(duration), standstill: .nanoseconds(detector.standstill),
            limit: .nanoseconds(limit), cause: cause,
            callout: (cause == .congestion ? commonest.first : stretch.longest)?.callout,
            commonest: commonest.map(\.callout), calloutCount: returned.callouts,
            processorTime: .nanoseconds(processor),
            processorDelay: .nanoseconds(delay), stack: frames, stackSamples: count, samples: hang.samples.count,
            tasks: hang.tasks, leftOut: hang.leftOut)
    }

    // MARK: Tasks that wait for each other

    /// Searches for tasks that wait for each other once the main loop has slept for the time in the options, once in each sleep.
    ///
    /// - Returns: When to call this again, in nanoseconds of the monotonic clock, if the loop goes on to sleep.
    func lookForRings(at now: Int64) -> Int64 {
        guard let limit = setting.options.taskLimit?.clampedNanoseconds, let loop else { return .max }
        let status = state.snapshot()
        guard status.activity == .asleep, loop.threadID == SystemCalls.mainThreadID, status.since != searchedSleep
        else { return .max }
        let deadline = max(status.since, watchedSince.load(ordering: .relaxed)).clampedAdding(limit)
        if now < deadline { return deadline }
        searchedSleep = status.since
        let tasks = setting.newRings()
        if tasks.isEmpty { return .max }
        let identity = RunLoop.Identity(thread: probe.thread)
        setting.handler(
            RunLoop.HangWatch.Report(
                stage: .began, number: watcher.nextNumber(), loop: identity, mode: loop.currentMode,
                depth: status.depth, since: RunLoop.Instant(nanoseconds: status.since),
                duration: .nanoseconds(now - status.since), standstill: .zero, limit: .nanoseconds(limit),
                cause: .tasksInRing, callout: nil, commonest: [], calloutCount: 0, processorTime: .zero,
                processorDelay: .zero, stack: [], stackSamples: 0, samples: 0, tasks: tasks, leftOut: 0))
        return .max
    }
}
