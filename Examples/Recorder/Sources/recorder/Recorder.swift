// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsEvents

/// Runs a program in a terminal of its own, shows what it shows, and writes that to a file with the times.
final class Recorder {
    private let child: Child
    private let terminal: Child.Terminal
    private let own: OwnTerminal?
    private let path: String
    private let recording: RunLoop.File
    private lazy var screen = OutputWriter(.standardOutput) { [unowned self] _, event in ended(event, "standard output")
    }
    private lazy var file = OutputWriter(recording) { [unowned self] _, event in ended(event, path) }
    private let start = RunLoop.Instant.now
    private var text = TextOfBytes()
    private var sources: [EventSource] = []
    private var failure: BadFile?
    /// The end of the child, and of what its terminal shows, on the screen and in the file.
    private var endsToCome = 3

    init(
        _ program: String, _ arguments: [String], size: Child.Terminal.Size, terminal own: OwnTerminal?, path: String
    ) throws {
        let number = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        if number < 0 { throw BadFile(path: path, reason: String(cString: strerror(errno))) }
        self.path = path
        recording = try RunLoop.File(adopting: number)
        child = try Child.spawn(.name(program), arguments: arguments, terminal: size)
        guard let terminal = child.terminal else { fatalError("a child that was spawned with a terminal has one") }
        (self.terminal, self.own) = (terminal, own)
        try addSources()
        file.write((Recording.header(size) + "\n").utf8)
    }

    private func addSources() throws {
        guard let output = child.standardOutput, let input = child.standardInput else { return }
        sources = [
            screen, file,
            InputReader(output, as: .bytes) { [unowned self] _, event in
                if case .received(let bytes) = event { show(bytes) } else { outputEnds() }
            },
            ChildSource(child) { [unowned self] _, _ in partEnds() },
        ]
        for signal in [SIGTERM, SIGHUP] {
            sources.append(
                try SignalSource(signal) { [unowned self] _, _ in child.terminate(killAfter: .seconds(5), on: .current)
                })
        }
        if let own {
            let keys = OutputWriter(input) { _, _ in }
            sources += [
                keys,
                InputReader(.standardInput, as: .bytes) { _, event in
                    if case .received(let bytes) = event { keys.write(bytes) }
                },
                try SignalSource(SIGWINCH) { [unowned self] _, _ in
                    guard let size = own.size else { return }
                    try? terminal.resize(to: size)
                    write(.resize(size))
                },
            ]
        }
        for source in sources { try RunLoop.current.add(source, in: .default) }
    }

    /// - Returns: The status of the program.
    func run() throws -> CInt {
        own?.makeRaw()
        defer { own?.restore() }
        RunLoop.current.run()
        if let failure { throw failure }
        switch child.exit?.status {
        case .exited(let status): return status
        case .signalled(let signal, _): return 128 + signal
        default: return 1
        }
    }

    private func show(_ bytes: [UInt8]) {
        screen.write(bytes)
        write(.output(text.take(bytes)))
    }

    private func write(_ event: Recording.Event) {
        if event == .output("") { return }
        file.write((Recording.line(event, after: start.duration(to: .now)) + "\n").utf8)
    }

    private func outputEnds() {
        write(.output(text.end()))
        screen.finish()
        file.finish()
    }

    private func ended(_ event: OutputWriter.Event, _ path: String) {
        if event == .drained { return }
        if case .failed(let error) = event { failure = BadFile(path: path, reason: "\(error)") }
        partEnds()
    }

    private func partEnds() {
        endsToCome -= 1
        if endsToCome == 0 { RunLoop.current.stop() }
    }
}
