// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Runs everything several times over: all peers one after the other in each run, so that what disturbs the machine for
/// a while disturbs all of them.
struct Passes {
    let peers: [Peer]
    let runs: [Run]
    let count: Int
    let isQuick: Bool

    func run(into results: inout Results) {
        buildStatic()
        let missing = Set(peers.map(\.program)).filter { !Program($0).exists }
        for pass in 1...count {
            for (number, run) in runs.enumerated() where pass == 1 || !run.isOnce {
                for peer in peers where peer.takesPart(in: run) && !missing.contains(peer.program) {
                    progress("pass \(pass)/\(count), \(number + 1)/\(runs.count): \(run.title) \(peer.name)")
                    results.add(measure(peer, run), of: peer, in: run)
                }
            }
        }
        progress("")
    }

    private func measure(_ peer: Peer, _ run: Run) -> Program.Outcome {
        switch run.means {
        case .program:
            Program(peer.program).run(run.arguments(isQuick: isQuick) + peer.arguments)
        case .start(let isStatic):
            Start(isStatic: isStatic, isQuick: isQuick).measure(peer)
        case .systemCalls(let argument, let short, let long):
            SystemCalls(run: run, argument: argument, short: short, long: long).measure(peer)
        case .instructions:
            Instructions.measure(peer)
        }
    }

    /// It takes its time, so that a quick run uses what is there.
    private func buildStatic() {
        let isAsked = runs.contains { if case .start(isStatic: true) = $0.means { true } else { false } }
        guard isAsked, !isQuick else { return }
        Start.buildStatic(["peer-ours", "start-empty", "start-foundation"], progress)
    }

    private func progress(_ text: String) {
        // One line that is written over on a terminal; elsewhere a line for each step.
        let isTerminal = isatty(2) == 1
        if text.isEmpty, !isTerminal { return }
        FileHandle.standardError.write(Data((isTerminal ? "\r\u{1B}[K\(text)" : "\(text)\n").utf8))
    }
}
