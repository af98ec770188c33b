import RunLoopsDiagnostics

/// `runloop doctor`.
struct DoctorTool {
    static let usage = """
        OVERVIEW: Says in words what is wrong with a recorded program.

        Looks for timers without tolerance that wake an idle loop, sources that were signalled without a wake-up, timers
        that are never on time, callouts that take longer than a frame, and runs nested deeper than three.

        USAGE: runloop doctor <trace>

        The trace is the JSON that runloop trace has written. The exit status is 1 if something was found.

        """

    private let file: String

    /// Reads what follows the command's name.
    init(_ arguments: inout Arguments) throws {
        guard let word = arguments.next() else { throw CommandEnd.misuse("a trace is missing", Self.usage) }
        if word == "--help" || word == "-h" { throw CommandEnd.help(Self.usage) }
        if let other = arguments.next() { throw CommandEnd.misuse("unknown argument '\(other)'", Self.usage) }
        file = word
    }

    func run() throws {
        let findings: [TraceReport.Finding]
        do {
            findings = try TraceReport(json: TextFile.read(file)).findings()
        } catch let error as TraceReport.ReadingError {
            throw CommandEnd.failure("\(file): \(error)")
        }
        if findings.isEmpty { return print("Nothing found.") }
        for finding in findings { print("• \(finding.text)") }
        throw CommandEnd.status(1)
    }
}
