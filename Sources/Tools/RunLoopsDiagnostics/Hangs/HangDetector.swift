// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// Decides when a hang begins and ends, and when to look again.
///
/// Reads no clock and knows no thread: all times are arguments.
struct HangDetector {
    /// The result of one look at a loop.
    struct Look {
        /// The time of the look, in nanoseconds of the monotonic clock.
        var now: Int64
        var isBusy: Bool
        /// When the present state began: busy, or not busy.
        var since: Int64
        /// How much of the time since the previous look the process may have been stopped, in nanoseconds.
        var standstill: Int64 = 0
        /// The last stretch that exceeded the limit and has ended, with the times that the loop's thread recorded.
        var ended: (began: Int64, ended: Int64)?
    }

    enum Step: Equatable {
        case nothing
        /// A new stretch was found.
        case newStretch
        /// The limit has been exceeded.
        case began
        case goesOn
        /// The reported hang has ended; its duration in nanoseconds.
        case ended(Int64)
        /// A hang has begun and ended since the previous look; its duration in nanoseconds.
        case missed(Int64)
    }

    /// The number of idle looks in a row after which the watcher stops looking.
    private static let patience = 4
    /// The number of looks with the same interval; then the interval is doubled, up to `doublings` times.
    private static let looksAnInterval = 16
    private static let doublings = 6

    let limit: Int64
    let interval: Int64

    private(set) var stretch: Int64?
    /// How long the process was stopped during the present stretch, in nanoseconds.
    private(set) var standstill: Int64 = 0
    private(set) var isHanging = false
    /// The time of the next look, in nanoseconds of the monotonic clock.
    private(set) var nextLook: Int64 = .min

    /// The beginning of the latest stretch that was reported or needs no report; `nil` before the first one.
    private var settled: Int64?
    private var idleSince: Int64?
    private var idleLooks = 0
    private var hangLooks = 0

    init(limit: Int64, interval: Int64) {
        // Sums with an instant, and the doublings, must not overflow.
        self.limit = min(limit, .max / 4)
        self.interval = min(interval, .max >> Int64(Self.doublings + 2))
    }

    /// Whether the loop has slept through several looks, so that the watcher can wait for the loop to wake up.
    var isIdle: Bool { idleLooks >= Self.patience }

    mutating func look(_ look: Look) -> Step {
        let step = decide(look)
        if isHanging {
            nextLook = look.now + interval << Int64(min(hangLooks / Self.looksAnInterval, Self.doublings))
            hangLooks += 1
        } else if let stretch {
            nextLook = stretch + standstill + limit
        } else {
            nextLook = look.now + limit / 2
        }
        return step
    }

    private mutating func decide(_ look: Look) -> Step {
        if look.isBusy {
            idleLooks = 0
            idleSince = nil
        } else {
            // A loop that was used in between begins anew.
            idleLooks = idleSince == look.since ? idleLooks + 1 : 0
            idleSince = look.since
        }
        let present = look.isBusy ? look.since : nil
        if let stretch, stretch == present {
            standstill += look.standstill
            return judge(stretch, look.now)
        }
        let missed = missed(look)
        let step: Step
        if isHanging {
            step = .ended(length(of: look))
            settled = max(settled ?? .min, stretch ?? .min)
        } else if let missed {
            step = .missed(missed)
        } else {
            step = present == nil ? .nothing : .newStretch
        }
        isHanging = false
        hangLooks = 0
        stretch = present
        // The process may have been stopped before the stretch began: that much cannot be part of it.
        standstill = present.map { max(0, min(look.standstill, look.now - $0)) } ?? 0
        return step
    }

    private mutating func judge(_ stretch: Int64, _ now: Int64) -> Step {
        if isHanging { return .goesOn }
        guard now - stretch - standstill >= limit else { return .nothing }
        isHanging = true
        return .began
    }

    /// Returns the duration of the last stretch that exceeded the limit, if no look has found it; otherwise `nil`.
    private mutating func missed(_ look: Look) -> Int64? {
        guard !isHanging, let ended = look.ended, ended.ended != 0 else { return nil }
        let before = settled ?? .min
        guard ended.began > before else { return nil }
        settled = ended.began
        // The process may have been stopped in all of the time since the look before.
        let length = ended.ended - ended.began - look.standstill - (stretch == ended.began ? standstill : 0)
        return length >= limit ? length : nil
    }

    /// Returns the duration of the stretch that has ended, in nanoseconds.
    private func length(of look: Look) -> Int64 {
        guard let stretch else { return 0 }
        // The loop's thread knows best. Where it has had another hang since, the next state's beginning is near enough.
        let end = look.ended?.began == stretch ? look.ended?.ended : nil
        return max(limit, (end ?? max(stretch, look.since)) - stretch - standstill)
    }
}

/// The readings of several clocks at one time.
struct Instants {
    var monotonic: Int64
    /// The time of a clock that also runs while the machine is suspended, when the monotonic clock stops.
    var boottime: Int64
    /// How long the calling thread has been ready to run without a processor since it began, in nanoseconds.
    var delay: Int64

    /// The readings for the calling thread.
    static func now() -> Instants {
        Instants(
            monotonic: SystemCalls.now(.monotonic), boottime: SystemCalls.now(.boottime),
            delay: ThreadProbe(thread: SystemCalls.threadID).processorDelay)
    }
}

/// Detects from the late wake-ups of one thread that the whole process was stopped: by SIGSTOP, by a freezer, or
/// together with its machine.
///
/// Reads no clock: all times are arguments.
struct StandstillClock {
    /// A delay in nanoseconds up to which a wake-up does not count as late.
    private static let tolerance: Int64 = 50_000_000

    private var before: Instants?

    /// Returns for how many nanoseconds since the previous call the process may have been stopped; usually 0.
    ///
    /// The thread asked at `askedAt` to be woken at `wanted`. A delay in which the thread was ready to run and another
    /// thread had the processor is not a standstill: it delays the watched threads too.
    mutating func standstill(_ now: Instants, wanted: Int64, askedAt: Int64) -> Int64 {
        defer { before = now }
        guard let before else { return 0 }
        let late = now.monotonic - max(wanted, askedAt) - (now.delay - before.delay)
        let suspended = (now.boottime - now.monotonic) - (before.boottime - before.monotonic)
        guard late > Self.tolerance || suspended > Self.tolerance else { return 0 }
        // Nobody knows when it began: all that has passed since the look before is taken for it.
        return now.monotonic - before.monotonic
    }
}
