// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import OracleScenarios

/// How a difference is printed.
enum Report {
    static func difference(_ difference: Difference) -> String {
        difference.scenario.program + "\n\n" + sideBySide(difference.real, difference.ours)
    }

    /// Two traces beside each other, with a mark at each line that is not the same in both.
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
