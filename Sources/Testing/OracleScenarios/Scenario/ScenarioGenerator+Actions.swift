// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension ScenarioGenerator {
    /// Makes an action that is allowed everywhere on the loop's own thread.
    mutating func makeAction(runs: Bool = true) -> Action {
        for _ in 0..<8 {
            if let action = tryAction(runs: runs) { return action }
        }
        return .askCurrentMode
    }

    private mutating func tryAction(runs: Bool) -> Action? {
        switch random.upTo(99) {
        case 0..<12: return index(scenario.sources).map { .signal($0) }
        case 12..<17: return mayLeaveWakeUp ? .wakeUp : nil
        case 17..<22: return mayLeaveWakeUp ? .stop : nil
        case 22..<33: return index(scenario.blocks).map { .perform(block: $0, makeModes()) }
        case 33..<42: return makeItem().flatMap { item in place(item).map { .add(item, $0) } }
        case 42..<50: return makeItem().flatMap { item in mayLeave(item) ? .remove(item, anyPlace()) : nil }
        case 50..<55: return makeItem().flatMap { item in mayLeave(item) ? .invalidate(item) : nil }
        case 55..<62: return runs ? makeRun() : nil
        case 62..<68: return makeSetFireDate()
        case 68..<70: return .markCommon(random.upTo(scenario.modeCount - 1))
        case 70..<75: return index(scenario.descriptors).map { .trigger(descriptor: $0) }
        case 75..<80: return index(scenario.queueItems).map { .queue($0) }
        default: return makeQuestion()
        }
    }

    /// Whether the action that is being made may leave a wake-up: always in callouts of descriptor sources and timers,
    /// elsewhere only in scenarios without descriptor sources and without limits that are reached.
    ///
    /// In a callout of a descriptor source, a wake-up is skipped and cannot compete with a descriptor. If limits are
    /// reached, the helper timer of the real loop has registered for wake-ups in every mode (`KeptDifference`).
    private var mayLeaveWakeUp: Bool {
        switch owner {
        case .descriptor, .timer: true
        default: scenario.descriptors.isEmpty && scenario.timing != .limits
        }
    }

    private mutating func makeQuestion() -> Action? {
        switch random.upTo(4) {
        case 0: makeItem().map { .askContains($0, anyPlace()) }
        case 1: makeItem().map { .askValid($0) }
        case 2: index(scenario.sources).map { .askSignalled($0) }
        case 3: .askCurrentMode
        default: .askNextFireDate(.mode(random.upTo(scenario.modeCount - 1)))
        }
    }

    mutating func makeRun() -> Action {
        let roll = random.upTo(99)
        var limit: RunLimit = roll < 45 ? .zero : roll < 55 ? .large : .unlimited
        if scenario.timing == .limits, random.chance(40) { limit = .slots(2 + random.upTo(3)) }
        // The default mode more often than the others: it is where most items are.
        let mode: ModeName =
            random.chance(1) ? .common : .mode(random.chance(40) ? 0 : random.upTo(scenario.modeCount - 1))
        return .run(mode, limit, returnsAfterSource: random.chance(30))
    }

    mutating func makeModes() -> [ModeName] {
        let roll = random.upTo(99)
        if roll < 30 { return [.common] }
        if roll < 75 { return [.mode(random.upTo(scenario.modeCount - 1))] }
        return [anyPlace(), .mode(random.upTo(scenario.modeCount - 1))]
    }

    private mutating func makeSetFireDate() -> Action? {
        // Without a sentinel a timer that is moved leaves its old date in the descriptor.
        guard scenario.hasSentinels, let timer = index(scenario.timers) else { return nil }
        // The timer that repeats at slots would leave its own slots.
        if timer == slotRepeater { return .setFireDate(timer: timer, .far(random.upTo(30))) }
        return .setFireDate(timer: timer, makeDate())
    }

    /// Makes an action of the other thread that does not wake the sleeping loop.
    mutating func makeQuietAction() -> Action? {
        switch random.upTo(6) {
        case 0, 1: return index(scenario.sources).map { .signal($0) }
        case 2, 3: return index(scenario.blocks).map { .perform(block: $0, makeModes()) }
        case 4: return makeItem().flatMap { item in mayLeave(item) ? .remove(item, anyPlace()) : nil }
        case 5: return makeItem().flatMap { item in mayLeave(item) ? .invalidate(item) : nil }
        default:
            // A source that is added, or an observer; a descriptor source or a timer might wake the loop.
            guard let source = index(scenario.sources) else { return nil }
            return .add(.source(source), anyPlace())
        }
    }

    /// Makes the last action of the other thread's step, which wakes the loop; there is only one, because two would
    /// race the loop.
    ///
    /// The action sets no fire date: the real loop wakes for each new date, whether this is needed or not
    /// (`KeptDifference`).
    mutating func makeWakingAction() -> Action {
        switch random.upTo(9) {
        case 0: .stop
        case 1, 2: index(scenario.descriptors).map { .trigger(descriptor: $0) } ?? .wakeUp
        case 3:
            index(scenario.timers).flatMap { timer in place(.timer(timer)).map { .add(.timer(timer), $0) } } ?? .wakeUp
        case 4: index(scenario.queueItems).map { .queue($0) } ?? .wakeUp
        default: .wakeUp
        }
    }
}

// MARK: - Parts of actions

extension ScenarioGenerator {
    private mutating func index<Item>(_ items: [Item]) -> Int? {
        items.isEmpty ? nil : random.upTo(items.count - 1)
    }

    private mutating func makeItem() -> ItemName? {
        // A callout is most interesting when it does something to the item that is being called.
        if let owner, random.chance(25) { return owner }
        switch random.upTo(9) {
        case 0..<4: return index(scenario.sources).map { .source($0) }
        case 4..<7: return index(scenario.observers).map { .observer($0) }
        case 7..<9: return index(scenario.timers).map { .timer($0) }
        default: return index(scenario.descriptors).map { .descriptor($0) }
        }
    }

    private mutating func anyPlace() -> ModeName {
        random.chance(30) ? .common : .mode(random.upTo(scenario.modeCount - 1))
    }

    /// Returns the mode to which `item` may be added; nil if there is none.
    mutating func place(_ item: ItemName) -> ModeName? {
        switch item {
        case .observer(let index) where !commonObservers.contains(index):
            .mode(random.upTo(scenario.modeCount - 1))
        case .timer(let index) where !scenario.hasSentinels:
            .mode(index % scenario.modeCount)
        case .timer where scenario.onMainThread && scenario.timing == .slots:
            // The main loop has the common modes of all scenarios before: adding a timer to them takes slots.
            .mode(random.upTo(scenario.modeCount - 1))
        default: anyPlace()
        }
    }

    /// Whether a random action may remove or invalidate `item`: a timer only in a scenario with sentinels.
    ///
    /// Without sentinels, timers are invalidated only inside their own callback. The observers that see every turn are
    /// never removed.
    private func mayLeave(_ item: ItemName) -> Bool {
        switch item {
        case .timer: scenario.hasSentinels
        case .observer(let index): abs(scenario.observers[index].order) != 9
        default: true
        }
    }
}
