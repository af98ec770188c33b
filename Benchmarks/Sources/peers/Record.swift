// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// All samples, as JSON.
struct Record: Encodable {
    struct Entry: Encodable {
        let workload: String
        let unit: String
        let peer: String
        let isLimit: Bool
        let value: Double
        let samples: [Double]
        /// What is to be known about it.
        let note: String?
    }

    let machine = Machine.text
    let entries: [Entry]

    init(_ comparisons: [Comparison]) {
        entries = comparisons.flatMap { comparison in
            comparison.figures.map { peer, figure in
                Entry(
                    workload: comparison.title, unit: comparison.row.unit.rawValue, peer: peer.name,
                    isLimit: peer.isLimit, value: figure.value, samples: figure.samples,
                    note: comparison.row.remarks[peer.name]?.text)
            }
        }
    }

    func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(self).write(to: URL(fileURLWithPath: path))
    }
}
