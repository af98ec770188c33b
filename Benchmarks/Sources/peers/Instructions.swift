// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// How many instructions an operation of this package takes, as Benchmarks/instructions counts them.
enum Instructions {
    static func measure(_ peer: Peer) -> Program.Outcome {
        let script = Command.repository.appendingPathComponent("Benchmarks/instructions").path
        let text = Command.output(script, ["--plain", "--program", Program(peer.program).path])
        let figures = text.split(separator: "\n").compactMap { line -> (String, Double)? in
            let words = line.split(separator: " ")
            guard words.count == 2, let figure = Double(words[1]) else { return nil }
            return (String(words[0]), figure)
        }
        if figures.isEmpty { return .skipped("valgrind is not installed, so that no instructions are counted") }
        return .results(Dictionary(uniqueKeysWithValues: figures))
    }
}
