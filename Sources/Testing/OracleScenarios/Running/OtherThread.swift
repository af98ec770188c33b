// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The runner of a scenario, as far as the other thread uses it.
protocol ScenarioHost: AnyObject, Sendable {
    var scenario: Scenario { get }
    var engine: (any Engine)! { get }
    /// The number of steps of the scenario so far, the limits of the runs in progress, outermost first, and whether the
    /// scenario is over.
    ///
    /// If two readings of `progress` are equal, no step was made in between.
    var standing: (progress: Int, limits: [RunLimit], isOver: Bool) { get }
    func write(_ line: @autoclosure () -> String)
    func perform(_ actions: [Action], onOtherThread: Bool)
}

/// The other thread of a scenario, which acts when the loop sleeps and nothing would wake it, and ends all runs.
///
/// It waits until the kernel reports that the loop's thread sleeps, because an earlier action would race the loop, and
/// traces of a race cannot be compared.
final class OtherThread: Sendable {
    private let host: any ScenarioHost
    private let watch: SleepWatch

    /// Makes the other thread of `host`; called on the loop's thread, which `watch` watches.
    init(_ host: any ScenarioHost, watching watch: SleepWatch) {
        self.host = host
        self.watch = watch
    }

    func close() {
        watch.close()
    }

    func live() {
        let began = monotonicNanoseconds()
        var nextStep = 0
        var seenProgress = -1
        while true {
            usleep(40)
            let (progress, limits, isOver) = host.standing
            if isOver { return }
            guard monotonicNanoseconds() - began < Self.patience else {
                host.write("too late: stopped by the watchdog")
                breakUp()
                continue
            }
            guard let limit = limits.last, !limit.passes, isAsleep else {
                seenProgress = -1
                continue
            }
            guard progress == seenProgress else {
                seenProgress = progress
                continue
            }
            act(nextStep)
            nextStep += 1
            seenProgress = -1
        }
    }

    private var isAsleep: Bool {
        host.engine.isWaiting && watch.isAsleep && !host.engine.timerIsSoon()
    }

    private func act(_ step: Int) {
        if host.scenario.otherThread.indices.contains(step) {
            host.write("other thread, step \(step + 1)")
            host.perform(host.scenario.otherThread[step], onOtherThread: true)
        } else {
            host.write("other thread stops")
            host.engine.stop()
        }
    }

    /// Stops the loop repeatedly until the scenario is over, however often the scenario runs the loop.
    private func breakUp() {
        while !host.standing.isOver {
            host.engine.stop()
            host.engine.wakeUp()
            usleep(500)
        }
    }

    /// A time in nanoseconds that is longer than any scenario takes, even on a busy machine.
    private static let patience: Int64 = 3_000_000_000
}

extension RunLimit {
    /// Whether the limit passes while the scenario runs.
    var passes: Bool {
        if case .slots = self { true } else { false }
    }
}
