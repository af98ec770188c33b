// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// The facts about a hang, and the reason why they make one.
///
/// Values in, values out. Times in nanoseconds.
struct HangEvidence {
    /// The limit that was passed.
    var limit: Int64
    /// The stretch so far; the other durations are parts of it.
    var duration: Int64
    /// The thread's processor time.
    var processor: Int64
    /// For how long the thread was ready to run and did not, as far as the kernel has counted it.
    var delay: Int64
    /// The part of the stretch that the longest callout took.
    var longest: Int64
    /// Whether there was a callout beside that one, or none at all.
    var hasOthers: Bool
    /// How often the thread was found to wait, and for what.
    var waits: [RunLoop.HangWatch.Cause.Wait: Int] = [:]
    /// How often it was found ready to run, or running.
    var runs = 0
    /// Whether the hang has ended.
    var isOver = false

    var cause: RunLoop.HangWatch.Cause {
        if isStarved { return .starvation }
        if hasOthers, longest * 2 < duration { return .congestion }
        if processor * 2 >= duration - wholeDelay { return .computing }
        // The first in a fixed order among equals, so that the same evidence gives the same answer.
        let most = waits.max { ($0.value, "\($1.key)") < ($1.value, "\($0.key)") }
        return most.map { .waiting($0.key) } ?? .waiting(.other(call: -1))
    }

    private var isStarved: Bool {
        // Other threads that took the processor do not excuse a stretch that would have been a hang without them.
        // Before the end nobody knows whether it would have been, so the evidence has to be clearer.
        isOver ? wholeDelay * 2 >= duration && duration - wholeDelay < limit : wholeDelay * 4 >= duration * 3
    }

    /// The wait for a processor, also while it lasts.
    ///
    /// The kernel counts a delay when it is over. A delay that lasts shows in a thread that is ready and does not run.
    private var wholeDelay: Int64 {
        runs > waits.values.reduce(0, +) ? max(delay, duration - processor) : delay
    }
}
