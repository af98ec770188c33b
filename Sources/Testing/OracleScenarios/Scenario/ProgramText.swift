// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The text form of actions, items and results in programs and traces.
package enum ProgramText {
    package static func item(_ item: ItemName) -> String {
        switch item {
        case .source(let index): "s\(index)"
        case .descriptor(let index): "d\(index)"
        case .timer(let index): "t\(index)"
        case .observer(let index): "o\(index)"
        }
    }

    package static func mode(_ mode: ModeName) -> String {
        switch mode {
        case .common: "common"
        case .mode(let index): ModeNames.short(index)
        }
    }

    package static func modes(_ modes: [ModeName]) -> String {
        modes.count == 1 ? mode(modes[0]) : "[" + modes.map(mode).joined(separator: ", ") + "]"
    }

    package static func activities(_ activities: UInt) -> String {
        if activities & 0xFF == 0xE7 { return "all" }
        let names: [(UInt, String)] = [
            (1, "entry"), (2, "beforeTimers"), (4, "beforeSources"), (32, "beforeWaiting"), (64, "afterWaiting"),
            (128, "exit"),
        ]
        return names.filter { activities & $0.0 != 0 }.map(\.1).joined(separator: "+")
    }

    package static func date(_ date: FireDate) -> String {
        switch date {
        case .past(let milliseconds): "\(milliseconds) ms ago"
        case .now: "now"
        case .slot(let slot): "slot \(slot)"
        case .far(let seconds): "in an hour and \(seconds) s"
        }
    }

    package static func seen(_ date: SeenDate?) -> String {
        switch date {
        case nil: "none"
        case .due: "due"
        case .slot(let slot): "slot \(slot)"
        case .far(let seconds): "an hour and \(seconds) s"
        case .sentinel: "the sentinel"
        }
    }

    package static func limit(_ limit: RunLimit) -> String {
        switch limit {
        case .zero: "for nothing"
        case .slots(let slots): "for \(slots) slots"
        case .large: "for 30 s"
        case .unlimited: "without limit"
        }
    }

    package static func result(_ result: Int) -> String {
        switch result {
        case 1: "finished"
        case 2: "stopped"
        case 3: "timedOut"
        case 4: "handledSource"
        default: "result \(result)"
        }
    }

    package static func action(_ action: Action) -> String {
        switch action {
        case .add(let item, let mode): "add \(self.item(item)) to \(self.mode(mode))"
        case .remove(let item, let mode): "remove \(self.item(item)) from \(self.mode(mode))"
        case .invalidate(let item): "invalidate \(self.item(item))"
        case .markCommon(let mode): "mark \(ModeNames.short(mode)) as common"
        case .signal(let source): "signal s\(source)"
        case .trigger(let descriptor): "write to d\(descriptor)"
        case .wakeUp: "wake up"
        case .stop: "stop"
        case .perform(let block, let modes): "perform b\(block) in \(self.modes(modes))"
        case .queue(let index): "queue q\(index) on the main queue"
        case .setFireDate(let timer, let date): "set t\(timer) to \(self.date(date))"
        case .run(let mode, let limit, let returnAfter):
            "run \(self.mode(mode)) \(self.limit(limit))\(returnAfter ? ", return after a source" : "")"
        case .askContains(let item, let mode): "ask whether \(self.item(item)) is in \(self.mode(mode))"
        case .askValid(let item): "ask whether \(self.item(item)) is valid"
        case .askSignalled(let source): "ask whether s\(source) is signalled"
        case .askCurrentMode: "ask for the current mode"
        case .askNextFireDate(let mode): "ask for the next fire date in \(self.mode(mode))"
        }
    }
}
