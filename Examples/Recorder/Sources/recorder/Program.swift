// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsEvents

/// Records what a program shows on its terminal, and shows it again at the same pace.
@main struct Program {
    static let usage = """
        usage: recorder record FILE [--size COLUMNSxROWS] COMMAND [ARGUMENT…]
               recorder play FILE [--speed FACTOR]
        """

    static func main() {
        do {
            exit(try run(CommandLine.arguments.dropFirst()))
        } catch {
            _ = "recorder: \(error)\n".withCString { write(STDERR_FILENO, $0, strlen($0)) }
            exit(1)
        }
    }

    /// - Returns: The status to exit with.
    private static func run(_ arguments: ArraySlice<String>) throws -> CInt {
        var rest = arguments
        let (action, path) = (rest.popFirst(), rest.popFirst())
        switch (action, path) {
        case ("record", let path?):
            var size = ownTerminal.flatMap { $0.size }
            if rest.first == "--size" {
                let numbers = rest.dropFirst().first?.split(separator: "x").compactMap { UInt16($0) } ?? []
                guard numbers.count == 2 else { throw Usage() }
                size = .init(columns: numbers[0], rows: numbers[1])
                rest = rest.dropFirst(2)
            }
            guard let program = rest.popFirst() else { throw Usage() }
            return try Recorder(
                program, Array(rest), size: size ?? .init(columns: 80, rows: 24), terminal: ownTerminal, path: path
            ).run()
        case ("play", let path?):
            let speed = rest.first == "--speed" ? rest.dropFirst().first.flatMap { Double($0) } : 1
            guard let speed, speed > 0 else { throw Usage() }
            try Player(path, speed: speed).run()
            return 0
        default: throw Usage()
        }
    }

    /// The terminal that this program itself is typed to; `nil` in a pipe.
    private static var ownTerminal: OwnTerminal? { OwnTerminal() }
}

struct Usage: Error, CustomStringConvertible {
    var description: String { Program.usage }
}

/// The error of a file that cannot be opened or is not a recording.
struct BadFile: Error, CustomStringConvertible {
    let path: String
    let reason: String

    var description: String { "\(path): \(reason)" }
}
