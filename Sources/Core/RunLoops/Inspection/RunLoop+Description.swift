// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension RunLoop: CustomStringConvertible, CustomDebugStringConvertible {
    /// Describes the loop in one line: its thread, its mode, and whether it sleeps.
    public var description: String {
        let mode = currentMode.map { "in \($0)" } ?? "not running"
        return "<RunLoop of \(threadName)>{\(mode)\(isWaiting ? ", waiting" : "")}"
    }

    /// The same text as ``description``, so that a value that contains a loop is printed on one line;
    /// ``detailedDescription()`` lists everything.
    public var debugDescription: String { description }

    /// Describes the loop with all its items, in the layout of Apple's loop: the current mode, the common modes and
    /// items, then each mode with its sources, observers and timers.
    ///
    /// Corresponds to `CFCopyDescription`. Thread safety: any thread; the text describes a single instant.
    /// - Complexity: O(n log n) in the items.
    public func detailedDescription() -> String { describeWithItems().text }

    /// Returns the text of ``detailedDescription()``, and the items that it describes.
    ///
    /// A caller on another thread must not release an item last: the closure would be released on the wrong thread.
    package func describeWithItems() -> (text: String, items: [AnyObject]) {
        // Items are described after the lock is released, because the same lock guards their own fields.
        let picture = withState { LoopPicture(self, &$0) }
        return (picture.text(waiting: isWaiting), picture.items)
    }
}

/// The parts of a loop at one instant.
private struct LoopPicture {
    struct ModePicture {
        let name: String
        let isCommon: Bool
        let sources: [RunLoop.Source]
        let descriptors: [RunLoop.DescriptorSource]
        let observers: [RunLoop.Observer]
        let timers: [TimerPicture]
    }

    /// A timer, or a closure that waits for its delay, with its dates at that instant.
    struct TimerPicture {
        let timer: RunLoop.Timer?
        let label: ItemLabel
        let clock: RunLoop.ClockID
        let fire: Int64
        let tolerance: Int64
        let isFiring: Bool
    }

    let threadName: String
    let current: String?
    let commonModes: [String]
    let commonItems: [RunLoop.Item]
    let modes: [ModePicture]
    let blocks: [String]
    let now: [RunLoop.ClockID: Int64]

    /// Reads the parts of a loop.
    init(_ loop: RunLoop, _ state: inout GuardedState) {
        threadName = loop.threadName
        blocks = loop.blocks.picture(onLoopsThread: SystemCalls.threadID == loop.threadID)
        current = state.runs.last?.mode.name.rawValue
        commonModes = state.commonModeNames.map(\.rawValue)
        commonItems = state.commonItems.all
        var modes: [ModePicture] = []
        for number in 0..<state.modes.count {
            let mode = state.modes[number].mode
            modes.append(
                ModePicture(
                    name: mode.name.rawValue, isCommon: mode.isCommon, sources: state.modes[number].sources,
                    descriptors: state.modes[number].descriptors.sources, observers: state.modes[number].observers,
                    timers: Self.timers(state, number)))
        }
        self.modes = modes
        now = Dictionary(uniqueKeysWithValues: RunLoop.ClockID.allCases.map { ($0, loop.now($0)) })
    }

    /// All items that are described.
    var items: [AnyObject] {
        commonItems
            + modes.flatMap {
                $0.sources + $0.descriptors + $0.observers + $0.timers.compactMap(\.timer) as [AnyObject]
            }
    }

    private static func timers(_ state: borrowing GuardedState, _ mode: Int) -> [TimerPicture] {
        func picture(_ timer: RunLoop.Timer) -> TimerPicture {
            TimerPicture(
                timer: timer, label: timer.labelStorage, clock: timer.clock, fire: timer.fire,
                tolerance: timer.toleranceNanoseconds, isFiring: timer.callout.contains(.underWay))
        }
        var waiting: [(entry: TimerHeap.Entry, picture: TimerPicture)] = []
        state.visitTimers(in: mode) { clock, entry, timer, label in
            if let timer { waiting.append((entry, picture(timer))) }
            if let label {
                let delayed = TimerPicture(
                    timer: nil, label: label, clock: clock, fire: entry.date, tolerance: 0, isFiring: false)
                waiting.append((entry, delayed))
            }
        }
        return state.firingTimers(in: mode).map(picture)
            + waiting.sorted { $0.entry.isBefore($1.entry) }.map(\.picture)
    }

    func text(waiting: Bool) -> String {
        var lines = ["<RunLoop of \(threadName)>{"]
        lines.append("  current mode = \(current ?? "(none)"), waiting = \(waiting ? "yes" : "no"),")
        lines.append("  common modes = {\(commonModes.joined(separator: ", "))},")
        lines += section("common items", commonItems.map(\.description), indent: "  ")
        lines += section("blocks not yet run", blocks, indent: "  ")
        lines.append("  modes = \(modes.count) {")
        for mode in modes {
            lines.append("    \(mode.name)\(mode.isCommon ? " (common)" : "") {")
            lines += section(
                "sources", mode.sources.map(\.description) + mode.descriptors.map(\.description), indent: "      ")
            lines += section("observers", mode.observers.map(\.description), indent: "      ")
            lines += section("timers", mode.timers.map(describe), indent: "      ")
            lines.append("    }")
        }
        return (lines + ["  }", "}"]).joined(separator: "\n")
    }

    private func section(_ name: String, _ items: [String], indent: String) -> [String] {
        if items.isEmpty { return ["\(indent)\(name) = (none)"] }
        return ["\(indent)\(name) = \(items.count) {"] + items.map { "\(indent)  \($0)" } + ["\(indent)}"]
    }

    private func describe(_ picture: TimerPicture) -> String {
        let due = Duration.nanoseconds(picture.fire) - .nanoseconds(now[picture.clock] ?? 0)
        let next = "next fire = \(due.inMilliseconds) from now (\(picture.clock) \(picture.fire))"
        guard let timer = picture.timer else { return "<Delayed closure \(picture.label.text)>{\(next)}" }
        let parts = [
            timer.isValid ? "valid" : "invalid", picture.isFiring ? "firing" : nil,
            "interval = \(timer.interval.map(\.inMilliseconds) ?? "(once)")",
            "tolerance = \(Duration.nanoseconds(picture.tolerance).inMilliseconds)", next,
        ]
        return "<RunLoop.Timer \(timer.label)>{\(parts.compactMap { $0 }.joined(separator: ", "))}"
    }
}

extension RunLoop {
    /// The thread's number, and whether it is the main thread.
    fileprivate var threadName: String { mainQueue == nil ? "thread \(threadID)" : "main thread \(threadID)" }
}

extension Duration {
    /// In milliseconds with three decimals: `59999.671 ms`.
    fileprivate var inMilliseconds: String {
        let microseconds = clampedNanoseconds / 1000
        let fraction = String(microseconds.magnitude % 1000)
        let padding = String(repeating: "0", count: 3 - fraction.count)
        return "\(microseconds < 0 ? "-" : "")\(microseconds.magnitude / 1000).\(padding)\(fraction) ms"
    }
}
