// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
import RunLoopsDiagnostics

/// `runloop trace`.
struct TraceTool {
    static let usage = """
        OVERVIEW: Records what the run loops of a program or process do, and says in short what that was.

        A program has to link RunLoopsDiagnostics; nothing else need be done to it. Its trace is written when it ends by
        returning from main or by exit. A process that can be looked into (see runloop ps) is recorded for a while, and
        goes on. Two files: JSON for Perfetto or chrome://tracing, and a page for any browser.

        USAGE: runloop trace [--output <file>] -- <program> [<argument> ...]
               runloop trace [--output <file>] [--for <duration>] <pid>

        OPTIONS:
          -o, --output <file>   The JSON's name; the page's is the same with .html. (default: trace.json)
          --for <duration>      Of a process: how long; Control-C ends it sooner. (default: 5s)
          -h, --help            Show this.

        """

    private var output = "trace.json"
    private var length: Duration?
    private var process: Int32?
    private var command: [String] = []

    /// Reads what follows the command's name.
    init(_ arguments: inout Arguments) throws {
        while let word = arguments.next() {
            switch word {
            case "--output", "-o":
                guard let file = arguments.next() else { throw CommandEnd.misuse("\(word) needs a file", Self.usage) }
                output = file
            case "--for": length = try arguments.duration(of: word, usage: Self.usage)
            case "--help", "-h": throw CommandEnd.help(Self.usage)
            case "--": command = arguments.rest()
            case _ where Int32(word) != nil && process == nil:
                process = try ProcessArgument.parse(word, usage: Self.usage)
            default: throw CommandEnd.misuse("unknown argument '\(word)': a program comes after --", Self.usage)
            }
        }
        if process == nil, command.isEmpty {
            throw CommandEnd.misuse("a process is missing, or a program after --", Self.usage)
        }
        if process != nil, !command.isEmpty { throw CommandEnd.misuse("either a process or a program", Self.usage) }
        if process == nil, length != nil { throw CommandEnd.misuse("--for goes with a process", Self.usage) }
        if output.hasSuffix(".html") { throw CommandEnd.misuse("--output names the JSON, not the page", Self.usage) }
    }

    func run() throws {
        if let process {
            let json = try LiveRecording.take(process, for: length ?? .seconds(5)).chromeJSON()
            try TextFile.write(json, to: output)
            do {
                return try present(json, RunLoop.Trace.Report(json: json))
            } catch let error as RunLoop.Trace.Report.ReadingError {
                throw CommandEnd.failure("\(output): \(error)")
            }
        }
        let (json, report, status) = try RecordedProgram.run(command, into: output)
        try present(json, report)
        if status != 0 { throw CommandEnd.status(status) }
    }

    /// Writes the page, and prints the summary.
    private func present(_ json: String, _ report: RunLoop.Trace.Report) throws {
        let page = (output.hasSuffix(".json") ? String(output.dropLast(5)) : output) + ".html"
        try TextFile.write(TracePage.text(program: report.program, json: json), to: page)
        print(report.summary(width: Terminal.size().columns).joined(separator: "\n"))
        let count = report.findings().count
        if count > 0 {
            print("\nrunloop doctor \(output) has \(count) thing\(count == 1 ? "" : "s") to say about it.")
        }
        print("\nPage: \(page)   Perfetto: \(output)")
    }
}
