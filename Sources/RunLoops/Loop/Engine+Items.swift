// Adding, removing and asking. All of it may be called by any thread, and from inside every callout.

extension Engine {
    // MARK: Adding

    /// The way of most timers: into one mode.
    ///
    /// With the rest of the rules for items that `add(_:in:)` has.
    package func add(_ timer: RunLoopTimer, toMode mode: RunLoopMode) {
        checkNotForked()
        requireHome(timer.home, of: timer, in: threadID)
        guard timer.claim(for: self) else { return }
        lock.lock()
        defer { lock.unlock() }
        guard timer.isValid, !isDead, timer.isOwned(by: self) else { return }
        let state = makeMode(mode)
        if !isIn(timer, state) { put(timer, in: state) }
    }

    /// Adds to a mode, or to all common modes and those that will be marked later.
    ///
    /// Invalid items and those of another loop are passed over, as Core Foundation does; adding twice is once.
    package func add(_ item: RunLoopItem, in mode: RunLoopMode) throws(RunLoopSystemCallError) {
        checkNotForked()
        requireHome(item.home, of: item, in: threadID)
        guard claim(item) else { return }
        let added = try lock.withLock { () throws(RunLoopSystemCallError) -> [RunLoopMode] in
            guard item.isValid, !isDead, isOurs(item) else { return [] }
            if mode != .common { return try put(item, in: mode) ? [mode] : [] }
            commonItems.insert(item)
            return try putInAll(item, commonModes)
        }
        tellScheduled(item, added)
    }

    /// Marks a mode as common: it gets all common items, and those that will come.
    package func addCommonMode(_ mode: RunLoopMode) throws(RunLoopSystemCallError) {
        checkNotForked()
        let added = try lock.withLock { () throws(RunLoopSystemCallError) -> [RunLoopItem] in
            if commonModes.contains(mode) || isDead { return [] }
            commonModes.append(mode)
            existingMode(mode)?.markCommon()
            var added: [RunLoopItem] = []
            for item in commonItems.all where item.isValid {
                if try put(item, in: mode) { added.append(item) }
            }
            return added
        }
        for item in added { tellScheduled(item, [mode]) }
    }

    /// Timers and observers belong to one loop at a time.
    ///
    /// Without a lock held.
    private func claim(_ item: RunLoopItem) -> Bool {
        item.asSingleLoopItem?.claim(for: self) ?? true
    }

    /// Whether another loop has not claimed the item meanwhile.
    ///
    /// With the lock held.
    private func isOurs(_ item: RunLoopItem) -> Bool {
        item.asSingleLoopItem.map { $0.isOwned(by: self) } ?? true
    }

    /// Puts an item into several modes, or, when the system refuses one, into none.
    private func putInAll(_ item: RunLoopItem, _ modes: [RunLoopMode]) throws(RunLoopSystemCallError) -> [RunLoopMode] {
        var done: [RunLoopMode] = []
        do {
            for mode in modes where try put(item, in: mode) { done.append(mode) }
        } catch {
            for mode in done { if let state = existingMode(mode) { take(item, outOf: state) } }
            _ = commonItems.remove(item)
            throw error
        }
        return done
    }

    /// Whether it was not there before.
    private func put(_ item: RunLoopItem, in mode: RunLoopMode) throws(RunLoopSystemCallError) -> Bool {
        let state = makeMode(mode)
        if holds(item, state) { return false }
        switch item.byKind {
        case .timer(let timer):
            put(timer, in: state)
        case .source(let source):
            state.add(source)
            source.join(self, mode, state.signals)
        case .port(let port):
            try state.add(port)
            port.join(self)
            portsChanged(in: state)
        case .observer(let observer):
            state.add(observer)
        }
        return true
    }

    /// A thread that waits does not see descriptors come and go: it looks again.
    func portsChanged(in state: ModeState) {
        if sleepingMode.mode == state.mode { portsOfSleeperChanged(state) }
    }

    private func tellScheduled(_ item: RunLoopItem, _ modes: [RunLoopMode]) {
        guard !modes.isEmpty, let source = item as? RunLoopSource, let scheduled = source.scheduled else { return }
        for mode in modes { scheduled(self, mode) }
    }

    // MARK: Removing

    /// Takes an item out of a mode, or, if it is a common item, out of all common modes.
    package func remove(_ item: RunLoopItem, from mode: RunLoopMode) {
        checkNotForked()
        let left = lock.withLock { () -> [RunLoopMode] in
            if mode != .common {
                guard let state = existingMode(mode) else { return [] }
                return take(item, outOf: state) ? [mode] : []
            }
            guard commonItems.remove(item) else { return [] }
            return commonModes.filter { mode in existingMode(mode).map { take(item, outOf: $0) } ?? false }
        }
        guard !left.isEmpty, let source = item as? RunLoopSource, let cancelled = source.cancelled else { return }
        for mode in left { cancelled(self, mode) }
    }

    /// Takes out an item that has become invalid.
    ///
    /// With the lock held.
    func discardItem(_ item: AnyObject) {
        // SAFETY: LoopCore.discard is called by items only.
        let item = unsafeDowncast(item, to: RunLoopItem.self)
        // An item that is in no mode stays where it is, as in Core Foundation: in the common items, if it is there.
        if case .timer(let timer) = item.byKind {
            if timer.bucket == .none { return }
            takeOut(timer)
        } else if modes.filter({ take(item, outOf: $0) }).isEmpty {
            return
        }
        _ = commonItems.remove(item)
    }

    /// Whether it was there.
    ///
    /// With the lock held.
    @discardableResult
    func take(_ item: RunLoopItem, outOf state: ModeState) -> Bool {
        guard holds(item, state) else { return false }
        switch item.byKind {
        case .timer(let timer):
            take(timer, outOf: state)
        case .source(let source):
            state.remove(source)
            source.leave(self, state.mode)
        case .port(let port):
            state.remove(port)
            portsChanged(in: state)
            if !modes.contains(where: { $0.ports.contains(port) }) { port.leave(self) }
        case .observer(let observer):
            state.remove(observer)
        }
        return true
    }

    // MARK: Asking

    package func contains(_ item: RunLoopItem, in mode: RunLoopMode) -> Bool {
        lock.withLock {
            if mode == .common { return commonItems.contains(item) && isInAnyMode(item) }
            return existingMode(mode).map { holds(item, $0) } ?? false
        }
    }

    /// A timer that was taken out of each mode by itself does not count as common any more, as in Core Foundation.
    private func isInAnyMode(_ item: RunLoopItem) -> Bool {
        if case .timer(let timer) = item.byKind { return timer.bucket != .none && timer.isOwned(by: self) }
        return true
    }

    private func holds(_ item: RunLoopItem, _ state: ModeState) -> Bool {
        switch item.byKind {
        case .timer(let timer): isIn(timer, state)
        case .source(let source): state.contains(source)
        case .port(let port): state.ports.contains(port)
        case .observer(let observer): state.contains(observer)
        }
    }

    func holdsItem(_ item: AnyObject) -> Bool {
        // SAFETY: LoopCore.holds is called by items only.
        let item = unsafeDowncast(item, to: RunLoopItem.self)
        return modes.contains { holds(item, $0) }
    }
}
