// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// What the passes have brought.
struct Results {
    /// What stands for several passes.
    let estimate: Estimate
    /// Samples by run, metric and peer, one a pass.
    private var samples: [String: [Double]] = [:]
    /// Why a peer has no figures, said once.
    private(set) var skipped: [String: String] = [:]

    init(_ estimate: Estimate) { self.estimate = estimate }

    mutating func add(_ outcome: Program.Outcome, of peer: Peer, in run: Run) {
        switch outcome {
        case .results(let results):
            for (metric, value) in results { samples[key(run, metric, peer), default: []].append(value) }
        case .skipped(let reason):
            skipped[reason == "no such workload" ? "" : "\(peer.name): \(reason)"] = reason
        case .failed(let reason):
            skipped["\(peer.name) in \(run.title): \(reason)"] = reason
        }
    }

    func figure(_ run: Run, _ row: Row, _ peer: Peer) -> Figure? {
        samples[key(run, row.metric, peer)].map { Figure($0, row.isMoreBetter ? .median : estimate) }
    }

    private func key(_ run: Run, _ metric: String, _ peer: Peer) -> String { "\(run.title)|\(metric)|\(peer.name)" }
}

/// What stands for several passes.
enum Estimate: String, Sendable, CaseIterable {
    case median
    /// Closer to the truth while others use the machine as well: they can only add to a time.
    case least
}

/// The samples of one figure.
struct Figure {
    let samples: [Double]
    let value: Double

    init(_ samples: [Double], _ estimate: Estimate) {
        let sorted = samples.sorted()
        self.samples = sorted
        let middle = sorted.count / 2
        let median = sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
        value = estimate == .median ? median : sorted[0]
    }

    var least: Double { samples[0] }
    var greatest: Double { samples[samples.count - 1] }
}

/// One row of the table: this package's loop beside the limit and the best of the peers.
struct Comparison {
    let run: Run
    let row: Row
    let figures: [(peer: Peer, figure: Figure)]

    init(_ run: Run, _ row: Row, _ peers: [Peer], _ results: Results) {
        self.run = run
        self.row = row
        figures = peers.compactMap { peer in results.figure(run, row, peer).map { (peer, $0) } }
    }

    var title: String { row.title.isEmpty ? run.title : "\(run.title) \(row.title)" }

    var ours: Figure? { figures.first { $0.peer.name == Peer.ours.name }?.figure }

    /// The best of the loops written by hand.
    var limit: (peer: Peer, figure: Figure)? { best { $0.isLimit && isCompared($0) } }

    /// The best of the peers that have done the same work.
    var bestPeer: (peer: Peer, figure: Figure)? {
        best { !$0.isLimit && $0.name != Peer.ours.name && isCompared($0) }
    }

    private func isCompared(_ peer: Peer) -> Bool { row.remarks[peer.name]?.isCompared ?? true }

    private func best(_ isOne: (Peer) -> Bool) -> (peer: Peer, figure: Figure)? {
        if row.isOnlyShown { return nil }
        let those = figures.filter { isOne($0.peer) }
        return row.isMoreBetter
            ? those.max { $0.figure.value < $1.figure.value }
            : those.min { abs($0.figure.value) < abs($1.figure.value) }
    }
}
