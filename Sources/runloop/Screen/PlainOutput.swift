// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// One line for each step, for a pipe or a file.
@MainActor
final class PlainOutput: DemoOutput {
    /// What was said in this turn.
    ///
    /// Written in one piece before the thread sleeps: one system call a turn.
    private var text: String

    var isSlow = false

    init() {
        text = "      time  mode      step\n"
    }

    func note(_ lines: [DemoLine]) {
        for line in lines { text += Self.text(of: line) + "\n" }
    }

    func commit(_ model: DemoModel) {
        guard !text.isEmpty else { return }
        Terminal.write(text)
        text = ""
    }

    func invalidate() {}

    func suspend() {}

    func resume() {}

    /// Time, mode and step, each in its column; nested runs are indented.
    private static func text(of line: DemoLine) -> String {
        let time = Format.aligned(Format.seconds(line.time) + " s", 10)
        let indent = String(repeating: "    ", count: max(0, line.depth - 1))
        let step = line.step.map { Format.aligned("[\($0.rawValue)]", 4) } ?? "    "
        return "\(time)  \(Format.padded(line.mode, 8))  \(indent)\(step) \(line.text)"
    }
}
