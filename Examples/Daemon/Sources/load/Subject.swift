// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsEvents

/// The daemon under test, and everything that a service manager is to it.
final class Subject {
    let folder: String
    let ledger: Ledger
    let process: CInt
    let socketPath: String
    private(set) var exit: ChildSource.Exit?
    private(set) var isReady = false
    private(set) var status = ""
    /// The longest time between two keep-alives, without the times at which nobody listened.
    private(set) var longestSilence = Duration.zero

    let journal: DatagramReceiver
    private var notifications: DatagramReceiver?
    private var lastKeepAlive: RunLoop.Instant?
    private let loop = RunLoop.current
    private let child: Child
    private var input: OutputWriter?
    private var connection: SocketStream?
    private var lines: [UInt8] = []
    private let log: UnsafeMutablePointer<FILE>

    private static let ordinary: Set<String> = [
        "MESSAGE", "PRIORITY", "LOGGER", "SOURCE", "CODE_FILE", "CODE_LINE", "CODE_FUNC",
    ]

    init(_ program: String, folder: String, _ ledger: Ledger) throws {
        self.folder = folder
        self.ledger = ledger
        for name in ["in", "other", "out"] { mkdir("\(folder)/\(name)", 0o755) }
        guard let log = fopen("\(folder)/log", "w") else { throw RunLoop.SystemCallError(call: "fopen", code: errno) }
        self.log = log
        socketPath = "\(folder)/commands.socket"
        let listener = UnixSocket.bound(SOCK_STREAM, to: socketPath)
        defer { close(listener) }
        listen(listener, 64)

        var take: (String, String) -> Void = { _, _ in }
        journal = try DatagramReceiver("\(folder)/journal") { bytes in
            let fields = fields(ofJournalEntry: bytes)
            guard let message = fields.first(where: { $0.name == "MESSAGE" })?.value else { return }
            let rest = fields.filter { !Self.ordinary.contains($0.name) }.map { " \($0.name)=\($0.value)" }
            take("journal", message + rest.joined())
        }
        // Before the daemon, which says only once that it is ready.
        var hear: ([UInt8]) -> Void = { _ in }
        notifications = try DatagramReceiver("\(folder)/notify") { hear($0) }
        child = try Child.spawn(
            // A process learns its own number only when it runs.
            .name("sh"),
            arguments: ["-c", "export LISTEN_PID=$$; exec \"$0\" \"$@\"", program, folder],
            environment: .updating([
                "NOTIFY_SOCKET": "\(folder)/notify", "WATCHDOG_USEC": "10000000", "LISTEN_FDS": "1",
                "LISTEN_FDNAMES": "commands.socket", "JOURNAL_STREAM": "0:0", "TALLY_JOURNAL": "\(folder)/journal",
                "TZ": "UTC", "RUNLOOP_INSPECT": "1",
            ]),
            input: .pipe, output: .pipe, error: .pipe, descriptors: [3: listener], group: .new)
        process = child.process
        take = { [unowned self] in self.take($0, $1) }
        hear = { [unowned self] in notified($0) }
        try connectStreams()
    }

    private func connectStreams() throws {
        let end = ChildSource(child) { [unowned self] _, exit in self.exit = exit }
        try loop.add(end, in: .default)
        guard let input = child.standardInput, let output = child.standardOutput, let errors = child.standardError
        else {
            fatalError("three pipes")
        }
        let writer = OutputWriter(input) { _, _ in }
        let answers = InputReader(output, as: .lines) { [ledger] _, event in
            if case .received(let lines) = event { for line in lines { ledger.answered(line) } }
        }
        let lines = InputReader(errors, as: .lines) { [unowned self] _, event in
            guard case .received(let lines) = event else { return }
            for line in lines {
                ledger.count("log lines by standard error")
                // The priority, in angle brackets.
                take("stderr", line.hasPrefix("<") ? String(line.drop { $0 != ">" }.dropFirst()) : line)
            }
        }
        for source in [writer, answers, lines] { try loop.add(source, in: .default) }
        self.input = writer
    }

    // MARK: What the daemon says

    private func take(_ way: String, _ message: String) {
        let now = RunLoop.Instant.now(.realtime).nanoseconds / 1_000_000
        fputs("\(now) \(way) \(message)\n", log)
        ledger.logged(message)
    }

    private func notified(_ bytes: [UInt8]) {
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            switch line {
            case "READY=1": isReady = true
            case "RELOADING=1": ledger.count("reloads announced")
            case "STOPPING=1": ledger.count("ends announced")
            case "WATCHDOG=1":
                let now = RunLoop.Instant.now
                if let lastKeepAlive { longestSilence = max(longestSilence, now - lastKeepAlive) }
                lastKeepAlive = now
                ledger.count("keep-alives")
            default:
                if line.hasPrefix("STATUS=") { status = String(line.dropFirst(7)) }
            }
        }
    }

    /// The service manager is away, and comes back.
    func loseServiceManager(for time: Duration) {
        notifications?.close()
        loop.performLocally(after: time) { [unowned self] in
            try? notifications?.open()
            lastKeepAlive = nil
        }
    }

    // MARK: Commands

    func askByInput(_ command: String) {
        ledger.ask(command: command)
        input?.write("\(command)\n".utf8)
    }

    func askBySocket(_ command: String) {
        if connection == nil { connect() }
        ledger.ask(command: command)
        connection?.write("\(command)\n".utf8)
    }

    /// Asks by a connection that is closed after the answer; returns whether there was one.
    func askOnce(_ command: String) -> Bool {
        guard let file = UnixSocket.connected(to: socketPath), let socket = try? RunLoop.Socket(adopting: file) else {
            return false
        }
        var text = ""
        let stream = SocketStream(socket) { [ledger] stream, event in
            guard case .received(let bytes) = event else { return }
            text += String(decoding: bytes, as: UTF8.self)
            guard text.hasSuffix("\n") else { return }
            ledger.answered(String(text.dropLast()))
            ledger.count("visitors")
            stream.invalidate()
        }
        guard (try? loop.add(stream, in: .default)) == true else { return false }
        ledger.ask(command: command)
        stream.write("\(command)\n".utf8)
        return true
    }

    private func connect() {
        guard let file = UnixSocket.connected(to: socketPath), let socket = try? RunLoop.Socket(adopting: file) else {
            return
        }
        let stream = SocketStream(socket) { [unowned self] _, event in
            switch event {
            case .received(let bytes):
                lines += bytes
                while let end = lines.firstIndex(of: UInt8(ascii: "\n")) {
                    ledger.answered(String(decoding: lines[..<end], as: UTF8.self))
                    lines.removeSubrange(...end)
                }
            case .ended, .closed, .failed: connection = nil
            case .drained: break
            }
        }
        _ = try? loop.add(stream, in: .default)
        connection = stream
    }

    /// Ends the commands, so that the daemon has the descriptors that it began with.
    func disconnect() { connection?.finish() }

    func closeLog() { fclose(log) }
}
