// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops

/// The expected state of a loop, in flat arrays that are searched from one end to the other: no heap, no bucket, no cell, no
/// number of a sequence that can overflow.
///
/// Modes and clocks are indices; a set of modes is a mask.
struct StateModel {
    static let modeCount = 3
    static let clocks: [RunLoop.ClockID] = [.monotonic, .boottime, .realtime]

    enum Entry: Equatable {
        case timer(Int)
        case closure(Int)
    }

    enum Item: Equatable {
        case timer(Int)
        case observer(Int)
        case descriptor(Int)
    }

    struct Timer {
        let clock: Int
        let interval: Int64
        var date: Int64
        var tolerance: Int64
        var modes = 0
        var sequence = 0
        var isValid = true
        var isListed = false
        var isFiring = false
        var isRestarted = false

        var slack: Int64 { tolerance - min(tolerance / 8, 1_000_000) }
        var isQueued: Bool { modes != 0 && !isFiring }
    }

    struct Closure {
        let mode: Int
        let date: Int64
        let sequence: Int
        var isListed = false
    }

    struct Observer {
        let order: Int
        let activities: RunLoop.Activities
        var isValid = true
        var modes = 0
        /// When the observer was added to each mode.
        var added = [0, 0, 0]
    }

    struct Descriptor {
        let descriptor: CInt
        var events: RunLoop.DescriptorEvents
        var isValid = true
        var modes = 0
        var added = [0, 0, 0]
    }

    struct Place {
        let entry: Entry
        let date: Int64
        var isListed = true
    }

    struct Serving {
        let mode: Int
        let limit: [Int64]
        var places: [Place] = []
        var next = 0
    }

    /// The next step of a serving.
    enum Step: Equatable {
        case call(Entry, date: Int64)
        case release(Int)
        case goOn
        case end
    }

    var timers: [Timer] = []
    /// The closures that wait, by number.
    var closures: [Int: Closure] = [:]
    var closuresMade = 0
    var observers: [Observer] = []
    var descriptors: [Descriptor] = []
    /// The modes that were made, and those that were marked, in that order.
    var modes = [0]
    var commonModes = [0]
    var commonItems: [Item] = []
    var servings: [Serving] = []
    /// The modes of the runs in progress.
    var runs: [Int] = []
    var isDead = false
    /// The mode and the limits of the sleep in progress, and whether the thread has to be woken by now.
    var sleep: (mode: Int, limit: [Int64])?
    var mustWake = false
    /// The number that the state has given to the newest entry; at its end the state numbers all entries anew.
    var stateSequence: UInt32 = 0
    private var count = 0

    // MARK: Sequences and lists

    private mutating func tick() -> Int {
        count += 1
        return count
    }

    private mutating func nextSequence() -> Int {
        if stateSequence == .max { putListedBack() }
        stateSequence &+= 1
        return tick()
    }

    /// Puts the listed entries back into their queues.
    mutating func putListedBack() {
        guard var serving = servings.popLast() else { return }
        for place in serving.next..<serving.places.count where serving.places[place].isListed {
            serving.places[place].isListed = false
            setListed(serving.places[place].entry, false)
        }
        servings.append(serving)
    }

    /// Whether the innermost serving has not come to the end of its list.
    var hasRest: Bool { servings.last.map { $0.next < $0.places.count } ?? false }

    private mutating func setListed(_ entry: Entry, _ isListed: Bool) {
        switch entry {
        case .timer(let number): timers[number].isListed = isListed
        case .closure(let number): closures[number]?.isListed = isListed
        }
    }

    /// Removes an entry from the list, if it is there; its place stays.
    private mutating func unlist(_ entry: Entry) {
        let isListed =
            switch entry {
            case .timer(let number): timers[number].isListed
            case .closure(let number): closures[number]?.isListed ?? false
            }
        guard isListed, !servings.isEmpty else { return }
        let last = servings.count - 1
        for place in servings[last].next..<servings[last].places.count
        where servings[last].places[place].entry == entry && servings[last].places[place].isListed {
            servings[last].places[place].isListed = false
        }
        setListed(entry, false)
    }

    /// A sleep ends if the new entry is before its end.
    private mutating func entryComes(_ latest: Int64, modes: Int, clock: Int) {
        if let sleep, modes & 1 << sleep.mode != 0, latest < sleep.limit[clock] { mustWake = true }
    }

