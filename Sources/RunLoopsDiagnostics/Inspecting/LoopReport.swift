// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

package import RunLoops

/// What an inspected process says about itself.
package struct ProcessReport: Sendable {
    /// The process's number as this process sees it.
    package var process: Int32
    /// The program's file name.
    package var program: String
    /// When the process answered, in nanoseconds of the process's monotonic clock.
    package var time: Int64
    package var loops: [LoopReport]
}

/// What an inspected process says about one loop.
///
/// Times are nanoseconds before the answer.
package struct LoopReport: Sendable {
    package enum Activity: String, Sendable {
        case outside, busy, asleep
    }

    /// A callout under way.
    package struct Callout: Sendable, Equatable {
        package var kind: String
        package var label: String
        /// Where the item was made, unless that is its label.
        package var place: String?
        package var since: Int64
    }

    package struct Timer: Sendable, Equatable {
        package var label: String
        /// The time from the answer on; negative for a timer that is overdue.
        package var due: Int64
        package var interval: Int64
        package var tolerance: Int64
    }

    package var thread: Int32
    /// The thread's name.
    package var name: String
    package var isMain: Bool
    package var activity: Activity
    /// How long the loop has been in this state.
    package var since: Int64
    package var depth: Int
    /// The mode; `nil` outside a run.
    package var mode: String?
    /// The inspector did not get the loop's lock in time: mode, timers and description are not known.
    package var isLocked: Bool
    /// Outermost first.
    package var callouts: [Callout]
    package var turns: UInt64
    package var calloutCount: UInt64
    /// Sleeps ended by each cause, in the order of ``RunLoops/RunLoop/Trace/Event/Waking/Cause``.
    package var wakings: [UInt64]
    /// Nanoseconds asleep, the present sleep included.
    package var slept: Int64
    package var timers: [Timer] = []
    /// The loop's debug description.
    package var description: String?
    /// The counts since the client asked for them first.
    package var statistics: RunLoop.Statistics?
}

extension LoopReport {
    /// Any thread.
    init(_ inspected: InspectedLoops.Inspected, timers most: Int, describes: Bool, patience: Int64) {
        let loop = inspected.loop
        let seen = loop.snapshot(timers: most, patience: patience)
        let snapshot = inspected.status.snapshot()
        let now = inspected.now
        thread = inspected.status.thread
        name = ThreadName.ofThread(thread)
        isMain = inspected.status.isMain
        activity =
            switch snapshot.activity {
            case .outside: .outside
            case .busy: .busy
            case .asleep: .asleep
            }
        since = now - snapshot.since
        depth = snapshot.depth
        mode = seen?.mode
        isLocked = seen == nil
        callouts = snapshot.callouts.map { callout in
            let label = callout.label?.text ?? "(one label too many)"
            let place = callout.label?.location
            return Callout(
                kind: callout.callee.description, label: label, place: place == label ? nil : place,
                since: now - callout.since)
        }
        turns = snapshot.turns
        calloutCount = snapshot.calloutCount
        wakings = snapshot.wakings
        slept = snapshot.slept + (snapshot.activity == .asleep ? now - snapshot.since : 0)
        timers = (seen?.timers ?? []).map {
            Timer(label: $0.label, due: $0.due, interval: $0.interval, tolerance: $0.tolerance)
        }
        if describes, seen != nil {
            let (text, items) = loop.describeWithItems()
            description = Self.cut(text)
            inspected.announcer.release(consume items)
        }
    }

    private static func cut(_ text: String) -> String {
        let most = InspectorProtocol.longestDescription
        if text.utf8.count <= most { return text }
        return String(decoding: text.utf8.prefix(most), as: UTF8.self) + "\n(\(text.utf8.count - most) bytes more)"
    }
}
