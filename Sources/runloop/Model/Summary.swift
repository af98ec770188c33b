// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The table at the end of the demo.
enum Summary {
    static func lines(_ model: DemoModel) -> [String] {
        let rows: [(String, String)] = [
            ("time", Format.seconds(model.elapsed) + " s"),
            ("asleep", Format.percent(model.asleepShare)),
            ("runs", "\(model.runs), at most \(model.deepest) deep"),
            ("turns", "\(model.turns)"),
            ("wake-ups", "\(model.wakeUps)"),
            ("timer of default alone", Format.count(model.fires.defaultOnly, "fire")),
            ("timer of common modes", Format.count(model.fires.common, "fire")),
            ("input lines", "\(model.inputLines)"),
            ("keys", "\(model.keys)"),
            ("blocks", "\(model.blocks)"),
            ("source performs", "\(model.signals)"),
            ("main queue blocks", "\(model.mainQueueBlocks)"),
            ("main actor tasks", "\(model.mainActorTasks)"),
        ]
        let width = rows.map(\.0.count).max() ?? 0
        return rows.map { "  " + Format.padded($0.0, width) + "  " + $0.1 }
    }
}
