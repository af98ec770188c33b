// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
import RunLoopsDiagnostics

/// `runloop doctor`.
struct DoctorTool {
    static let usage = """
        OVERVIEW: Says in words what is wrong with a program, which it runs, or with a trace.

        Looks for timers without tolerance that wake an idle loop, sources that were signalled without a wake-up, items in
        modes that nobody runs, common items that came to a mode too late, timers that are never on time, callouts that
        take longer than a frame, and runs nested deeper than three.

        USAGE: runloop doctor [--for <duration>] -- <program> [<argument> ...]
               runloop doctor <trace>

        The program has to link RunLoopsDiagnostics; what it prints is its own. The trace is the JSON that runloop trace
        has written. The exit status is 1 if something was found, also when the program has failed.

        OPTIONS:
          --for <duration>   Asks the program to end by SIGTERM after that time: 10s, 500ms. (default: until it ends)
          -h, --help         Show this.

        """

    private var file: String?
    private var length: Duration?
    private var command: [String] = []

    /// Reads what follows the command's name.
    init(_ arguments: inout Arguments) throws {
        while let word = arguments.next() {
            switch word {
            case "--for": length = try arguments.duration(of: word, usage: Self.usage)
            case "--help", "-h": throw CommandEnd.help(Self.usage)
            case "--": command = arguments.rest()
            case _ where file == nil && !word.hasPrefix("-"): file = word
            default: throw CommandEnd.misuse("unknown argument '\(word)': the program comes after --", Self.usage)
            }
        }
        if file == nil, command.isEmpty {
            throw CommandEnd.misuse("a program, after --, or a trace is missing", Self.usage)
        }
        if file != nil, !command.isEmpty { throw CommandEnd.misuse("give a program or a trace, not both", Self.usage) }
        if length != nil, command.isEmpty { throw CommandEnd.misuse("--for is about a program", Self.usage) }
    }

    func run() throws {
        let (report, status) = try examined()
        if let note = report.noteOfLoss { print(note) }
        let findings = report.findings()
        for finding in findings { print("• \(finding.text)") }
        if !findings.isEmpty { throw CommandEnd.status(1) }
        print("Nothing found.")
        // A program that was asked to end was to end by that.
        if status != 0, length == nil { throw CommandEnd.status(status) }
    }

    private func examined() throws -> (report: RunLoop.Trace.Report, status: CInt) {
        guard let file else { return try RecordedProgram.run(command, for: length) }
        do {
            return (try RunLoop.Trace.Report(json: TextFile.read(file)), 0)
        } catch let error as RunLoop.Trace.Report.ReadingError {
            throw CommandEnd.failure("\(file): \(error)")
        }
    }
}

extension RunLoop.Trace.Report {
    /// What was not seen.
    fileprivate var noteOfLoss: String? {
        lost == 0 ? nil : "\(lost) events were overwritten by later ones; what is said is about the rest."
    }
}
