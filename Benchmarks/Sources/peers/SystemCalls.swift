// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// How many system calls an operation takes: counted by strace in a short and in a longer run, so that starting and
/// ending are not in the figure.
struct SystemCalls {
    private static let strace = "/usr/bin/strace"

    let run: Run
    let argument: String
    let short: Int
    let long: Int

    static var isHere: Bool { FileManager.default.isExecutableFile(atPath: strace) }

    func measure(_ peer: Peer) -> Program.Outcome {
        guard Self.isHere else { return .skipped("strace is not installed, so that no system calls are counted") }
        guard let less = count(peer, short), let more = count(peer, long) else { return .skipped("no such workload") }
        return .results(["calls": (more.calls - less.calls) / (more.operations - less.operations)])
    }

    private func count(_ peer: Peer, _ length: Int) -> (calls: Double, operations: Double)? {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("peers-\(getpid()).strace")
        defer { try? FileManager.default.removeItem(at: file) }
        let words = run.arguments(isQuick: false) + ["\(argument)=\(length)"] + peer.arguments
        let outcome = Program(path: Self.strace).run(
            ["-f", "-c", "-o", file.path, Program(peer.program).path] + words)
        guard case .results(let results) = outcome, let table = try? String(contentsOf: file, encoding: .utf8) else {
            return nil
        }
        // A repeating timer says itself how often it has fired; the others warm up with a tenth of the length.
        return (Self.sum(table), results["fires"] ?? Double(length) * 1.1)
    }

    /// The column `calls` of all lines but the sum.
    private static func sum(_ table: String) -> Double {
        table.split(separator: "\n").reduce(0) { sum, line in
            let words = line.split(separator: " ")
            guard words.count >= 5, words.last != "total", Double(words[0]) != nil, let calls = Double(words[3]) else {
                return sum
            }
            return sum + calls
        }
    }
}
