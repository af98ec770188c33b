// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops

/// What happened, in the words the reader sees.
enum Wording {
    /// Apple's raw strings are long; the predefined modes have short names, others their own.
    static func mode(_ mode: RunLoop.Mode) -> String {
        switch mode {
        case .default: "default"
        case .tracking: "tracking"
        case .common: "common"
        default: mode.rawValue
        }
    }

    /// A callout in few words, for a column.
    static func cause(of callout: Callout) -> String {
        switch callout {
        case .timer(let timer): "timer \(timer.name)"
        case .onceTimer: "timer, once"
        case .block(let sender): sender.shortName
        case .source(let senders): senders.map(\.shortName).joined(separator: ", ")
        case .mainQueue: "main queue"
        case .mainActor: "main actor"
        case .inputLine, .inputEnd, .inputChunk: "descriptor, input"
        case .key: "descriptor, key"
        case .systemSignal: "descriptor, signal"
        }
    }

    /// A callout as a line of its own.
    static func sentence(_ callout: Callout, fires: TimerFires) -> String {
        switch callout {
        case .timer(.defaultOnly): "timer of the default mode alone: fire \(fires.defaultOnly)"
        case .timer(.common): "timer of the common modes: fire \(fires.common)"
        case .onceTimer(let what): "timer that fires once: \(what)"
        case .block(let sender): "block performed, posted by \(sender.name)"
        case .source(let senders):
            "source signalled by \(senders.map(\.name).joined(separator: ", "))"
                + (senders.count > 1 ? " (\(senders.count) signals, one perform)" : "")
        case .mainQueue(let sender): "main dispatch queue: block from \(sender.name)"
        case .mainActor(let sender): "main actor: task from \(sender.name)"
        case .inputLine(let text): "input line \(Format.quoted(text)) (descriptor source, readable)"
        case .inputEnd: "end of input (descriptor source)"
        case .inputChunk(let bytes): "input, \(Format.count(bytes, "byte")), no line yet (descriptor source, readable)"
        case .key(let name): "key \(name) (descriptor source, readable)"
        case .systemSignal(let name): "\(name) (descriptor source on a pipe)"
        }
    }
}
