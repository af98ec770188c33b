// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The parameters of one run, and its state between turns.
struct RunState {
    /// The limit of a run.
    enum Limit {
        case never
        /// An instant of the monotonic clock.
        case until(Int64)
        /// The run makes one turn, without sleeping.
        case now
        /// The run ends as soon as no work is left.
        case idle
        /// The run ends as soon as no work is left that would end a sleep; the host sleeps in place of the run.
        case inHost
    }

    let limit: Limit
    let returnsAfterSource: Bool
    /// Whether this run does the main queue's work.
    var servesMainQueue = false
    /// Whether the last turn did work of the main queue: then other work is served first.
    var didMainQueue = true
    /// The mode's ``LoopMode/timesEmptied`` when the turn began.
    var timesEmptied: Int

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

/// The reason why a turn goes on to step 9; the first three have something to serve there.
enum Cause {
    case timers
    case mainQueue
    case descriptor
    /// A wake-up, which makes a turn and has nothing of its own to serve.
    case wakeUp
    /// A closure, or in a run until idle a signal, that must be served before a sleep.
    case unserved
    /// The run was asked to stop.
    case stop
    /// The run's limit was reached.
    case limit
    /// The turn does not sleep, and has found nothing.
    case nothing
}
