internal import Glibc
internal import Synchronization

/// The other thread of a scenario: acts when the loop sleeps and nothing would wake it, and sees to it that all ends.
///
/// It waits for the kernel's word that the loop's thread sleeps, because whatever it did earlier would race the loop, and a
/// race has no trace to compare.
final class OtherThread: Sendable {
    private let interpreter: Interpreter
    private let watch: SleepWatch

    /// Made on the loop's thread, which `watch` watches.
    init(_ interpreter: Interpreter, watching watch: SleepWatch) {
        self.interpreter = interpreter
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
            let (progress, limits, isOver) = interpreter.shared.withLock { ($0.progress, $0.limits, $0.isOver) }
            if isOver { return }
            guard monotonicNanoseconds() - began < Self.patience else {
                interpreter.write("too late: stopped by the watchdog")
                breakUp()
                continue
            }
            guard let limit = limits.last, !limit.passes, isAsleep() else {
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

    private func isAsleep() -> Bool {
        interpreter.engine.isWaiting && watch.isAsleep && !interpreter.engine.timerIsSoon()
    }

    private func act(_ step: Int) {
        if interpreter.scenario.otherThread.indices.contains(step) {
            interpreter.write("other thread, step \(step + 1)")
            interpreter.perform(interpreter.scenario.otherThread[step], onOtherThread: true)
        } else {
            interpreter.write("other thread stops")
            interpreter.engine.stop()
        }
    }

    /// Stops the loop until it has ended, however often it is run again.
    private func breakUp() {
        while !interpreter.shared.withLock({ $0.isOver }) {
            interpreter.engine.stop()
            interpreter.engine.wakeUp()
            usleep(500)
        }
    }

    /// Longer than any scenario takes on a machine that is busy with something else.
    private static let patience: Int64 = 3_000_000_000
}

extension RunLimit {
    /// Whether it passes while the scenario runs.
    var passes: Bool {
        if case .slots = self { true } else { false }
    }
}
