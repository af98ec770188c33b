// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsPorts

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// `runloop port listen`.
struct PortListening {
    private var name: String?
    private var echoes = false
    private var isQuiet = false
    private var count = Int.max
    private var length: Duration?

    init(_ arguments: inout Arguments) throws {
        while let word = arguments.next() {
            switch word {
            case "--echo": echoes = true
            case "--quiet": isQuiet = true
            case "--count": count = try PortUsage.number(&arguments, of: word)
            case "--for": length = try arguments.duration(of: word, usage: PortUsage.text)
            case "--help", "-h": throw CommandEnd.help(PortUsage.text)
            case _ where name == nil && !word.hasPrefix("-"): name = word
            default: throw PortUsage.unknown(word)
            }
        }
        guard name != nil else { throw CommandEnd.misuse("the port's name is missing", PortUsage.text) }
    }

    @MainActor
    func run() throws {
        var received = 0
        let port = RunLoop.MessagePort.mainActor(label: "listen") { message in
            received += 1
            if !isQuiet { Self.show(Self.line(message)) }
            if received >= count { RunLoop.main.stop() }
            return echoes ? RunLoop.MessagePort.Message(id: message.id, bytes: message.bytes) : nil
        }
        let signals = try SystemSignals([SIGINT, SIGTERM, SIGHUP]) { _ in RunLoop.main.stop() }
        try RunLoop.main.add(signals.source, in: .default)
        try RunLoop.main.add(port, in: .default)
        try port.publish(as: name ?? "")
        if !isQuiet { Self.show("listening as \(name ?? "")") }
        RunLoop.main.run(mode: .default, until: length.map { RunLoop.Instant.now.advanced(by: $0) })
        port.invalidate()
        if isQuiet { print("\(received) messages") }
    }

    /// Each line at once, also into a pipe.
    private static func show(_ line: String) {
        print(line)
        fflush(nil)
    }

    private static func line(_ message: RunLoop.MessagePort.Message) -> String {
        var line = "id \(message.id): \(Self.shown(message.text))"
        if !message.descriptors.isEmpty { line += " (\(message.descriptors.count) descriptors)" }
        return line
    }

    /// What others send is shown without what a terminal would obey.
    private static func shown(_ text: String) -> String {
        var shown = ""
        for scalar in text.unicodeScalars {
            let isControl = scalar.value < 0x20 || 0x7F...0x9F ~= scalar.value
            shown += isControl ? scalar.escaped(asASCII: true) : String(scalar)
        }
        return shown
    }
}
