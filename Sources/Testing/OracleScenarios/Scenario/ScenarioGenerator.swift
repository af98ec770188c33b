// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Makes random scenarios for which both loops must have the same trace.
///
/// Comments in the generator say what it leaves out on purpose; `KeptDifference` lists what is left out because of a
/// difference between the loops and not because of a race in the scenario.
package struct ScenarioGenerator {
    var random: SplitMix64
    var scenario: Scenario
    /// Observers that may be common items.
    ///
    /// Each has an order of its own, because the real loop copies common items to a newly marked mode in the order of a
    /// hash table.
    var commonObservers: Set<Int> = []
    /// The slots to which no timer was set yet; every slot is used once, so that no two timers are due at the same
    /// moment.
    var freeSlots: [Int] = []
    /// The timer that repeats at slots, if there is one: it uses the even slots, the other timers use the odd ones.
    var slotRepeater: Int?
    /// The item to whose script the action that is being made belongs; nil for other actions.
    var owner: ItemName?

    private init(seed: UInt64, number: Int) {
        random = SplitMix64(seed: seed, number: number)
        scenario = Scenario(seed: seed, number: number)
    }

    /// Returns scenario `number` of `seed`.
    ///
    /// If `mainThread` is false, a scenario of the main thread becomes a scenario of a thread of its own.
    package static func scenario(_ number: Int, seed: UInt64, mainThread: Bool) -> Scenario {
        var generator = ScenarioGenerator(seed: seed, number: number)
        generator.makeFrame(mainThread: mainThread)
        generator.makeItems()
        generator.makeScripts()
        generator.makeBody()
        generator.makeOtherThread()
        return generator.scenario
    }

    private mutating func makeFrame(mainThread: Bool) {
        scenario.onMainThread = random.chance(15) && mainThread
        let time = random.upTo(99)
        scenario.timing = time < 76 ? .still : time < 90 ? .slots : .limits
        scenario.modeCount = 1 + random.upTo(2)
        freeSlots = stride(from: 1, through: 11, by: 2).shuffled(using: &random)
    }

    private mutating func makeItems() {
        for _ in 0..<random.upTo(4) {
            scenario.sources.append(
                .init(
                    order: random.pick([-1, 0, 0, 0, 1, 2]), tellsScheduling: random.chance(60),
                    signalsWhenScheduled: random.chance(15), script: []))
        }
        if random.chance(25) {
            // One, because the order among several that are ready is epoll's own, and differs between edge-triggered
            // descriptors there and level-triggered ones here.
            scenario.descriptors.append(.init(order: random.upTo(1), script: []))
        }
        // The kernel does not tell since when a descriptor has been ready, so that who goes first of a descriptor
        // source and anything else is not compared (`KeptDifference`): a scenario has descriptor sources, or timers and
        // a queue.
        if !scenario.descriptors.isEmpty, scenario.timing == .slots { scenario.timing = .still }
        if scenario.descriptors.isEmpty, random.chance(65) || scenario.timing == .slots { makeTimers() }
        makeObservers()
        scenario.blocks = Array(repeating: [], count: random.upTo(4))
        if scenario.onMainThread, scenario.descriptors.isEmpty {
            scenario.queueItems = Array(repeating: [], count: 1 + random.upTo(2))
        }
    }

    private mutating func makeTimers() {
        scenario.hasSentinels = random.chance(75)
        // Without a sentinel one timer a mode: while the second of two timers that are due is served, the real one has
        // armed the descriptor for it already, and makes an empty turn afterwards.
        let most = scenario.hasSentinels ? 4 : scenario.modeCount
        for index in 0..<(1 + random.upTo(most - 1)) {
            var interval: Scenario.Timer.Interval = random.chance(30) ? .hour : .none
            var first = makeDate()
            if scenario.timing == .slots, slotRepeater == nil, random.chance(40) {
                slotRepeater = index
                interval = .slots(2)
                first = .slot(2)
            }
            scenario.timers.append(.init(first: first, interval: interval, script: []))
        }
    }

    /// Makes a date for a timer that does not repeat at slots.
    mutating func makeDate() -> FireDate {
        let roll = random.upTo(99)
        if scenario.timing == .slots, roll < 60, let slot = freeSlots.popLast() { return .slot(slot) }
        return roll < 40 ? .past(random.upTo(20)) : roll < 70 ? .now : .far(random.upTo(30))
    }

    private mutating func makeObservers() {
        let count = random.upTo(4)
        let distinct = (0...count).map { $0 - 1 }.shuffled(using: &random)
        for index in 0..<count {
            let isCommon = random.chance(40)
            if isCommon { commonObservers.insert(index) }
            scenario.observers.append(
                .init(
                    activities: makeActivities(), order: isCommon ? distinct[index] : random.upTo(3) - 1,
                    repeats: random.chance(75), script: []))
        }
        // An observer that sees every turn, in most scenarios: its lines show turns in which nothing else happens.
        if random.chance(70) {
            scenario.observers.append(
                .init(activities: 0x0FFF_FFFF, order: random.pick([-9, 9]), repeats: true, script: []))
        }
    }

    private mutating func makeActivities() -> UInt {
        if random.chance(25) { return 0x0FFF_FFFF }
        let all: [UInt] = [1, 2, 4, 32, 64, 128]
        let one = random.pick(all)
        return random.chance(50) ? one : one | random.pick(all)
    }

    private mutating func makeScripts() {
        for index in scenario.sources.indices {
            owner = .source(index)
            scenario.sources[index].script = makeScript(calls: 3)
        }
        for index in scenario.descriptors.indices {
            owner = .descriptor(index)
            scenario.descriptors[index].script = makeScript(calls: 3)
        }
        for index in scenario.timers.indices {
            owner = .timer(index)
            scenario.timers[index].script = makeScript(calls: 2)
            if index == slotRepeater {
                // Ends by itself: the other thread does not act while a timer is about to fire.
                while scenario.timers[index].script.count < 3 { scenario.timers[index].script.append([]) }
                scenario.timers[index].script[2].append(.invalidate(.timer(index)))
            }
        }
        for index in scenario.observers.indices {
            owner = .observer(index)
            scenario.observers[index].script = makeScript(calls: 4)
        }
        owner = nil
        for index in scenario.blocks.indices { scenario.blocks[index] = makeScript(calls: 2) }
        for index in scenario.queueItems.indices { scenario.queueItems[index] = makeScript(calls: 2) }
    }

    private mutating func makeScript(calls: Int) -> Script {
        guard random.chance(70) else { return [] }
        return (0...random.upTo(calls - 1)).map { _ in
            random.chance(70) ? (0...random.upTo(2)).map { _ in makeAction() } : []
        }
    }

    private mutating func makeBody() {
        var setUp: [Action] = []
        for index in scenario.sources.indices where random.chance(85) { setUp += adds(.source(index)) }
        for index in scenario.descriptors.indices where random.chance(85) { setUp += adds(.descriptor(index)) }
        for index in scenario.timers.indices where random.chance(85) { setUp += adds(.timer(index)) }
        for index in scenario.observers.indices where random.chance(85) { setUp += adds(.observer(index)) }
        for _ in 0..<random.upTo(4) { setUp.append(makeAction(runs: false)) }
        for index in scenario.sources.indices where random.chance(50) { setUp.append(.signal(index)) }
        for index in scenario.blocks.indices where random.chance(50) {
            setUp.append(.perform(block: index, makeModes()))
        }
        for index in scenario.queueItems.indices where random.chance(70) { setUp.append(.queue(index)) }
        setUp.shuffle(using: &random)
        scenario.body = setUp
        for _ in 0...random.upTo(2) {
            scenario.body.append(makeRun())
            for _ in 0..<random.upTo(3) { scenario.body.append(makeAction(runs: false)) }
        }
        scenario.body.append(makeRun())
    }

    private mutating func adds(_ item: ItemName) -> [Action] {
        // The observer that sees every turn is the last, and in every mode.
        if case .observer(let index) = item, abs(scenario.observers[index].order) == 9 {
            return (0..<scenario.modeCount).map { .add(item, .mode($0)) }
        }
        return (0...random.upTo(1)).compactMap { _ in place(item).map { .add(item, $0) } }
    }

    private mutating func makeOtherThread() {
        // How long its steps take is not the same twice, and slots are short.
        if scenario.timing == .slots { return }
        for _ in 0..<random.upTo(3) {
            var step = (0..<random.upTo(2)).compactMap { _ in makeQuietAction() }
            step.append(makeWakingAction())
            scenario.otherThread.append(step)
        }
    }
}
