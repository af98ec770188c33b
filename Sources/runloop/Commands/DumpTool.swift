// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsDiagnostics

/// `runloop dump`.
struct DumpTool {
    static let usage = """
        OVERVIEW: Everything that the loops of a process hold, and what is under way in them.

        Answers also while a loop hangs. For each loop: its thread, its mode, the callouts under way, outermost first, with
        the places where they were made, and the loop's debugDescription.

        USAGE: runloop dump <pid>

        """

    private static let patience = Duration.seconds(5)

    private let process: Int32

    /// Reads what follows the command's name.
    init(_ arguments: inout Arguments) throws {
        guard let word = arguments.next() else { throw CommandEnd.misuse("a process is missing", Self.usage) }
        if word == "--help" || word == "-h" { throw CommandEnd.help(Self.usage) }
        process = try ProcessArgument.parse(word, usage: Self.usage)
        if let other = arguments.next() { throw CommandEnd.misuse("unknown argument '\(other)'", Self.usage) }
    }

    func run() throws {
        let client = try ProcessArgument.connect(process)
        let report: ProcessReport
        do {
            report = try client.dump(within: Self.patience)
        } catch {
            throw ProcessArgument.failure(process, error)
        }
        print(Self.lines(report).joined(separator: "\n"))
    }

    private static func lines(_ process: ProcessReport) -> [String] {
        var lines = ["\(LoopWording.visible(process.program)), process \(process.process): "]
        lines[0] += Format.count(process.loops.count, "loop")
        for loop in process.loops {
            lines += ["", "\(LoopWording.thread(loop)): \(headline(loop))"]
            for (depth, callout) in loop.callouts.enumerated() {
                let indent = String(repeating: "  ", count: depth + 1)
                let place = callout.place.map { ", made at \(LoopWording.visible($0))" } ?? ""
                lines.append("\(indent)in \(LoopWording.describe(callout))\(place)")
            }
            if loop.isLocked {
                lines.append("  what it holds is not known: its lock could not be had in time")
            } else if let description = loop.description {
                lines += LoopWording.visibleLines(description)
            }
        }
        return lines
    }

    private static func headline(_ loop: LoopReport) -> String {
        let position = loop.depth > 0 ? ", mode \(LoopWording.mode(loop)), depth \(loop.depth)" : ""
        let state =
            switch loop.activity {
            case .outside: "no run for \(LoopWording.time(loop.since))"
            case .busy: "awake for \(LoopWording.time(loop.since))"
            case .asleep: "asleep for \(LoopWording.time(loop.since))"
            }
        return "\(state)\(position), \(Format.count(Int(clamping: loop.turns), "turn")) so far"
    }
}
