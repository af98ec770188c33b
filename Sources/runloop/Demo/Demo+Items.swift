// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import RunLoops

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The items of the demo's loop, each with the mode it belongs to.
extension Demo {
    /// The signals that the loop takes as its own events.
    static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT]

    /// Makes the items and adds them to the loop.
    ///
    /// - Returns: the items, to be invalidated at the end.
    /// - Throws: what the system refused.
    func addItems() throws -> [RunLoop.Item] {
        let input = StandardInput { [self] in take($0) }
        let signals = try SystemSignals(Self.signals) { [self] in
            take(signal: $0)
        }
        // Both on one grid, from one start: one wake-up serves the two.
        let defaultTimer = clockTimer(.defaultOnly)
        let commonTimer = clockTimer(.common)
        let observers = [stepObserver(), commitObserver()]

        for observer in observers { loop.add(observer, in: .common) }
        loop.add(defaultTimer, in: .default)
        loop.add(commonTimer, in: .common)
        loop.add(source, in: .common)
        try loop.add(input.source, in: .common)
        try loop.add(signals.source, in: .common)

        let script = options.isInteractive ? [] : scriptTimers()
        for timer in script { loop.add(timer, in: .common) }
        return observers + [defaultTimer, commonTimer, source, input.source, signals.source] + script
    }

    /// A thread with a loop of its own, whose timer sends the main loop something of each kind, in turn.
    func startBackgroundThread() throws -> LoopThread {
        let interval = options.errandInterval
        return try LoopThread { [self, source, signallers] loop in
            // The closure stays on this thread, so it may keep a variable.
            var errand = 0
            let timer = RunLoop.Timer(.every(interval), label: "errands") { _ in
                switch errand % 3 {
                case 0:
                    signallers.add(.backgroundThread)
                    source.signal()
                    // signal() only marks; the main loop would notice on its next turn, whenever that is.
                    RunLoop.main.wakeUp()
                case 1:
                    DispatchQueue.main.async { self.record(.callout(.mainQueue(by: .backgroundThread))) }
                default:
                    Task { @MainActor in self.record(.callout(.mainActor(by: .backgroundThread))) }
                }
                errand += 1
            }
            loop.add(timer, in: .default)
        }
    }

    // MARK: The items one by one

    private func clockTimer(_ kind: ClockTimer) -> RunLoop.Timer {
        .mainActor(.at(start.advanced(by: options.interval), every: options.interval), label: "clock, \(kind.name)") {
            [self] _ in
            record(.callout(.timer(kind)))
        }
    }

    /// Notes every step at which observers are called.
    ///
    /// First of all observers, so that the step stands before what comes in it.
    private func stepObserver() -> RunLoop.Observer {
        .mainActor(.all, order: Int.min, label: "steps") { [self] _, activity in
            switch activity {
            case .entry: record(.entered(loop.currentMode ?? mode))
            case .beforeTimers: record(.beforeTimers)
            case .beforeSources: record(.beforeSources)
            case .beforeWaiting: record(.beforeWaiting(nextTimer: untilNextTimer()))
            case .afterWaiting: record(.afterWaiting)
            case .exit: record(.exited)
            default: break
            }
        }
    }

    /// Draws what changed in the turn, once, before the thread sleeps: a deferred commit, with the order Apple's has.
    private func commitObserver() -> RunLoop.Observer {
        .mainActor([.beforeWaiting, .exit], order: 2_000_000, label: "commit") { [self] _, _ in
            output.commit(model)
        }
    }

    /// Without keys, the demo shows the modes by itself: to the tracking mode, and back.
    private func scriptTimers() -> [RunLoop.Timer] {
        let part = options.trackingPart
        let toTracking = RunLoop.Timer.mainActor(.at(start.advanced(by: part.start)), label: "to tracking") {
            [self] _ in
            record(.callout(.onceTimer("stop, and run in the tracking mode")))
            change(to: .tracking)
        }
        let toDefault = RunLoop.Timer.mainActor(.at(start.advanced(by: part.end)), label: "to default") { [self] _ in
            record(.callout(.onceTimer("stop, and run in the default mode")))
            change(to: .default)
        }
        let errands = RunLoop.Timer.mainActor(.at(start.advanced(by: part.start / 2)), label: "once") { [self] _ in
            record(.callout(.onceTimer("post a block, dispatch to the main queue")))
            postBlock(by: .timer)
            dispatch(by: .timer)
        }
        return [errands, toTracking, toDefault]
    }

    private func untilNextTimer() -> Duration? {
        guard let mode = loop.currentMode, let next = loop.nextTimerDeadline(in: mode) else { return nil }
        return max(.zero, RunLoop.Instant.now(next.base).duration(to: next))
    }
}
