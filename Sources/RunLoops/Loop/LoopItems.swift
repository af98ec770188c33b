/// What is in which mode of a loop at one instant, for those who look for items that nothing comes to.
package struct LoopItems: Sendable, Equatable {
    /// One item with all its places.
    package struct Entry: Sendable, Equatable {
        package enum Kind: String, Sendable {
            case timer, source, port, observer
        }

        package var kind: Kind
        package var label: String
        /// In the order in which the modes were made.
        package var modes: [RunLoopMode]
        /// Whether it was added to the common modes.
        package var isCommon: Bool

        package init(kind: Kind, label: String, modes: [RunLoopMode], isCommon: Bool) {
            self.kind = kind
            self.label = label
            self.modes = modes
            self.isCommon = isCommon
        }
    }

    /// A source that was signalled, and whose loop sleeps in one of its modes with no wake-up on its way.
    package struct Unserved: Sendable, Equatable {
        package var label: String
        /// In nanoseconds of the monotonic clock.
        package var since: Int64

        package init(label: String, since: Int64) {
            self.label = label
            self.since = since
        }
    }

    package var entries: [Entry]
    package var unserved: [Unserved]

    package init(entries: [Entry], unserved: [Unserved] = []) {
        self.entries = entries
        self.unserved = unserved
    }
}

extension Engine {
    /// Loops with more timers than this are not looked into: the lock would be held for too long.
    private static let mostTimers = 4096

    /// What is in which mode now; `nil` after the thread's end, and for a loop that has very much in it.
    ///
    /// Any thread. Complexity: O(n) in the items.
    package func itemsInModes() -> LoopItems? {
        guard let (places, asleep) = lock.withLock({ places() }) else { return nil }
        // Labels are made strings after the lock is given back.
        let entries = places.map { place in
            LoopItems.Entry(
                kind: place.item.nameOfKind, label: place.item.label, modes: place.modes, isCommon: place.isCommon)
        }
        let unserved = asleep.compactMap { source -> LoopItems.Unserved? in
            guard case let stamp = source.signalStamp, stamp != 0, let wait = LoopWait(signal: stamp) else {
                return nil
            }
            return LoopItems.Unserved(label: source.label, since: wait.since)
        }
        return LoopItems(entries: entries, unserved: unserved)
    }

    private typealias Place = (item: RunLoopItem, modes: [RunLoopMode], isCommon: Bool)

    /// Every item with its modes, and the sources of the mode that the thread sleeps in for good.
    ///
    /// With the lock held.
    private func places() -> ([Place], asleep: [RunLoopSource])? {
        if isDead || timerBuckets.reduce(0, { $0 + $1.queue.count }) > Self.mostTimers { return nil }
        var places: [Place] = []
        var indices: [ObjectIdentifier: Int] = [:]
        func add(_ item: RunLoopItem, _ mode: RunLoopMode) {
            if let index = indices[ObjectIdentifier(item)] { return places[index].modes.append(mode) }
            indices[ObjectIdentifier(item)] = places.count
            places.append((item, [mode], commonItems.contains(item)))
        }
        for state in modes {
            for source in state.sources.values.sorted(by: { $0.number < $1.number }) { add(source.source, state.mode) }
            for port in state.ports.sources { add(port, state.mode) }
            for observer in state.observers { add(observer, state.mode) }
            for timer in firingTimers where isIn(timer, state) { add(timer, state.mode) }
            for bucket in state.timerBuckets {
                for due in bucket.queue.all { add(due.timer, state.mode) }
            }
        }
        let asleep = wakeWord.wakeUp == nil ? sleepingMode.mode.flatMap(existingMode) : nil
        return (places, asleep?.sources.values.map(\.source) ?? [])
    }
}

extension RunLoopItem {
    fileprivate var nameOfKind: LoopItems.Entry.Kind {
        switch kind {
        case .timer: .timer
        case .source: .source
        case .port: .port
        case .observer: .observer
        }
    }
}