    private mutating func enqueue(_ number: Int) {
        timers[number].sequence = nextSequence()
        entryComes(Self.latest(timers[number]), modes: timers[number].modes, clock: timers[number].clock)
    }

    private static func latest(_ timer: Timer) -> Int64 {
        let (sum, overflow) = timer.date.addingReportingOverflow(timer.slack)
        return overflow ? .max : sum
    }

    // MARK: Timers and closures

    mutating func setModes(_ modes: Int, ofTimer number: Int) {
        if timers[number].modes == modes { return }
        unlist(.timer(number))
        timers[number].modes = modes
        if timers[number].isQueued { enqueue(number) }
    }

    mutating func setDate(_ date: Int64, ofTimer number: Int) {
        guard timers[number].isQueued else {
            timers[number].date = date
            return
        }
        // A renumbering sees the timer where it was.
        let sequence = nextSequence()
        unlist(.timer(number))
        timers[number].date = date
        timers[number].sequence = sequence
        entryComes(Self.latest(timers[number]), modes: timers[number].modes, clock: timers[number].clock)
    }

    mutating func setTolerance(_ tolerance: Int64, ofTimer number: Int) {
        let interval = timers[number].interval
        timers[number].tolerance = interval > 0 ? min(tolerance, interval / 2) : tolerance
        // A listed timer keeps its turn.
        if timers[number].isQueued, !timers[number].isListed { enqueue(number) }
    }

    mutating func invalidate(timer number: Int) {
        guard timers[number].isValid else { return }
        timers[number].isValid = false
        if timers[number].modes != 0 { commonItems.removeAll { $0 == .timer(number) } }
        setModes(0, ofTimer: number)
    }

    mutating func addClosure(_ date: Int64, in mode: Int) -> Int {
        makeMode(mode)
        closures[closuresMade] = Closure(mode: mode, date: date, sequence: nextSequence())
        entryComes(date, modes: 1 << mode, clock: 0)
        closuresMade += 1
        return closuresMade - 1
    }

    /// Cancels a closure; returns whether it was waiting.
    mutating func cancel(closure number: Int) -> Bool {
        unlist(.closure(number))
        return closures.removeValue(forKey: number) != nil
    }

    // MARK: Modes and items

    mutating func makeMode(_ mode: Int) {
        if !modes.contains(mode) { modes.append(mode) }
    }

    func modes(of item: Item) -> Int {
        switch item {
        case .timer(let number): timers[number].modes
        case .observer(let number): observers[number].modes
        case .descriptor(let number): descriptors[number].modes
        }
    }

    func isValid(_ item: Item) -> Bool {
        switch item {
        case .timer(let number): timers[number].isValid
        case .observer(let number): observers[number].isValid
        case .descriptor(let number): descriptors[number].isValid
        }
    }

    /// Adds an item to some modes; a timer enters all of them in one step.
    mutating func enter(_ item: Item, _ new: [Int]) {
        for mode in new { makeMode(mode) }
        let mask = new.reduce(0) { $0 | 1 << $1 }
        switch item {
        case .timer(let number): setModes(timers[number].modes | mask, ofTimer: number)
        case .observer(let number):
            for mode in new where observers[number].modes & 1 << mode == 0 {
                observers[number].modes |= 1 << mode
                observers[number].added[mode] = tick()
            }
        case .descriptor(let number):
            for mode in new where descriptors[number].modes & 1 << mode == 0 {
                descriptors[number].modes |= 1 << mode
                descriptors[number].added[mode] = tick()
                descriptorsChange(in: mode)
            }
        }
    }

    mutating func leave(_ item: Item, _ mode: Int) {
        if modes(of: item) & 1 << mode == 0 { return }
        switch item {
        case .timer(let number): setModes(timers[number].modes & ~(1 << mode), ofTimer: number)
        case .observer(let number): observers[number].modes &= ~(1 << mode)
        case .descriptor(let number):
            descriptors[number].modes &= ~(1 << mode)
            descriptorsChange(in: mode)
        }
    }

    private mutating func descriptorsChange(in mode: Int) {
        if sleep?.mode == mode { mustWake = true }
    }

    mutating func eventsChange(ofDescriptor number: Int, to events: RunLoop.DescriptorEvents) {
        if descriptors[number].events == events { return }
        descriptors[number].events = events
        for mode in 0..<Self.modeCount where descriptors[number].modes & 1 << mode != 0 { descriptorsChange(in: mode) }
    }

