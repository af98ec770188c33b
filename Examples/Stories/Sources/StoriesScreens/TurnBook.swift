// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsDiagnostics

/// Makes lines of what a loop has done: one for each wake-up, from the moment when the thread is awake until it sleeps.
///
/// Wake-ups that are alike are counted in one line. What the log itself causes is counted, and gets no line.
/// Observers of signals are left out: they are no part of a story.
package struct TurnBook {
    /// Some wake-ups that were alike.
    package struct Line: Equatable {
        /// The mode that the loop ran in.
        package var mode: RunLoop.Mode
        /// The points that were passed, each with what was called there.
        package var points: [String]
        /// How many wake-ups they were.
        package var count = 1
    }

    /// A point of the run, and what was called there: each callout once, with how often it came.
    private struct Point {
        var name: String
        var callouts: [(text: String, count: Int)] = []

        var text: String {
            if callouts.isEmpty { return name }
            let texts = callouts.map { $0.count == 1 ? $0.text : "\($0.text) \($0.count)×" }
            return "\(name): \(texts.joined(separator: ", "))"
        }

        mutating func add(_ callout: String) {
            if let index = callouts.firstIndex(where: { $0.text == callout }) {
                callouts[index].count += 1
            } else {
                callouts.append((callout, 1))
            }
        }
    }

    /// A wake-up that goes on.
    private struct Present {
        var points: [Point] = []
        /// What was called, without the observers: what the thread was woken for.
        var work: [String] = []
        var isOwn = false
    }

    /// The label of the log's own items.
    static let ownLabel = "turn log"
    /// More lines than the tallest terminal shows are not kept.
    private static let maxLines = 200
    /// A line is alike to one of so many before it.
    private static let reach = 4

    /// The lines, the latest last.
    package private(set) var lines: [Line] = []
    /// How many wake-ups there were, with the log's own.
    package private(set) var wakeUps = 0
    /// How many wake-ups the log itself has caused.
    package private(set) var ownWakeUps = 0
    /// The mode of the present run.
    package private(set) var mode = RunLoop.Mode.default

    private var present = Present()
    private var depth = 0
    private var isAsleep = false
    /// How many lines belong to runs that have ended.
    private var former = 0

    /// Notes what was done since the last call.
    package mutating func take(_ events: some Sequence<RunLoop.Trace.Event>) {
        for event in events { take(event.kind) }
    }

    private mutating func take(_ event: RunLoop.Trace.Event.Kind) {
        switch event {
        case .runBegan(let mode):
            close()
            if mode != self.mode { former = lines.count }
            self.mode = mode
            depth = 0
        case .passed(let activity): present.points.append(Point(name: activity.name))
        case .calloutBegan(let callee, let label):
            if depth == 0 { call(callee, label) }
            depth += 1
        case .calloutEnded: depth = max(0, depth - 1)
        case .woke(let waking):
            present.points.append(Point(name: "asleep"))
            close()
            if waking.cause != .limit { wakeUps += 1 }
        case .runEnded(let result):
            // A run that has lasted its time and begins again has done nothing to be shown.
            if result == .timedOut, present.work.isEmpty { present = Present() }
            close()
        case .wanted: break
        }
    }

    private mutating func call(_ callee: RunLoop.Trace.Event.Callee, _ label: String) {
        if present.points.isEmpty { present.points.append(Point(name: "run")) }
        if callee == .observer {
            // The terminal has an observer for each signal that it waits for: seven names a turn.
            if label != Self.ownLabel, !label.hasPrefix("signal ") { add(label) }
        } else {
            present.work.append(label)
            add("\(callee) \(label)")
        }
    }

    private mutating func add(_ callout: String) {
        present.points[present.points.count - 1].add(callout)
    }

    private mutating func close() {
        defer { present = Present() }
        if present.isOwn {
            ownWakeUps += 1
            return
        }
        let texts = present.points.map(\.text)
        if texts.isEmpty { return }
        let recent = max(former, lines.count - Self.reach)
        if let index = lines[recent...].lastIndex(where: { $0.points == texts && $0.mode == mode }) {
            lines[index].count += 1
            return
        }
        lines.append(Line(mode: mode, points: texts))
        if lines.count > Self.maxLines {
            lines.removeFirst()
            former = max(0, former - 1)
        }
    }

    /// Decides about the wake-up that goes on, before the thread sleeps.
    ///
    /// - Parameter isShowing: Whether the log waits for the frame that shows it.
    /// - Returns: Whether there is something that the user has not seen.
    mutating func judge(isShowing: Bool) -> Bool {
        let own = isShowing ? [Self.ownLabel, "next frame"] : [Self.ownLabel]
        present.isOwn = !present.work.isEmpty && present.work.allSatisfy(own.contains)
        // The rest of a frame that goes out is the end of what was seen before.
        return !present.isOwn && present.work.contains { $0 != "terminal output" && $0 != Self.ownLabel }
    }
}

extension RunLoop.Activities {
    /// The name of one activity.
    fileprivate var name: String {
        switch self {
        case .entry: "entry"
        case .beforeTimers: "beforeTimers"
        case .beforeSources: "beforeSources"
        case .beforeWaiting: "beforeWaiting"
        case .afterWaiting: "afterWaiting"
        default: "exit"
        }
    }
}
