// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Counts what one loop does, and reports it when the loop is awake anyway.
// Unchecked: what is neither atomic nor guarded by the lock belongs to the loop's thread, or never changes.
final class MeteredLoop: OwnedListener, @unchecked Sendable {
    let identity: RunLoop.Identity
    private let meter: LoopMeter
    private let clock: LoopClock
    /// Weak: counting does not keep the loops of threads that have ended.
    private weak let loop: RunLoop?
    /// Nanoseconds; `max` for only the reports that somebody asks for.
    private let interval: Int64
    private let reporter: (@Sendable (RunLoop.Metering.Report) -> Void)?
    private let isOn = Atomic<Bool>(true)

    /// Since when the loop is awake in a run, or, negative, since when it sleeps; 0 outside.
    private let phase = Atomic<Int64>(0)
    /// Odd while the phase and what has been counted do not fit together.
    private let version = Atomic<UInt64>(0)

    // The loop's thread.
    @exclusivity(unchecked) private var nextReport: Int64

    private let lock = Lock()
    // Guarded by the lock.
    @exclusivity(unchecked) private var reported = RunLoop.Statistics()

    init(
        _ loop: RunLoop, every interval: Int64,
        _ makeReporter: (@Sendable (RunLoop.Identity) -> @Sendable (RunLoop.Metering.Report) -> Void)?
    ) {
        identity = RunLoop.Identity(loop)
        meter = LoopMeter(loop)
        clock = LoopClock(loop)
        self.loop = loop
        self.interval = interval
        reporter = makeReporter?(identity)
        nextReport = clock.now.addingReportingOverflow(interval).partialValue
        if interval == .max { nextReport = .max }
    }

    var isOver: Bool { loop == nil }

    func stop() { isOn.store(false, ordering: .relaxed) }

    // MARK: The loop's thread

    func hear(_ event: LoopEvent, at time: Int64, depth: UInt16) {
        guard isOn.load(ordering: .relaxed) else { return }
        switch event {
        case .sleeps:
            count(event, at: time, depth, then: -time)
            if time >= nextReport { reportInTime(time) }
        case .wakes:
            count(event, at: time, depth, then: time)
        case .runBegins where phase.load(ordering: .relaxed) == 0:
            count(event, at: time, depth, then: time)
        case .runEnds where depth <= 1:
            count(event, at: time, depth, then: 0)
            if time >= nextReport { reportInTime(time) }
        default:
            meter.hear(event, at: time, depth: depth)
        }
    }

    private func count(_ event: LoopEvent, at time: Int64, _ depth: UInt16, then phase: Int64) {
        let number = version.load(ordering: .relaxed)
        version.store(number &+ 1, ordering: .relaxed)
        // The odd number before the words: partner of the fence in statistics().
        atomicMemoryFence(ordering: .releasing)
        meter.hear(event, at: time, depth: depth)
        self.phase.store(phase, ordering: .relaxed)
        version.store(number &+ 2, ordering: .releasing)
    }

    @inline(never)
    private func reportInTime(_ time: Int64) {
        nextReport = time + interval
        report()
    }

    // MARK: Any thread

    /// Tells the reporter what is new.
    func report() {
        // Without the lock held: the reporter may ask for reports itself.
        reporter?(reading(isReport: true))
    }

    /// What has been counted so far.
    ///
    /// - Parameter isReport: What is new in the next one is counted from here on.
    func reading(isReport: Bool) -> RunLoop.Metering.Report {
        let pending = loop?.pendingCount ?? 0
        return lock.withLock {
            let (statistics, isAsleep) = statistics()
            let change = statistics.since(reported)
            if isReport { reported = statistics }
            return RunLoop.Metering.Report(
                loop: identity, statistics: statistics, change: change, isAsleep: isAsleep, pending: pending)
        }
    }

    /// With the time of the sleep, or of the stretch awake, that goes on.
    private func statistics() -> (RunLoop.Statistics, isAsleep: Bool) {
        while true {
            let number = version.load(ordering: .acquiring)
            if number & 1 == 0 {
                var statistics = meter.snapshot()
                let phase = phase.load(ordering: .relaxed)
                // A word of a later state seen above means that its odd number is seen below.
                atomicMemoryFence(ordering: .acquiring)
                if version.load(ordering: .relaxed) == number {
                    let now = clock.now
                    if phase > 0 { statistics.busy += max(0, now - phase) }
                    if phase < 0 { statistics.asleep += max(0, now + phase) }
                    return (statistics, phase < 0)
                }
            }
            // The writer may have lost its processor in the middle.
            sched_yield()
        }
    }
}
