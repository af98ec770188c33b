// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Lines of cells, each column as wide as its widest.
struct Table {
    private var lines: [[String]]

    init(_ heads: [String]) { lines = [heads] }

    mutating func add(_ cells: [String]) { lines.append(cells) }

    var isEmpty: Bool { lines.count == 1 }

    var text: String {
        // At least two, which the rule below the heads takes: a column may be empty.
        let widths = lines[0].indices.map { column in max(2, lines.map { $0[column].count }.max() ?? 0) }
        return lines.enumerated().map { number, cells in
            let padded = cells.indices.map { column in
                let blanks = String(repeating: " ", count: widths[column] - cells[column].count)
                // The first column is a name, the others are figures.
                return column == 0 ? cells[column] + blanks : blanks + cells[column]
            }
            let line = "| " + padded.joined(separator: " | ") + " |"
            guard number == 0 else { return line }
            let rule = widths.enumerated().map { column, width in
                column == 0 ? String(repeating: "-", count: width) : String(repeating: "-", count: width - 1) + ":"
            }
            return line + "\n| " + rule.joined(separator: " | ") + " |"
        }.joined(separator: "\n")
    }
}

extension Figure {
    /// The figure, and the least and the greatest where they differ.
    func text(withSpread: Bool = true) -> String {
        let middle = Self.number(value)
        guard withSpread, samples.count > 1 else { return middle }
        return "\(middle) (\(Self.number(least))–\(Self.number(greatest)))"
    }

    static func number(_ value: Double) -> String {
        if abs(value) >= 100 || value == value.rounded() { return Int(value.rounded()).grouped }
        let tenths = Int((value * 10).rounded())
        return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }

    /// Without decimals that are zero.
    static func short(_ value: Double) -> String {
        if value == value.rounded() { return Int(value).grouped }
        let text = ratio(value, 1)
        return text.hasSuffix("0") ? String(text.dropLast()) : text
    }

    static func ratio(_ left: Double, _ right: Double) -> String {
        guard right != 0 else { return left == 0 ? "1.00" : "–" }
        let hundredths = Int((left / right * 100).rounded())
        let (whole, rest) = (hundredths / 100, abs(hundredths) % 100)
        return "\(whole).\(rest < 10 ? "0" : "")\(rest)"
    }
}
