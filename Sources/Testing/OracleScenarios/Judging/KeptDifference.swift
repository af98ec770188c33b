// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A difference between the loops that is kept on purpose, and the way in which the oracle avoids it.
///
/// Only this type lists the differences; the generator and the interpreter refer to it where they avoid one in a
/// scenario.
package struct KeptDifference: Sendable {
    /// The rules that say what differs, and why it is kept.
    package let rules: String
    package let difference: String
    package let handling: String

    package static let all: [KeptDifference] = [
        KeptDifference(
            rules: "Specification 9.3, 9.4",
            difference: """
                When a finite limit passes inside a nested run, the real one's helper timer wakes the inner loop for \
                nothing.
                """,
            handling: """
                No run is nested in a run whose limit passes while the scenario runs (Interpreter); where limits pass, \
                only timers wake or stop from callouts (ScenarioGenerator).
                """),
        KeptDifference(
            rules: "Specification 9.11",
            difference: """
                The real one reads the descriptor that woke it (a descriptor source's, the timers', the main queue's) before \
                the afterWaiting observers; ours leaves it for whoever serves it, a nested run included.
                """,
            handling: """
                Where there are descriptor sources, timers or queue items, afterWaiting observers nest no runs, and do not \
                write to descriptor sources or move them (Interpreter).
                """),
        KeptDifference(
            rules: "Specification 9.7",
            difference: "When another thread sets a fire date the real one wakes the loop, whether it must or not.",
            handling: "The other thread adds timers, and sets no dates (ScenarioGenerator)."),
        KeptDifference(
            rules: "Specification 9.12",
            difference: """
                In the real one timers and wake-ups are descriptors too, and epoll says who of all was ready first. Ours \
                asks the kernel only for descriptor sources, and takes one as ready since the look before.
                """,
            handling:
                "Scenarios have descriptor sources, or timers, a queue and wake-ups from callouts (ScenarioGenerator)."),
        KeptDifference(
            rules: "Specification 9.9",
            difference: """
                Each mode of the real one has a timer descriptor. While a timer of two modes is called in one, the other \
                one's has gone off, and a run nested in that mode makes an empty turn; so does one whose last timer was \
                taken out, and one in the callout of a timer that was added, or given a date, after the sleep.
                """,
            handling: """
                No run is nested in a mode that has a timer which is being called in another, nor in the callout of a \
                timer that an afterWaiting observer has given a date (Interpreter); timers leave a mode only \
                where it keeps one more, or by firing (Scenario.hasSentinels).
                """),
        KeptDifference(
            rules: "Specification 9.10",
            difference: """
                A timer that is given a date in its own callback, or is added to a mode there, is armed by the real one \
                in the mode it fires in alone: in its other modes the date passes. Ours fires it in all.
                """,
            handling:
                "A timer of several modes sets no date in its own callback, and joins no mode there (Interpreter)."),
        KeptDifference(
            rules: "Specification 9.1",
            difference: "The real one ignores a timer's tolerance on Linux.",
            handling: "Scenarios have no tolerances (Scenario)."),
        KeptDifference(
            rules: "Specification 9.8",
            difference: "The real one keeps a past fire date as it was given; ours takes it as now.",
            handling: "Past dates are compared as due (Dates)."),
        KeptDifference(
            rules: "Specification 9.15",
            difference: """
                A run that is nested after a stop, and before the sleep of the turn that was told to stop, takes the \
                wake-up of the stop. The outer run of the real one then sleeps although it was stopped; ours ends.
                """,
            handling: """
                After a stop in a callout before the sleep, no run is nested until a callout shows that the sleep is \
                over (StopsBeforeSleep).
                """),
        KeptDifference(
            rules: "Specification 9.18",
            difference: """
                The real one sleeps in a mode that has lost its last item since the turn began, until something else \
                wakes it; ours ends the run.
                """,
            handling: """
                A trace counts as the same if ours makes it when it sleeps there too (Comparison.isAwake).
                """),
        KeptDifference(
            rules: "Specification 9.19",
            difference: """
                In the real one a wake-up or timers may have a place among what is ready from an earlier turn: epoll keeps \
                the place. Ours serves what has been ready longest.
                """,
            handling: """
                A trace counts as the same if ours makes it when it serves something else first of what is ready \
                together, in one scenario of 500 at most (Comparison.isReordered).
                """),
    ]
}
