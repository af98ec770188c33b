// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RunLoops
import RunLoopsLibC
import RunLoopsPorts

/// The command `runloop port`, which sends messages to ports of other processes, and receives messages.
struct PortTool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "port", abstract: "Sends messages between processes of one user, by the names of ports.",
        subcommands: [PortListening.self, PortSending.self, PortListing.self])
}

/// The command `runloop port ls`, which lists the published names with their processes.
struct PortListing: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ls", abstract: "Lists the published names and the processes that published them.")

    static func entries() throws -> [RunLoop.MessagePort.Directory.Entry] {
        try RunLoop.MessagePort.Directory.user().publishedPorts()
    }

    func run() throws {
        for port in try Self.entries() {
            Output.line("\(port.name)\t\(port.process.map { "process \($0)" } ?? "left behind")")
        }
    }
}

/// The command `runloop port listen`, which publishes a port and prints each message.
struct PortListening: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen", abstract: "Publishes a port and prints each message until it is interrupted.")

    @Argument(help: "The port's name.")
    var name: String

    @Flag(help: "Reply with the same bytes.")
    var echo = false

    @Option(help: .number("Exit after this number of messages."))
    var count: Int?

    @Option(name: .customLong("for"), help: .duration("How long to listen: 3s, 500ms, 1.5s, 2m."))
    var length: Duration?

    @Flag(help: "Print only the number of messages, at the end.")
    var quiet = false

    func run() throws { try MainActor.assumeIsolated { try listen() } }

    @MainActor
    private func listen() throws {
        var received = 0
        let port = RunLoop.MessagePort.mainActor(label: "listen") { message in
            received += 1
            if !quiet { Self.show(Self.line(message)) }
            if received >= count ?? .max { RunLoop.main.stop() }
            return echo ? RunLoop.MessagePort.Message(id: message.id, bytes: message.bytes) : nil
        }
        try RunLoop.stoppedBySignals {
            try RunLoop.main.add(port, in: .default)
            try port.publish(as: name)
            if !quiet { Self.show("listening as \(name)") }
            RunLoop.main.run(in: .default, until: length.map { RunLoop.Instant.now.advanced(by: $0) })
            port.invalidate()
        }
        if quiet { Output.line("\(received) messages") }
    }

    /// Writes a line at once, even if standard output is a pipe.
    private static func show(_ line: String) {
        Output.line(line)
        Output.flush()
    }

    private static func line(_ message: RunLoop.MessagePort.Message) -> String {
        var line = "id \(message.id): \(message.text)"
        if !message.descriptors.isEmpty { line += " (\(message.descriptors.count) descriptors)" }
        return line
    }
}

/// The command `runloop port send`, which sends messages to a port.
struct PortSending: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Sends the given words as one message; without words, each line of standard input is a message.")

    @Argument(
        help: "The port's name.",
        completion: .custom { _, _, _ in (try? PortListing.entries().map(\.name)) ?? [] })
    var name: String

    @Argument(help: "The message.")
    var text: [String] = []

    @Option(help: .number("The message's id."))
    var id: Int32 = 0

    @Option(help: .number("Send this number of messages, each with the next id."))
    var count: Int32 = 1

    @Flag(help: "Wait for the reply to each message, and print it.")
    var reply = false

    @Option(help: .duration("How long to wait for each reply."))
    var within = Duration.seconds(10)

    func validate() throws {
        if count < 0 { throw ValidationError("--count cannot be negative") }
    }

    func run() throws {
        let sender = try RunLoop.MessagePort.Sender(named: name)
        guard text.isEmpty else { return try send(text.joined(separator: " "), sender) }
        while let line = readLine() { try send(line, sender) }
    }

    private func send(_ text: String, _ sender: RunLoop.MessagePort.Sender) throws {
        var message = RunLoop.MessagePort.Message(id: id, text: text)
        for _ in 0..<count {
            if reply {
                Output.text(try sender.request(message, within: within).text)
            } else {
                try sender.send(message, within: within)
            }
            message.id &+= 1
        }
    }
}
