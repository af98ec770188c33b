// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension Scenario {
    /// The scenario as the text of a program.
    ///
    /// Items that no action names are left out.
    package var program: String {
        var lines = ["scenario \(number) of seed \(seed), \(place), \(time)\(hasSentinels ? ", with sentinels" : "")"]
        lines.append("modes: " + (0..<modeCount).map(ModeNames.short).joined(separator: ", "))
        let actions = allActions
        let items = Set(actions.compactMap(\.item))
        for (index, source) in sources.enumerated() where items.contains(.source(index)) {
            let tells = source.tellsScheduling ? ", tells of scheduling" : ""
            let signals = source.tellsScheduling && source.signalsWhenScheduled ? " and signals itself then" : ""
            lines.append("source s\(index): order \(source.order)\(tells)\(signals)")
            lines += Self.print(source.script)
        }
        for (index, descriptor) in descriptors.enumerated() where items.contains(.descriptor(index)) {
            lines.append("descriptor source d\(index): order \(descriptor.order)")
            lines += Self.print(descriptor.script)
        }
        for (index, timer) in timers.enumerated() where items.contains(.timer(index)) {
            lines.append("timer t\(index): \(ProgramText.date(timer.first))\(Self.print(timer.interval))")
            lines += Self.print(timer.script)
        }
        for (index, observer) in observers.enumerated() where items.contains(.observer(index)) {
            let once = observer.repeats ? "" : ", once"
            let wants = ProgramText.activities(observer.activities)
            lines.append("observer o\(index): \(wants), order \(observer.order)\(once)")
            lines += Self.print(observer.script)
        }
        for (index, block) in blocks.enumerated() where actions.contains(where: { $0.performs(index) }) {
            lines.append("block b\(index)")
            lines += Self.print(block)
        }
        for (index, script) in queueItems.enumerated() where actions.contains(.queue(index)) {
            lines.append("main queue q\(index)")
            lines += Self.print(script)
        }
        lines.append("body:")
        lines += body.map { "    " + ProgramText.action($0) }
        for (index, step) in otherThread.enumerated() where !step.isEmpty {
            lines.append("other thread, step \(index + 1), once the loop sleeps:")
            lines += step.map { "    " + ProgramText.action($0) }
        }
        return lines.joined(separator: "\n")
    }

    private var place: String { onMainThread ? "main thread" : "thread of its own" }

    private var time: String {
        switch timing {
        case .still: "nothing comes by itself"
        case .slots: "timers come at slots"
        case .limits: "limits pass"
        }
    }

    private static func print(_ script: Script) -> [String] {
        script.enumerated().filter { !$1.isEmpty }.map { index, actions in
            "    call \(index + 1): " + actions.map(ProgramText.action).joined(separator: "; ")
        }
    }

    private static func print(_ interval: Timer.Interval) -> String {
        switch interval {
        case .none: ", once"
        case .slots(let slots): ", every \(slots) slots"
        case .hour: ", every hour"
        }
    }
}

extension Action {
    fileprivate func performs(_ block: Int) -> Bool {
        if case .perform(block, _) = self { true } else { false }
    }
}
