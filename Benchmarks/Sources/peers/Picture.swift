// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Charts

/// The plot of the rows that are times.
struct Picture {
    private let comparisons: [Comparison]

    init(_ comparisons: [Comparison]) { self.comparisons = comparisons.filter { $0.row.isPlotted } }

    private static let names = ["libuv", "libev", "libevent", "GLib", "NIO", "dispatch", "CFRunLoop"]

    func write(to path: String) throws {
        let lines = comparisons.compactMap(line)
        let plot = DotPlot(
            "RunLoops beside other loops", note: "\(Machine.text).", series: Self.names,
            lines: lines)
        try save(plot.svg, to: path)
    }

    private func line(_ comparison: Comparison) -> DotPlot.Line? {
        guard let unit = comparison.row.unit.nanoseconds else { return nil }
        // Early fires, below zero, have no place on a logarithmic axis; the table shows them.
        func time(_ figure: Figure?) -> Double? { figure.map { $0.value * unit }.flatMap { $0 > 0 ? $0 : nil } }
        let peers = comparison.figures.compactMap { peer, figure -> DotPlot.Dot? in
            guard Self.names.contains(peer.name), let time = time(figure) else { return nil }
            return DotPlot.Dot(peer.name, time, isCompared: comparison.row.remarks[peer.name]?.isCompared ?? true)
        }
        let limit = comparison.limit.flatMap { limit in time(limit.figure).map { (limit.peer.name, $0) } }
        return DotPlot.Line(comparison.title, ours: time(comparison.ours), limit: limit, peers: peers)
    }
}
