/// The differences between the loops that are kept on purpose, and what the oracle does about each.
///
/// This is the one place where they are listed; the generator and the interpreter refer to it where they keep a scenario
/// away from one.
package struct KeptDifference: Sendable {
    /// The row of part 9 of the design page that says why it is kept.
    package let row: String
    package let difference: String
    package let handling: String

    package static let all: [KeptDifference] = [
        KeptDifference(
            row: "A run with a deadline makes no helper timer and no thread.",
            difference: """
                When a finite limit passes inside a nested run, the real one's helper timer wakes the inner loop for \
                nothing; and the wake-up keeps its place in the queue of every other mode.
                """,
            handling: """
                No run is nested in a run whose limit passes while the scenario runs (Interpreter); where limits pass, \
                only timers wake or stop from callouts (ScenarioGenerator).
                """),
        KeptDifference(
            row: "Any file descriptor can be a port source (there: only ones that read like an eventfd).",
            difference: """
                The real one reads the descriptor that woke it (a port source's, the timers', the main queue's) before \
                the afterWaiting observers; ours leaves it for whoever serves it, a nested run included.
                """,
            handling: """
                Where there are port sources, timers or queue items, afterWaiting observers nest no runs, and do not \
                write to port sources or move them (Interpreter).
                """),
        KeptDifference(
            row:
                "setNextFireDate, add of an earlier timer, perform with wake: true: wake a sleeping loop when they must.",
            difference: "When another thread sets a fire date the real one wakes the loop, whether it must or not.",
            handling: "The other thread adds timers, and sets no dates (ScenarioGenerator)."),
        KeptDifference(
            row: "Any file descriptor can be a port source (there: only ones that read like an eventfd).",
            difference: """
                In the real one timers and wake-ups are descriptors too, and epoll says who of all was ready first. Ours \
                asks the kernel only for port sources, and takes one as ready since the look before.
                """,
            handling: "Scenarios have port sources, or timers, a queue and wake-ups from callouts (ScenarioGenerator)."),
        KeptDifference(
            row: "Main-queue and timer deadlines hold with nanosecond clocks.",
            difference: """
                Each mode of the real one has a timer descriptor. While a timer of two modes is called in one, the other \
                one's has gone off, and a run nested in that mode makes an empty turn; so does one whose last timer was \
                taken out.
                """,
            handling: """
                No run is nested in a mode that has a timer which is being called in another (Interpreter); timers leave \
                a mode only where it keeps one more, or by firing (Scenario.hasSentinels).
                """),
        KeptDifference(
            row: "Main-queue and timer deadlines hold with nanosecond clocks.",
            difference: """
                A timer that is given a date in its own callback, or is added to a mode there, is armed by the real one \
                in the mode it fires in alone: in its other modes the date passes. Ours fires it in all.
                """,
            handling:
                "A timer of several modes sets no date in its own callback, and joins no mode there (Interpreter)."),
        KeptDifference(
            row: "Tolerance works on Linux.",
            difference: "The real one ignores a timer's tolerance on Linux.",
            handling: "Scenarios have no tolerances (Scenario)."),
        KeptDifference(
            row: "Main-queue and timer deadlines hold with nanosecond clocks.",
            difference: "The real one keeps a past fire date as it was given; ours takes it as now.",
            handling: "Past dates are compared as due (Dates)."),
    ]
}
