// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import OracleScenarios

/// Formats a difference for printing.
enum Report {
    static func difference(_ difference: Difference) -> String {
        difference.scenario.program + "\n\n" + sideBySide(difference.real, difference.ours)
    }

    /// Returns two traces side by side, with a mark at each line in which they differ.
    static func sideBySide(_ real: [String], _ ours: [String]) -> String {
        let width = max(40, real.map(\.count).max() ?? 0)
        var lines = [row("the real CFRunLoop", "ours", width: width, mark: " ")]
        for index in 0..<max(real.count, ours.count) {
            let left = real.indices.contains(index) ? real[index] : ""
            let right = ours.indices.contains(index) ? ours[index] : ""
            lines.append(row(left, right, width: width, mark: left == right ? " " : "|"))
        }
        return lines.joined(separator: "\n")
    }

    private static func row(_ left: String, _ right: String, width: Int, mark: String) -> String {
        "  " + left + String(repeating: " ", count: width - left.count) + " \(mark) " + right
    }
}
