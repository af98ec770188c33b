extension RunLoop: CustomStringConvertible, CustomDebugStringConvertible {
    /// The loop in one line: its thread, its mode, and whether it sleeps.
    public var description: String {
        let mode = currentMode.map { "in \($0)" } ?? "not running"
        return "<RunLoop of \(engine.threadName)>{\(mode)\(isWaiting ? ", waiting" : "")}"
    }

    /// Everything the loop holds, laid out as Apple's loop prints itself: the current mode, the common modes and
    /// items, then each mode with its sources, observers and timers.
    ///
    /// Thread safety: any thread; a picture of one instant. Complexity: O(n log n) in the items.
    public var debugDescription: String { describeWithItems().text }

    /// The same with the items it speaks of.
    ///
    /// For somebody on another thread, who must not be the last to hold one: its closure would die on the wrong thread.
    package func describeWithItems() -> (text: String, items: [AnyObject]) {
        // Items are described after the lock is given back: their own fields are under it.
        let picture = engine.lock.withLock { LoopPicture(engine) }
        return (picture.text(waiting: isWaiting), picture.items)
    }
}

/// What a loop consists of at one instant.
private struct LoopPicture {
    struct ModePicture {
        let name: String
        let isCommon: Bool
        let sources: [RunLoopSource]
        let ports: [RunLoopPortSource]
        let observers: [RunLoopObserver]
        let timers: [TimerPicture]
    }

    /// A timer with the dates it had.
    struct TimerPicture {
        let timer: RunLoopTimer
        let fire: Int64
        let tolerance: Int64
        let isFiring: Bool
    }

    let threadName: String
    let current: String?
    let commonModes: [String]
    let commonItems: [RunLoopItem]
    let modes: [ModePicture]
    let blocks: [String]
    let now: [RunLoopTimeBase: Int64]

    /// With the lock held.
    init(_ engine: Engine) {
        threadName = engine.threadName
        blocks = engine.blocks.picture(onLoopsThread: SystemCalls.threadID == engine.threadID)
        current = engine.current?.mode.rawValue
        commonModes = engine.commonModes.map(\.rawValue)
        commonItems = engine.commonItems.all
        modes = engine.modes.map { state in
            ModePicture(
                name: state.mode.rawValue, isCommon: state.isCommon,
                sources: state.sources.values.sorted { $0.number < $1.number }.map(\.source),
                ports: state.ports.sources, observers: state.observers, timers: Self.timers(engine, state))
        }
        now = Dictionary(uniqueKeysWithValues: RunLoopTimeBase.allCases.map { ($0, engine.kernel.now($0)) })
    }

    /// All that is described.
    var items: [AnyObject] {
        commonItems + modes.flatMap { $0.sources + $0.ports + $0.observers + $0.timers.map(\.timer) as [AnyObject] }
    }

    private static func timers(_ engine: Engine, _ state: ModeState) -> [TimerPicture] {
        let waiting = state.timerBuckets.flatMap { $0.queue.all }.sorted { $0.entry.isBefore($1.entry) }.map(\.timer)
        return (engine.firingTimers.filter { engine.isIn($0, state) } + waiting).map {
            TimerPicture(timer: $0, fire: $0.fire, tolerance: $0.toleranceNanoseconds, isFiring: $0.isFiring)
        }
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
                "sources", mode.sources.map(\.description) + mode.ports.map(\.description), indent: "      ")
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
        let timer = picture.timer
        let due = Duration.nanoseconds(picture.fire) - .nanoseconds(now[timer.base] ?? 0)
        let parts = [
            timer.isValid ? "valid" : "invalid", picture.isFiring ? "firing" : nil,
            "interval = \(timer.interval.map(\.inMilliseconds) ?? "(once)")",
            "tolerance = \(Duration.nanoseconds(picture.tolerance).inMilliseconds)",
            "next fire = \(due.inMilliseconds) from now (\(timer.base) \(picture.fire))",
        ]
        return "<RunLoop.Timer \(timer.label)>{\(parts.compactMap { $0 }.joined(separator: ", "))}"
    }
}

extension Engine {
    /// The thread by its number, and whether it is the main one.
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
