import RunLoopsDiagnostics

/// `runloop trace`.
struct TraceTool {
    static let usage = """
        OVERVIEW: Runs a program, records what its run loops do, and says in short what that was.

        The program has to link RunLoopsDiagnostics; nothing else need be done to it. Its trace is written when it ends by
        returning from main or by exit, in two files: JSON for Perfetto or chrome://tracing, and a page for any browser.

        USAGE: runloop trace [--output <file>] -- <program> [<argument> ...]

        OPTIONS:
          --output <file>   The JSON's name; the page's is the same with .html. (default: trace.json)
          -h, --help        Show this.

        """

    private var output = "trace.json"
    private var command: [String] = []

    /// Reads what follows the command's name.
    init(_ arguments: inout Arguments) throws {
        while let word = arguments.next() {
            switch word {
            case "--output":
                guard let file = arguments.next() else { throw CommandEnd.misuse("--output needs a file", Self.usage) }
                output = file
            case "--help", "-h": throw CommandEnd.help(Self.usage)
            case "--": command = arguments.rest()
            default: throw CommandEnd.misuse("unknown argument '\(word)': the program comes after --", Self.usage)
            }
        }
        if command.isEmpty { throw CommandEnd.misuse("a program is missing, after --", Self.usage) }
        if output.hasSuffix(".html") { throw CommandEnd.misuse("--output names the JSON, not the page", Self.usage) }
    }

    func run() throws {
        let (json, report, status) = try RecordedProgram.run(command, into: output)
        let page = (output.hasSuffix(".json") ? String(output.dropLast(5)) : output) + ".html"
        try TextFile.write(TracePage.text(program: report.program, json: json), to: page)
        print(report.summary(width: Terminal.size().columns).joined(separator: "\n"))
        let count = report.findings().count
        if count > 0 {
            print("\nrunloop doctor \(output) has \(count) thing\(count == 1 ? "" : "s") to say about it.")
        }
        print("\nPage: \(page)   Perfetto: \(output)")
        if status != 0 { throw CommandEnd.status(status) }
    }
}
