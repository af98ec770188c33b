// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// `runloop demo`.
struct DemoTool {
    static let usage = """
        OVERVIEW: One loop on the main thread, with real input.

        On a terminal: a live screen, with keys. Otherwise: one line for each step of each turn, with its number:
        1 entry, 2 before timers, 3 before sources, 4 blocks, 5 signalled sources, 6 main queue had work, 7 before
        waiting, 8 after waiting, 9 what woke it, 10 blocks and result, 11 exit.

        Without --for, the end of input ends it; so does the key q, or a line with nothing but q.

        USAGE: runloop demo [--for <duration>] [--every <duration>] [--plain]

        OPTIONS:
          --for <duration>      How long: 3s, 500ms, 1.5s, 2m.
          --every <duration>    The interval of the two clock timers. (default: 500ms on a terminal, otherwise 250ms)
          --plain               One line for each step, on a terminal too.
          -h, --help            Show this.

        """

    private var length: Duration?
    private var every: Duration?
    private var plain = false

    /// Reads what follows the command's name.
    init(_ arguments: inout Arguments) throws {
        while let word = arguments.next() {
            switch word {
            case "--for": length = try arguments.duration(of: word, usage: Self.usage)
            case "--every": every = try arguments.duration(of: word, usage: Self.usage)
            case "--plain": plain = true
            case "--help", "-h": throw CommandEnd.help(Self.usage)
            default: throw CommandEnd.misuse("unknown argument '\(word)'", Self.usage)
            }
        }
        if let every, every < .milliseconds(1) { throw CommandEnd.misuse("--every must be at least 1ms", Self.usage) }
    }

    func run() throws {
        // The main thread is the main actor's, and from here to the end it is the loop that runs on it.
        try MainActor.assumeIsolated { try runOnMainActor() }
    }

    @MainActor
    private func runOnMainActor() throws {
        let environment = TerminalEnvironment()
        let isLive = !plain && Terminal.isUsable(term: environment["TERM"])
        let options = DemoOptions(
            length: length,
            interval: every ?? (isLive ? .milliseconds(500) : .milliseconds(250)),
            errandInterval: isLive ? .milliseconds(1500) : .milliseconds(300),
            isInteractive: isLive)
        let output: any DemoOutput =
            isLive
            ? LiveOutput(
                theme: environment.theme, keys: DemoCommand.allCases.map { (String($0.rawValue), $0.title) },
                interval: options.interval)
            : PlainOutput()

        let demo = Demo(options: options, output: output)
        let model = try demo.run()
        print(Summary.lines(model).joined(separator: "\n"))
        // As a shell would put it of a program that the signal had ended.
        if let signal = demo.endingSignal { throw CommandEnd.status(128 + signal) }
    }
}
