/// What the passes have brought.
struct Results {
    /// Samples by run, metric and peer, one a pass.
    private var samples: [String: [Double]] = [:]
    /// Why a peer has no figures, said once.
    private(set) var skipped: [String: String] = [:]

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
        samples[key(run, row.metric, peer)].map(Figure.init)
    }

    private func key(_ run: Run, _ metric: String, _ peer: Peer) -> String { "\(run.title)|\(metric)|\(peer.name)" }
}

/// The samples of one figure.
struct Figure {
    let samples: [Double]

    init(_ samples: [Double]) { self.samples = samples.sorted() }

    var median: Double {
        let middle = samples.count / 2
        return samples.count % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2
    }
    var least: Double { samples[0] }
    var greatest: Double { samples[samples.count - 1] }
}

/// One row of the table: ours beside the limit and the best of the peers.
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
        return row.metric == "fires"
            ? those.max { $0.figure.median < $1.figure.median }
            : those.min { abs($0.figure.median) < abs($1.figure.median) }
    }
}