    /// Adds an item to a mode, or to all common modes if `mode` is `nil`.
    mutating func add(_ item: Item, _ mode: Int?) {
        if mode == nil, !commonItems.contains(item) { commonItems.append(item) }
        enter(item, mode.map { [$0] } ?? commonModes)
    }

    mutating func remove(_ item: Item, _ mode: Int?) {
        if let mode { return leave(item, mode) }
        guard let index = commonItems.firstIndex(of: item) else { return }
        commonItems.remove(at: index)
        for mode in commonModes { leave(item, mode) }
    }

    mutating func invalidate(_ item: Item) {
        switch item {
        case .timer(let number): return invalidate(timer: number)
        case .observer(let number): observers[number].isValid = false
        case .descriptor(let number): descriptors[number].isValid = false
        }
        if modes(of: item) != 0 { commonItems.removeAll { $0 == item } }
        for mode in 0..<Self.modeCount { leave(item, mode) }
    }

    /// Whether an item is in a mode, or is a common item if `mode` is `nil`.
    func contains(_ item: Item, _ mode: Int?) -> Bool {
        if let mode { return modes(of: item) & 1 << mode != 0 }
        guard commonItems.contains(item) else { return false }
        if case .timer(let number) = item { return timers[number].modes != 0 }
        return true
    }

    mutating func markCommon(_ mode: Int) {
        if commonModes.contains(mode) { return }
        for item in commonItems where isValid(item) { enter(item, [mode]) }
        commonModes.append(mode)
        if sleep != nil { mustWake = true }
    }

    // MARK: Serving

    mutating func beginServing(_ mode: Int, _ limit: [Int64]) {
        servings.append(Serving(mode: mode, limit: limit))
    }

    /// Lists up to `count` entries that are due, in the order of their dates as the monotonic clock shows them; returns whether
    /// there were so many.
    mutating func list(_ count: Int) -> Bool {
        let last = servings.count - 1
        let (mode, limit) = (servings[last].mode, servings[last].limit)
        for _ in 0..<count {
            var first: (date: Int64, sequence: Int, entry: Entry, own: Int64)?
            func consider(_ entry: Entry, _ date: Int64, _ sequence: Int, _ clock: Int) {
                guard date <= limit[clock] else { return }
                let shown = date &+ (limit[0] &- limit[clock])
                if let first, (first.date, first.sequence) < (shown, sequence) { return }
                first = (shown, sequence, entry, date)
            }
            for (number, timer) in timers.enumerated()
            where timer.isQueued && !timer.isListed && timer.modes & 1 << mode != 0 {
                consider(.timer(number), timer.date, timer.sequence, timer.clock)
            }
            for (number, closure) in closures where closure.mode == mode && !closure.isListed {
                consider(.closure(number), closure.date, closure.sequence, 0)
            }
            guard let first else { return false }
            servings[last].places.append(Place(entry: first.entry, date: first.own))
            setListed(first.entry, true)
        }
        return true
    }

    /// The next step of the innermost serving.
    mutating func nextStep(_ now: [Int64]) -> Step {
        let last = servings.count - 1
        guard servings[last].next < servings[last].places.count else {
            servings.removeLast()
            return .end
        }
        let place = servings[last].places[servings[last].next]
        servings[last].next += 1
        if isDead { return .goOn }
        switch place.entry {
        case .timer(let number):
            let timer = timers[number]
            // A timer that has lost its place, or was put back, fires if it is still due.
            if !place.isListed, !timer.isValid || !timer.isQueued || timer.date > now[timer.clock] {
                return .release(number)
            }
            unlist(place.entry)
            timers[number].isListed = false
            timers[number].isFiring = true
            timers[number].isRestarted = false
            return .call(place.entry, date: timer.date)
        case .closure(let number):
            return closures.removeValue(forKey: number) == nil ? .goOn : .call(place.entry, date: place.date)
        }
    }

    /// Ends the callout of a timer that was served at `date`.
    mutating func settle(_ number: Int, _ date: Int64, _ now: [Int64]) {
        timers[number].isFiring = false
        guard timers[number].isValid else { return }
        let timer = timers[number]
        guard timer.interval > 0 || timer.isRestarted else { return invalidate(timer: number) }
        if timer.interval > 0, !timer.isRestarted, timer.date <= date {
            let behind = max(0, now[timer.clock] - date)
            timers[number].date = date + (behind / timer.interval + 1) * timer.interval
        }
        timers[number].isRestarted = false
        if timer.modes != 0 { enqueue(number) }
    }

