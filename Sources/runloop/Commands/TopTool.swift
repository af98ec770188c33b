// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsDiagnostics

/// `runloop top`.
struct TopTool {
    static let usage = """
        OVERVIEW: What the loops of a process do, as it changes.

        Turns and wake-ups a second and what caused them, how busy each loop is, how late its timers are, how long others
        waited, the callouts that take the most time, and the next timers. Rates are of the last interval, all other
        figures of the last ten. On a terminal: a live screen. Otherwise: a line for each loop and interval.

        Counting begins with this command in the process and ends with it.

        USAGE: runloop top [--every <duration>] [--for <duration>] [--plain] <pid>

        OPTIONS:
          --every <duration>    How often it is asked. (default: 1s)
          --for <duration>      How long; otherwise until the process ends, or q is pressed.
          --plain               Lines, on a terminal too.
          -h, --help            Show this.

        """

    private var options = Top.Options()
    private var isPlain = false
    private let process: Int32

    /// Reads what follows the command's name.
    init(_ arguments: inout Arguments) throws {
        var process: Int32?
        while let word = arguments.next() {
            switch word {
            case "--every": options.interval = try arguments.duration(of: word, usage: Self.usage)
            case "--for": options.length = try arguments.duration(of: word, usage: Self.usage)
            case "--plain": isPlain = true
            case "--help", "-h": throw CommandEnd.help(Self.usage)
            case _ where word.hasPrefix("-") || process != nil:
                throw CommandEnd.misuse("unknown argument '\(word)'", Self.usage)
            default: process = try ProcessArgument.parse(word, usage: Self.usage)
            }
        }
        guard let process else { throw CommandEnd.misuse("a process is missing", Self.usage) }
        if options.interval < .milliseconds(50) { throw CommandEnd.misuse("--every must be at least 50ms", Self.usage) }
        self.process = process
    }

    func run() throws {
        try MainActor.assumeIsolated {
            let client = try ProcessArgument.connect(process)
            let environment = TerminalEnvironment()
            let isLive = !isPlain && Terminal.isUsable(term: environment["TERM"])
            try Top(client, options, theme: isLive ? environment.theme : nil).run()
        }
    }
}
