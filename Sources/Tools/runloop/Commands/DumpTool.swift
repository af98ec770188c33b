// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RunLoopsDiagnostics

/// The command `runloop dump`, which lists all items of the loops of a process, and the callouts under way.
struct DumpTool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump", abstract: "Prints all items of the loops of a process, and the callouts that are running.",
        discussion: """
            Works while a loop hangs, too. For each loop it prints the thread, the mode, the running callouts, outermost \
            first, with the source locations where their items were made, and the loop's detailedDescription().
            """)

    private static let patience = Duration.seconds(5)

    @Flag(help: "Print one JSON document; its times are nanoseconds before the reply.")
    var json = false

    @Argument(help: .process)
    var process: ProcessArgument

    func run() throws {
        let report = try process.ask { try $0.dump(within: Self.patience) }
        if json { Output.document(report.document) } else { Output.lines(Self.lines(report)) }
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
                lines += description.split(separator: "\n", omittingEmptySubsequences: false)
                    .map { LoopWording.visible(String($0)) }
            }
        }
        return lines
    }

    private static func headline(_ loop: LoopReport) -> String {
        let position = loop.depth > 0 ? ", mode \(LoopWording.mode(loop)), depth \(loop.depth)" : ""
        return "\(LoopWording.activity(loop))\(position), \(Format.count(Int(clamping: loop.turns), "turn")) so far"
    }
}
