// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// The statistics that one client looks at: a meter on each loop, for as long as the client is there.
final class InspectorMeters: Sendable {
    /// More loops than this are not metered: a meter takes 50 kB, and threads may come and go by the thousand.
    private static let mostMeters = 256

    private struct Entry {
        weak var loop: RunLoop?
        let meter: LoopMeter
        let announcer: LoopAnnouncer
    }

    private struct State {
        var entries: [ObjectIdentifier: Entry] = [:]
        /// A loop that was about to get a meter gets none.
        var isOver = false

        mutating func add(_ inspected: InspectedLoops.Inspected) {
            let key = ObjectIdentifier(inspected.announcer)
            if isOver || entries[key] != nil { return }
            if entries.count >= InspectorMeters.mostMeters {
                entries = entries.filter { $0.value.loop != nil }
                if entries.count >= InspectorMeters.mostMeters { return }
            }
            let meter = LoopMeter(inspected.loop)
            inspected.announcer.add(meter)
            entries[key] = Entry(loop: inspected.loop, meter: meter, announcer: inspected.announcer)
        }
    }

    private let loops: InspectedLoops
    // New loops come on their own threads.
    private let state = Guarded(State())

    init(_ loops: InspectedLoops) {
        self.loops = loops
        // From here on signals, posts and wake-ups leave word of when.
        NewLoops.setRecorded(true)
        loops.follow(self) { [state] inspected in state.withLock { $0.add(inspected) } }
    }

    deinit {
        loops.unfollow(self)
        NewLoops.setRecorded(false)
        let entries = state.withLock { state in
            state.isOver = true
            return state.entries.values
        }
        for entry in entries { entry.announcer.remove(entry.meter) }
    }

    /// What has been counted of a loop since this began.
    ///
    /// - Parameter awake: How long the loop has been awake by now, if it is.
    func statistics(of inspected: InspectedLoops.Inspected, awake: Int64) -> RunLoop.Statistics? {
        let key = ObjectIdentifier(inspected.announcer)
        guard var statistics = state.withLock({ $0.entries[key]?.meter })?.snapshot() else { return nil }
        // The stretch under way is what one wants to know of a loop that hangs.
        statistics.busy += awake
        return statistics
    }
}
