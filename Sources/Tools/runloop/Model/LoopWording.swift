// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsDiagnostics

/// Describes a loop of another process in words.
enum LoopWording {
    /// Returns `main` for the main loop, otherwise the thread's name and number.
    static func thread(_ loop: LoopReport) -> String {
        if loop.isMain { return "main" }
        return loop.name.isEmpty ? "\(loop.thread)" : "\(visible(loop.name)) \(loop.thread)"
    }

    static func mode(_ loop: LoopReport) -> String {
        guard let mode = loop.mode else { return loop.isLocked ? "?" : "-" }
        // Apple's raw strings are long; the predefined modes have short names, others their own.
        switch RunLoop.Mode(mode) {
        case .default: return "default"
        case .tracking: return "tracking"
        case .common: return "common"
        default: return visible(mode)
        }
    }

    /// Returns the loop's present activity or innermost callout, and for how long.
    static func state(_ loop: LoopReport) -> String {
        guard loop.activity != .outside, let callout = loop.callouts.last else { return activity(loop) }
        // A nested run's sleep: what is around it goes on.
        return (loop.activity == .asleep ? activity(loop) + ", " : "") + "in \(describe(callout))"
    }

    static func activity(_ loop: LoopReport) -> String {
        let word =
            switch loop.activity {
            case .outside: "no run"
            case .busy: "awake"
            case .asleep: "asleep"
            }
        return "\(word) for \(time(loop.since))"
    }

    /// Returns a callout as `timer clock for 3.2 s`.
    static func describe(_ callout: LoopReport.Callout) -> String {
        "\(callout.kind) \(visible(callout.label)) for \(time(callout.since))"
    }

    /// Returns the kind and label as `timer clock`, or the kind alone if the label is the same, as for the main queue.
    static func name(_ callouts: RunLoop.Statistics.Callouts) -> String {
        let kind = callouts.callee.description
        return callouts.label == kind ? kind : "\(kind) \(visible(callouts.label))"
    }

    static func time(_ nanoseconds: Int64) -> String { Format.short(.nanoseconds(max(0, nanoseconds))) }

    /// Returns a text from another process without characters that could move the cursor: only narrow Latin characters
    /// are kept, others are written by number.
    static func visible(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar.value {
            case 0x20...0x7E, 0xA1...0xAC, 0xAE...0x2FF: String(scalar)
            case 0x09: "\\t"
            default: "\\u{" + String(scalar.value, radix: 16) + "}"
            }
        }.joined()
    }
}

extension RunLoop.Trace.Report {
    /// Says which part of a recording the trace has, when older events were overwritten.
    ///
    /// - Parameter time: How long was recorded; `nil` if that is not known.
    func reach(of time: Duration?) -> String {
        let kept = Format.short(.nanoseconds(Int64(clamping: Int128((length * 1000).rounded()))))
        let whole = time.map { " of \(Format.short($0))" } ?? ""
        return "The trace has the last \(kept)\(whole): \(lost) older events were overwritten."
    }
}