    mutating func end() {
        isDead = true
        for number in timers.indices { (timers[number].modes, timers[number].isListed) = (0, false) }
        for number in observers.indices { observers[number].modes = 0 }
        for number in descriptors.indices { descriptors[number].modes = 0 }
        closures = [:]
        commonItems = []
    }

    // MARK: What is expected of each mode

    /// The timers and closures of the state that are in the same modes and count on the same clock.
    private struct Group {
        var count = 0
        var first = Int64.max
        var limit = Int64.max
        mutating func add(_ date: Int64, _ latest: Int64) {
            first = min(first, date)
            limit = min(limit, latest)
        }
    }

    struct ModeFigures {
        var limit = [Int64.max, .max, .max]
        var hasTimers = false
        var hasItems = false
        /// Whether timers are to be served, if the thread would sleep otherwise, and if it is awake anyway.
        var isReady = false
        var isReadyAwake = false
        /// The time until the next date, timers whose callouts are under way included.
        var distance: Int64?
    }

    /// The number of different sets of modes and clocks, without those of one timer alone.
    func sets(without number: Int? = nil) -> Int {
        var found = Set<Int>()
        for (other, timer) in timers.enumerated() where timer.modes != 0 && other != number {
            found.insert(timer.modes * 3 + timer.clock)
        }
        for closure in closures.values { found.insert((1 << closure.mode) * 3) }
        return found.count
    }

    func figures(_ now: [Int64]) -> [ModeFigures] {
        var groups = [Group](repeating: Group(), count: 8 * 3)
        var figures = [ModeFigures](repeating: ModeFigures(), count: Self.modeCount)
        for timer in timers where timer.modes != 0 {
            let key = timer.modes * 3 + timer.clock
            groups[key].count += 1
            if !timer.isFiring {
                groups[key].add(timer.date, timer.isListed ? timer.date : Self.latest(timer))
            } else {
                for mode in 0..<Self.modeCount where timer.modes & 1 << mode != 0 {
                    Self.consider(timer.date, now[timer.clock], &figures[mode])
                }
            }
        }
        for closure in closures.values {
            groups[(1 << closure.mode) * 3].count += 1
            groups[(1 << closure.mode) * 3].add(closure.date, closure.date)
        }
        for key in groups.indices where groups[key].count > 0 {
            let (group, clock) = (groups[key], key % 3)
            let isDue = group.first <= now[clock] && group.first < .max
            for mode in 0..<Self.modeCount where key / 3 & 1 << mode != 0 {
                figures[mode].hasTimers = true
                figures[mode].limit[clock] = min(figures[mode].limit[clock], group.limit)
                if isDue { figures[mode].isReadyAwake = true }
                if isDue, group.limit <= now[clock] { figures[mode].isReady = true }
            }
        }
        for timer in timers where timer.isQueued {
            for mode in 0..<Self.modeCount where timer.modes & 1 << mode != 0 {
                Self.consider(timer.date, now[timer.clock], &figures[mode])
            }
        }
        for closure in closures.values { Self.consider(closure.date, now[0], &figures[closure.mode]) }
        for mode in 0..<Self.modeCount {
            figures[mode].hasItems =
                figures[mode].hasTimers || descriptors.contains { $0.modes & 1 << mode != 0 }
        }
        return figures
    }

    private static func consider(_ date: Int64, _ now: Int64, _ figures: inout ModeFigures) {
        let (difference, overflow) = date.subtractingReportingOverflow(now)
        let distance = overflow ? (date < 0 ? Int64.min : .max) : difference
        figures.distance = min(figures.distance ?? .max, distance)
    }

    /// The observers of a mode, in the order in which they are called.
    func observers(in mode: Int) -> [Int] {
        observers.indices.filter { observers[$0].modes & 1 << mode != 0 }
            .sorted {
                (observers[$0].order, observers[$0].added[mode]) < (observers[$1].order, observers[$1].added[mode])
            }
    }

    /// The descriptor sources of a mode on a descriptor, in the order in which they were added.
    func sources(on descriptor: CInt, in mode: Int) -> [Int] {
        descriptors.indices.filter {
            descriptors[$0].descriptor == descriptor && descriptors[$0].modes & 1 << mode != 0
        }
        .sorted { descriptors[$0].added[mode] < descriptors[$1].added[mode] }
    }
}
