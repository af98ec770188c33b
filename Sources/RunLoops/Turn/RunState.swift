// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The request for one run, and what the run has to remember from one turn to the next.
struct RunState {
    /// How long a run may take.
    enum Limit {
        case never
        /// An instant of the monotonic clock.
        case until(Int64)
        /// One turn, without sleeping.
        case now
        /// As many turns as there is something to do.
        case idle
        /// As many turns as there is something to do that would end a sleep: the host sleeps instead.
        case inHost
    }

    let limit: Limit
    let returnsAfterSource: Bool
    /// Whether this run does the main queue's work.
    var servesMainQueue = false
    /// Whether the last turn did work of the main queue: then other work is looked at first.
    var didMainQueue = true

    var onlyPolls: Bool { if case .now = limit { true } else { false } }

    /// Whether the run ends where another one would sleep.
    var endsWhenIdle: Bool {
        switch limit {
        case .idle, .inHost: true
        case .never, .until, .now: false
        }
    }

    /// The latest instant that the run may sleep until.
    var deadline: Int64 { if case .until(let deadline) = limit { deadline } else { .max } }
}

/// What a turn has found to do at step 9.
enum Cause {
    /// Nothing, or what has nothing to do but its turn: a wake-up, the run's limit, a block, a stop.
    case nothing
    case timers
    case mainQueue
    case descriptor
}
