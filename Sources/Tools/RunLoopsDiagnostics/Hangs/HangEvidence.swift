// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// The facts about a hang, from which its cause is derived.
///
/// All times are in nanoseconds.
struct HangEvidence {
    /// The limit that was passed.
    var limit: Int64
    /// The duration of the stretch so far; the other durations are parts of it.
    var duration: Int64
    /// The processor time that the thread used.
    var processor: Int64
    /// How long the thread was ready to run without a processor, as far as the kernel has counted it.
    var delay: Int64
    /// The part of the stretch that the longest callout took, in nanoseconds.
    var longest: Int64
    /// Whether the stretch had other callouts than the longest.
    var hasOthers: Bool
    /// How often the thread was found waiting, by the kind of wait.
    var waits: [RunLoop.HangWatch.Cause.Wait: Int] = [:]
    /// How often the thread was found running or ready to run.
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

    /// The time for which the thread waited for a processor, including a wait that has not ended.
    ///
    /// The kernel counts a wait only when it ends. If most samples found the thread running or ready to run, the time
    /// that it did not use as processor time counts as well.
    private var wholeDelay: Int64 {
        runs > waits.values.reduce(0, +) ? max(delay, duration - processor) : delay
    }
}
