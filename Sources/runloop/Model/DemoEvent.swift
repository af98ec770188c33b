// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops

/// The two clock timers of the demo: the same interval, on the same grid, in different modes.
enum ClockTimer: Sendable {
    /// Added to the default mode alone: stands still while the loop runs in another mode.
    case defaultOnly
    /// Added to common: goes on in every mode that is marked common.
    case common

    var name: String {
        switch self {
        case .defaultOnly: "default"
        case .common: "common"
        }
    }
}

/// How often each of the two has fired.
struct TimerFires: Equatable, Sendable {
    var defaultOnly = 0
    var common = 0
}

/// Who asked for a callout.
enum Sender: Equatable, Sendable {
    case backgroundThread
    case key(Unicode.Scalar)
    case timer
    /// A block that posted another.
    case block

    /// As in a sentence.
    var name: String {
        switch self {
        case .backgroundThread: "the background thread"
        case .key(let scalar): "key \(scalar)"
        case .timer: "a timer"
        case .block: "a block"
        }
    }

    /// As in a column.
    var shortName: String {
        switch self {
        case .backgroundThread: "background"
        case .key, .timer, .block: name
        }
    }
}

/// A call of the loop into the demo's code, other than an observer's.
enum Callout: Equatable, Sendable {
    case timer(ClockTimer)
    /// A timer that fires once and then does what the text says.
    case onceTimer(String)
    case block(by: Sender)
    /// A signalled source: who signalled it since its last perform. Signals collapse, so it may be several.
    case source(by: [Sender])
    case mainQueue(by: Sender)
    case mainActor(by: Sender)
    case inputLine(String)
    case inputEnd
    /// Input that no line shows, as a chunk of a file that has not come to a line's end.
    case inputChunk(Int)
    case key(String)
    case systemSignal(String)
}

/// What happened, in the words of the loop's own interface.
enum DemoEvent: Sendable {
    /// An observer saw entry; the run is in this mode.
    case entered(RunLoop.Mode)
    case beforeTimers
    case beforeSources
    /// The loop is about to sleep; the next timer of the mode is due in so long, where there is one.
    case beforeWaiting(nextTimer: Duration?)
    case afterWaiting
    case exited
    /// The call of `run` returned.
    case returned(RunLoop.RunResult)
    case callout(Callout)
    /// What the demo itself says, at no step.
    case note(String)
}

/// One line for the reader: when, in which mode and how deep, at which step, and what.
struct DemoLine: Equatable, Sendable {
    var time: Duration
    var mode: String
    var depth: Int
    /// None for what is said outside the turn.
    var step: Step?
    var text: String
    /// True for what comes with every turn and would drown the rest in a short log.
    var isRoutine: Bool
}
