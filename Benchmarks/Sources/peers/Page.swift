// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The page of figures in Markdown: each row with every loop, and the command that repeats it. The goals of this package are printed.
struct Page {
    private let summary: Summary
    private let isQuick: Bool

    init(_ summary: Summary, isQuick: Bool) {
        self.summary = summary
        self.isQuick = isQuick
    }

    func write(to path: String) throws {
        try Data((text + "\n").utf8).write(to: URL(fileURLWithPath: path))
    }

    private var text: String {
        let kinds = summary.comparisons.map(\.run.kind).reduce(into: [String]()) {
            if !$0.contains($1) { $0.append($1) }
        }
        return ([introduction] + kinds.map(section) + skipped).joined(separator: "\n\n")
    }

    private var introduction: String {
        """
        # Figures

        Every workload of the benchmark, on this loop and on its peers, from one run.

        `peers` writes this page:

        ```sh
        swift run -c release --package-path Benchmarks peers --page Sources/Guide/Guide.docc/Figures.md
        ```

        | | |
        |---|---|
        | date | \(Machine.today) |
        | machine | \(Machine.text) |
        | load afterwards | \(Machine.load) |
        | versions | \(Machine.versions.joined(separator: ", ")) |

        \(isQuick ? "This was a quick run, with small counts: its figures say whether it works and no more. " : "")\
        The figures are medians of the passes. The column `ours` is this package's loop; it also has the least and the greatest \
        figure, in brackets. Less is better, except for fires and grid points. Compare figures of one row, never of two pages: a \
        machine that others use is slower at one time than at another. `raw` is a loop written by hand for this one purpose. A \
        number in square brackets refers to a note below the table.
        """
    }

    private func section(_ kind: String) -> String {
        let comparisons = summary.comparisons.filter { $0.run.kind == kind }
        let peers = summary.peers.filter { peer in
            comparisons.contains { $0.figures.contains { $0.peer.name == peer.name } }
        }
        var notes = Notes()
        var table = Table(["row", "unit"] + peers.map(\.name))
        for comparison in comparisons {
            let cells = peers.map { peer in
                comparison.figures.first { $0.peer.name == peer.name }?.figure
                    .text(withSpread: peer.name == Peer.ours.name) ?? ""
            }
            table.add([comparison.title + notes.marks(of: comparison), comparison.row.unit.rawValue] + cells)
        }
        let command =
            kind == Run.instructions.kind
            ? "Benchmarks/instructions" : "swift run -c release --package-path Benchmarks peers --matrix --only \(kind)"
        return
            (["## \(kind): \(Run.about(kind))", "```sh\n\(command)\n```", table.text]
            + notes.texts.enumerated().map { "[\($0 + 1)] \($1)" }).joined(separator: "\n\n")
    }

    private var skipped: [String] {
        let reasons = summary.skipped
        return reasons.isEmpty ? [] : ["## Skipped", reasons.map { "- \($0)" }.joined(separator: "\n")]
    }
}
