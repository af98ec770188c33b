// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsPorts

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// `runloop port send`.
struct PortSending {
    private var name: String?
    private var words: [String] = []
    private var id: Int32 = 0
    private var count: Int32 = 1
    private var asks = false
    private var limit = Duration.seconds(10)

    init(_ arguments: inout Arguments) throws {
        while let word = arguments.next() {
            switch word {
            case "--id": id = try PortUsage.number(&arguments, of: word)
            case "--count": count = try PortUsage.number(&arguments, of: word)
            case "--reply": asks = true
            case "--within": limit = try arguments.duration(of: word, usage: PortUsage.text)
            case "--help", "-h": throw CommandEnd.help(PortUsage.text)
            case _ where word.hasPrefix("--"): throw PortUsage.unknown(word)
            case _ where name == nil: name = word
            default: words.append(word)
            }
        }
        guard name != nil else { throw CommandEnd.misuse("the port's name is missing", PortUsage.text) }
    }

    func run() throws {
        let sender = try RunLoop.MessagePort.Sender(named: name ?? "")
        guard words.isEmpty else { return try send(words.joined(separator: " "), sender) }
        while let line = readLine() { try send(line, sender) }
    }

    private func send(_ text: String, _ sender: RunLoop.MessagePort.Sender) throws {
        var message = RunLoop.MessagePort.Message(id: id, text: text)
        for _ in 0..<count {
            if asks {
                print(try sender.request(message, within: limit).text)
            } else {
                try sender.send(message, within: limit)
            }
            message.id &+= 1
        }
    }
}

/// `runloop port ls`.
enum PortListing {
    static func run() throws {
        for port in try RunLoop.MessagePort.Directory.user().publishedPorts() {
            print("\(port.name)\t\(port.process.map { "process \($0)" } ?? "left behind")")
        }
    }
}
