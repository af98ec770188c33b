// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// What is printed at the end.
struct Summary {
    let peers: [Peer]
    private let results: Results
    let comparisons: [Comparison]

    init(peers: [Peer], runs: [Run], results: Results) {
        self.peers = peers
        self.results = results
        comparisons = runs.flatMap { run in run.rows.map { Comparison(run, $0, peers, results) } }
            .filter { !$0.figures.isEmpty }
    }

    func print(withMatrix: Bool) {
        Swift.print("\(Machine.text); load now \(Machine.load)\n")
        printTable()
        printGoals()
        if withMatrix { printMatrix() }
        for reason in skipped { Swift.print("skipped: \(reason)") }
    }

    var skipped: [String] { results.skipped.keys.filter { !$0.isEmpty }.sorted() }

    private func printTable() {
        var notes = Notes()
        var table = Table(["workload", "unit", "ours", "limit", "", "best peer", "", "ours/limit", "ours/best"])
        for comparison in comparisons {
            let (row, ours) = (comparison.row, comparison.ours)
            table.add([
                comparison.title + notes.marks(of: comparison), row.unit.rawValue, ours?.text() ?? "–",
                comparison.limit?.figure.text() ?? "–", comparison.limit?.peer.name ?? "",
                comparison.bestPeer?.figure.text() ?? "–", comparison.bestPeer?.peer.name ?? "",
                ratio(ours, comparison.limit?.figure), ratio(ours, comparison.bestPeer?.figure),
            ])
        }
        Swift.print(table.text)
        for (number, text) in notes.texts.enumerated() { Swift.print("[\(number + 1)] \(text)") }
    }

    private func printGoals() {
        var table = Table(["to reach", "asked", "got", "reached"])
        for goal in Goal.all {
            guard let verdict = goal.judge(comparisons) else { continue }
            let row = comparisons.first(where: goal.isFor)
            table.add([row?.title ?? goal.run, verdict.asked, verdict.got, verdict.isReached ? "yes" : "NO"])
        }
        if !table.isEmpty { Swift.print("\n" + table.text) }
    }

    private func ratio(_ left: Figure?, _ right: Figure?) -> String {
        guard let left, let right else { return "–" }
        return Figure.ratio(left.value, right.value)
    }

    private func printMatrix() {
        let shown = peers.filter { peer in comparisons.contains { $0.figures.contains { $0.peer.name == peer.name } } }
        var table = Table(["workload", "unit"] + shown.map(\.name))
        for comparison in comparisons {
            let cells = shown.map { peer in
                comparison.figures.first { $0.peer.name == peer.name }?.figure
                    .text(withSpread: false) ?? ""
            }
            table.add([comparison.title, comparison.row.unit.rawValue] + cells)
        }
        Swift.print("\n" + table.text)
    }
}

/// Footnotes: each text once, with the peers it is about, numbered as they come.
struct Notes {
    private var order: [String] = []
    private var peers: [String: [String]] = [:]

    var texts: [String] { order.map { "\(peers[$0, default: []].joined(separator: ", ")): \($0)" } }

    mutating func marks(of comparison: Comparison) -> String {
        var numbers: Set<Int> = []
        for (peer, _) in comparison.figures {
            guard let remark = comparison.row.remarks[peer.name] else { continue }
            let text = remark.isCompared ? remark.text : remark.text + " (shown, not compared)"
            if !order.contains(text) { order.append(text) }
            if peers[text]?.contains(peer.name) != true { peers[text, default: []].append(peer.name) }
            numbers.insert(order.firstIndex(of: text)! + 1)
        }
        return numbers.isEmpty ? "" : " [\(numbers.sorted().map(String.init).joined(separator: ","))]"
    }
}
