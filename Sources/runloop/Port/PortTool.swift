// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// `runloop port`: ports of other processes, and one of its own.
struct PortTool {
    private enum Command {
        case listen(PortListening)
        case send(PortSending)
        case list
    }

    private let command: Command

    /// Reads what follows the command's name.
    init(_ arguments: inout Arguments) throws {
        switch arguments.next() {
        case "listen": command = .listen(try PortListening(&arguments))
        case "send": command = .send(try PortSending(&arguments))
        case "ls":
            if let word = arguments.next(), word != "--help", word != "-h" { throw PortUsage.unknown(word) }
            command = .list
        case "--help", "-h": throw CommandEnd.help(PortUsage.text)
        case nil: throw CommandEnd.misuse("what to do with ports is missing", PortUsage.text)
        case let word?: throw PortUsage.unknown(word)
        }
    }

    func run() throws {
        switch command {
        case .listen(let listening): try MainActor.assumeIsolated { try listening.run() }
        case .send(let sending): try sending.run()
        case .list: try PortListing.run()
        }
    }
}
