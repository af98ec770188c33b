// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

package import RunLoops

/// A report of an inspected process on itself.
package struct ProcessReport: Sendable, JSONRecord {
    /// The number of the process; in an answer, the number that the asking process uses for it.
    package var process: Int32 = 0
    /// The program's file name.
    package var program = ""
    /// When the process answered, in nanoseconds of the process's monotonic clock.
    package var time: Int64 = 0
    package var loops: [LoopReport] = []

    /// The report as an object of JSON.
    package var document: JSON { asJSON ?? .null }

    static var fields: [JSONField<Self>] {
        [
            .init("process", \.process), .init("program", \.program, isRequired: true), .init("time", \.time),
            .init("loops", \.loops, isRequired: true),
        ]
    }
}

/// A report of an inspected process on one of its loops.
///
/// All times are in nanoseconds before the answer.
package struct LoopReport: Sendable, JSONRecord {
    /// A callout under way.
    package struct Callout: Sendable, Equatable, JSONRecord {
        package var kind = ""
        package var label = ""
        /// The place where the item was made; `nil` if the label is that place.
        package var place: String?
        package var since: Int64 = 0

        static var fields: [JSONField<Self>] {
            [.init("kind", \.kind), .init("label", \.label), .init("place", \.place), .init("since", \.since)]
        }
    }

    package struct Timer: Sendable, Equatable, JSONRecord {
        package var label = ""
        /// The time from the answer to the timer's date, in nanoseconds; negative for an overdue timer.
        package var due: Int64 = 0
        package var interval: Int64 = 0
        package var tolerance: Int64 = 0

        static var fields: [JSONField<Self>] {
            [
                .init("label", \.label), .init("due", \.due), .init("interval", \.interval),
                .init("tolerance", \.tolerance),
            ]
        }
    }

    package var thread: Int32 = 0
    /// The thread's name.
    package var name = ""
    package var isMain = false
    package var activity = LoopActivity.outside
    /// How long the loop has been in this state.
    package var since: Int64 = 0
    package var depth = 0
    /// The mode of the innermost run; `nil` outside a run.
    package var mode: String?
    /// Whether the inspector did not get the loop's lock in time, so that mode, timers and description are not known.
    package var isLocked = false
    /// The callouts under way, the outermost first.
    package var callouts: [Callout] = []
    package var turns: UInt64 = 0
    package var calloutCount: UInt64 = 0
    /// The number of sleeps that each cause has ended.
    package var wakings: [RunLoop.Trace.Event.Waking.Cause: UInt64] = [:]
    /// The time that the loop has slept, in nanoseconds, including the present sleep.
    package var slept: Int64 = 0
    package var timers: [Timer] = []
    /// The loop's debug description.
    package var description: String?
    /// The counts since the client's first request for statistics.
    package var statistics: RunLoop.Statistics?

    static var fields: [JSONField<Self>] {
        [
            .init("thread", \.thread, isRequired: true), .init("name", \.name), .init("main", \.isMain),
            .init("activity", \.activity, isRequired: true), .init("since", \.since), .init("depth", \.depth),
            .init("mode", \.mode), .init("locked", \.isLocked), .init("callouts", \.callouts),
            .init("turns", \.turns), .init("calloutCount", \.calloutCount), .init("wakings", \.wakings),
            .init("slept", \.slept), .init("timers", \.timers), .init("description", \.description),
            .init("statistics", \.statistics),
        ]
    }
}

extension LoopReport {
    /// Makes a report on a loop; any thread.
    init(_ loop: RunLoop, _ stream: LoopStream, timers most: Int, describes: Bool, patience: Int64) {
        let seen = loop.snapshot(timers: most, patience: patience)
        let state = stream.state
        let snapshot = state.snapshot()
        let now = state.now
        let identity = RunLoop.Identity(thread: state.thread)
        (thread, name, isMain) = (identity.thread, identity.name, identity.isMain)
        activity = snapshot.activity
        since = now - snapshot.since
        depth = snapshot.depth
        mode = seen?.modes.last?.rawValue
        isLocked = seen == nil
        callouts = snapshot.callouts.map { callout in
            let label = callout.label?.text ?? ""
            let place = callout.label?.location
            return Callout(
                kind: callout.callee.description, label: label, place: place == label ? nil : place,
                since: now - callout.since)
        }
        turns = snapshot.turns
        calloutCount = snapshot.calloutCounts.values.reduce(0, &+)
        wakings = snapshot.wakings
        slept = snapshot.slept + (snapshot.activity == .asleep ? now - snapshot.since : 0)
        timers = (seen?.timers ?? []).map {
            Timer(label: $0.label, due: $0.due, interval: $0.interval, tolerance: $0.tolerance)
        }
        if describes, seen != nil {
            let (text, items) = loop.describeWithItems()
            description = Self.cut(text)
            stream.release(consume items)
        }
    }

    private static func cut(_ text: String) -> String {
        let most = InspectorProtocol.maxDescriptionLength
        if text.utf8.count <= most { return text }
        return String(decoding: text.utf8.prefix(most), as: UTF8.self) + "\n(\(text.utf8.count - most) bytes more)"
    }
}
