// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// One figure.
struct Row {
    enum Kind: String, CaseIterable {
        case itself = "to itself: Task.yield on the executor"
        case same = "between two actors of one executor"
        case other = "to another of its kind and back (the main actor: to what is named)"
        case pool = "to Swift's pool and back"
        case question = "a question from the pool to another thread, and its answer"
    }

    let kind: Kind
    let name: String
    let nanoseconds: Double

    init(_ kind: Kind, _ name: String, _ nanoseconds: Double) {
        (self.kind, self.name, self.nanoseconds) = (kind, name, nanoseconds)
    }

    /// For the process that has started this one.
    var line: String { "\(kind)\t\(name)\t\(nanoseconds)" }

    init?(line: Substring) {
        let parts = line.split(separator: "\t")
        guard parts.count == 3, let kind = Kind.allCases.first(where: { "\($0)" == parts[0] }),
            let nanoseconds = Double(parts[2])
        else { return nil }
        self.init(kind, String(parts[1]), nanoseconds)
    }
}

/// The figures by kind: the best pass and the middle one, each beside how many times the run loop's it is.
func table(_ rows: [Row]) -> String {
    var lines: [String] = []
    for kind in Row.Kind.allCases {
        let passes = Dictionary(grouping: rows.filter { $0.kind == kind }, by: \.name)
            .mapValues { $0.map(\.nanoseconds).sorted() }
        guard let ours = passes["run loop"] else { continue }
        lines.append("\n" + padded(kind.rawValue, 72) + "best             middle")
        let mains = MainActorKind.allCases.flatMap { [$0.rawValue, $0.rawValue + ", queue", $0.rawValue + ", loop"] }
        let names = ["run loop", "Dispatch queue", "NIO event loop"] + mains
        for name in names {
            guard let passes = passes[name] else { continue }
            lines.append("  " + padded(name, 64) + [0, ours.count / 2].map { figure(passes[$0], ours[$0]) }.joined())
        }
    }
    return lines.joined(separator: "\n")
}

private func figure(_ nanoseconds: Double, _ ours: Double) -> String {
    padded(rounded(nanoseconds), -10) + padded(rounded(nanoseconds / ours), -8) + "×"
}

private func rounded(_ value: Double) -> String {
    let hundredths = Int((value * 100).rounded())
    let fraction = hundredths % 100
    return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)"
}

/// Filled with spaces, on the left where the width is negative.
private func padded(_ text: String, _ width: Int) -> String {
    let fill = String(repeating: " ", count: max(0, abs(width) - text.count))
    return width < 0 ? fill + text : text + fill
}
