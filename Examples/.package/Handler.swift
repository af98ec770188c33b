// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import RunLoops

/// Measures how long work waits that a handler of the host's, such as a button's, gives to the loops of the main thread.
///
/// Links to this file are among the sources of the examples with a host. The measurement does not wake the main thread: the host's own
/// clicks are the only events, and each click gives one piece of work. Work that the handler's return does not start waits for the next
/// click, so it shows as a delay of that length.
@MainActor
enum Handler {
    typealias Work = @MainActor @Sendable () -> Void

    private static let rounds = 10
    private static let kinds: [(name: String, give: (@escaping Work) -> Void)] = [
        ("RunLoop.main.perform", { work in Foundation.RunLoop.main.perform { assumeMain(work) } }),
        ("NotificationQueue, .asap", { work in post(.asap, work) }),
        ("NotificationQueue, .whenIdle", { work in post(.whenIdle, work) }),
        (
            "Timer of 0 s",
            { work in
                _ = Foundation.Timer.scheduledTimer(withTimeInterval: 0, repeats: false) { _ in assumeMain(work) }
            }
        ),
        ("Task", { work in Task { @MainActor in work() } }),
        ("RunLoops' perform without a wake-up", { work in RunLoops.RunLoop.main.perform(wake: false) { assumeMain(work) } }),
    ]
    private static var delays: [[Duration]] = kinds.map { _ in [] }
    private static var clicks = 0

    /// How many calls of ``click()`` a measurement takes.
    static var clicksWanted: Int { kinds.count * rounds }

    /// Whether the handler has been called often enough.
    static var hasAllClicks: Bool { clicks >= clicksWanted }

    /// Gives the next kind of work; to be called by the host's handler.
    static func click() {
        let kind = clicks % kinds.count
        clicks += 1
        let start = ContinuousClock.now
        kinds[kind].give { delays[kind].append(start.duration(to: .now)) }
    }

    nonisolated private static func assumeMain(_ work: @escaping Work) { MainActor.assumeIsolated { work() } }

    private static func post(_ style: NotificationQueue.PostingStyle, _ work: @escaping Work) {
        let name = Notification.Name("click \(clicks)")
        _ = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in assumeMain(work) }
        NotificationQueue.default.enqueue(Notification(name: name), postingStyle: style)
    }

    // MARK: Results

    /// Prints the delays; returns whether all work was done and the median of each kind is 2 ms at most.
    ///
    /// Single delays are printed and not judged: another process may have the processor.
    static func report() -> Bool {
        var isWell = true
        for (kind, delays) in zip(kinds, delays) {
            let sorted = delays.sorted()
            guard sorted.count == rounds, let last = sorted.last else {
                print("\(kind.name): \(rounds - sorted.count) of \(rounds) lost")
                isWell = false
                continue
            }
            let median = sorted[rounds / 2]
            print("\(kind.name): median \(milliseconds(median)), longest \(milliseconds(last))")
            isWell = isWell && median <= .milliseconds(2)
        }
        return isWell
    }

    private static func milliseconds(_ delay: Duration) -> String { String(format: "%.2f ms", delay / .milliseconds(1)) }

    /// Counts how often the main thread sleeps anew in some seconds without an event; another thread looks.
    ///
    /// Returns the fewest of three counts: a toolkit may do something by itself in one of them.
    nonisolated static func countSleeps(seconds: Double, _ end: @escaping @MainActor @Sendable (Int) -> Void) {
        Thread.detachNewThread {
            var fewest = Int.max
            for _ in 0..<3 where fewest > 0 {
                let before = sleeps()
                Thread.sleep(forTimeInterval: seconds)
                fewest = min(fewest, sleeps() - before)
            }
            let count = fewest
            Task { await end(count) }
        }
    }

    nonisolated private static func sleeps() -> Int {
        let status = (try? String(contentsOfFile: "/proc/\(getpid())/task/\(getpid())/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
        return line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0
    }
}
