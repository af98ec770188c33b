// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation

@main
struct Peers: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "peers",
        abstract: "Runs every workload on RunLoops and on other loops, and compares them.",
        discussion: """
            Every pair of loop and workload is a process of its own; passes are interleaved. The figures are medians \
            over the passes, with the least and the greatest. Compare ratios of one run, never figures of two.
            """)

    @Flag(help: "Smaller counts, and no more than 10,000 timers: about two minutes.")
    var quick = false

    @Option(help: "Only these workloads, separated by commas: W1, W4, W5t (1 ms tolerance), …")
    var only: String?

    @Option(help: "Only these loops, separated by commas: ours, raw (and its variants), libuv, …")
    var peers: String?

    @Option(help: "How often everything is run.")
    var passes = 3

    @Option(help: "What stands for several passes: median, or least, which is steadier on a busy machine.")
    var by = Estimate.median

    @Flag(help: "Ends with a second table, of every figure of every loop.")
    var matrix = false

    @Option(help: "Writes all samples to this file.")
    var json: String?

    @Option(help: "Draws the plot into this file; the one in the documentation is Documentation/Images/peers.svg.")
    var svg: String?

    @Option(help: "Writes all figures with their goals to this file, in Markdown.")
    var page: String?

    func run() throws {
        let peers = chosenPeers()
        let runs = chosenRuns()
        var results = Results(by)
        Passes(peers: peers, runs: runs, count: passes, isQuick: quick).run(into: &results)
        let summary = Summary(peers: peers, runs: runs, results: results)
        summary.print(withMatrix: matrix)
        if let json { try Record(summary.comparisons).write(to: json) }
        if let svg { try Picture(summary.comparisons).write(to: svg) }
        if let page { try Page(summary, isQuick: quick).write(to: page) }
    }

    private func chosenPeers() -> [Peer] {
        guard let peers else { return Peer.all }
        let names = peers.split(separator: ",").map { $0.lowercased() }
        return Peer.all.filter { peer in
            names.contains { peer.name.lowercased() == $0 || peer.name.lowercased().hasPrefix($0 + " ") }
        }
    }

    private func chosenRuns() -> [Run] {
        let names = only?.split(separator: ",").map { $0.lowercased() }
        return Run.all.filter { run in
            guard let names else { return !(quick && run.isOnlyFull) }
            return names.contains(run.kind.lowercased()) && !(quick && run.isOnlyFull)
        }
    }
}

extension Estimate: ExpressibleByArgument {}
