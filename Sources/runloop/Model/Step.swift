// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A step of one turn, numbered as in the table of Specification 5.0.
enum Step: Int, CaseIterable, Comparable, Sendable {
    case entry = 1
    case beforeTimers
    case beforeSources
    case blocks
    case sources
    case mainQueueLook
    case sleep
    case wake
    case served
    case result
    case exit

    /// What the step is called on the screen: short enough for the narrowest column it is shown in.
    var title: String {
        switch self {
        case .entry: "entry"
        case .beforeTimers: "before timers"
        case .beforeSources: "before sources"
        case .blocks: "blocks"
        case .sources: "signalled sources"
        case .mainQueueLook: "main queue had work"
        case .sleep: "before waiting, sleep"
        case .wake: "after waiting"
        case .served: "what woke it"
        case .result: "blocks, result"
        case .exit: "exit"
        }
    }

    static func < (left: Step, right: Step) -> Bool { left.rawValue < right.rawValue }
}
