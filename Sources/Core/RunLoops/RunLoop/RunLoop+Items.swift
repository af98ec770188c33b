// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

extension RunLoop {
    // MARK: Adding

    /// Adds a timer to `mode`, or, with `.common`, to all common modes, including modes that are marked as common
    /// later.
    ///
    /// A timer is in one loop at most. Adding a timer twice is the same as adding it once. If the loop sleeps and the
    /// timer is due before the end of the sleep, the call shortens the sleep. **Delays count from the creation of the
    /// timer, not from its addition**: a timer whose date has passed before it is added fires in the next turn.
    ///
    /// - Returns: Whether the timer is in `mode` now: `false` if the timer is invalid, or if the loop's thread has ended.
    ///
    /// Corresponds to `CFRunLoopAddTimer`, which does nothing if the timer is in another loop.
    /// - Precondition: the timer is in no mode of another loop, and its closure may run on this loop's thread. The loop's
    ///   timers are in at most 65,535 different sets of modes and clocks at the same time; one more traps.
    /// - Complexity: O(log n) in the timers of the mode. With `.common` also O(m²) in the modes of the loop: a
    ///   millisecond for a thousand modes.
    @discardableResult
    public func add(_ timer: Timer, in mode: Mode) -> Bool {
        if mode == .common { return addWithoutDescriptor(timer, mode) }
        checkNotForked()
        requireAllowedThread(timer.allowedThread, of: timer, in: threadID)
        guard timer.owner.claimUnowned(for: memory.lock) || timer.claim(for: memory.lock) else {
            trapInOtherLoop(timer)
        }
        return withState { state in
            guard timer.isValid, !state.isDead, timer.owner.isHeld(by: memory.lock) else { return false }
            let mode = state.makeMode(mode)
            if !state.isIn(timer, mode) { state.put(timer, in: mode) }
            return true
        }
    }

    /// Adds a source to `mode`, or, with `.common`, to all common modes, including modes that are marked as common
    /// later.
    ///
    /// The source's schedule closure is called for each mode that the source was not in before.
    ///
    /// - Returns: Whether the source is in `mode` now: `false` if the source is invalid, or if the loop's thread has
    ///   ended.
    ///
    /// Corresponds to `CFRunLoopAddSource`.
    /// - Precondition: the source's closure may run on this loop's thread.
    /// - Complexity: O(1).
    @discardableResult
    public func add(_ source: Source, in mode: Mode) -> Bool { addWithoutDescriptor(source, mode) }

    /// Adds an observer to `mode`, or, with `.common`, to all common modes, including modes that are marked as common
    /// later.
    ///
    /// An observer is in one loop at most.
    ///
    /// - Returns: Whether the observer is in `mode` now: `false` if the observer is invalid, or if the loop's thread has
    ///   ended.
    ///
    /// Corresponds to `CFRunLoopAddObserver`, which does nothing if the observer is in another loop.
    /// - Precondition: the observer is in no mode of another loop, and its closure may run on this loop's thread.
    /// - Complexity: O(1). The next activity that one of n observers asks for sorts the observers again, in O(n log n).
    @discardableResult
    public func add(_ observer: Observer, in mode: Mode) -> Bool { addWithoutDescriptor(observer, mode) }

    /// Adds a descriptor source to `mode`, or, with `.common`, to all common modes, including modes that are marked as
    /// common later.
    ///
    /// Several descriptor sources on one descriptor are each called for the events that they ask for. If the system
    /// refuses to add the source to one of the common modes, the call changes nothing: the source stays in the modes
    /// that it was in before, and stays a common item if it was one.
    ///
    /// - Returns: Whether the source is in `mode` now: `false` if the source is invalid, or if the loop's thread has
    ///   ended.
    /// - Throws: The error of `epoll_ctl(2)`, `epoll_create1(2)` or `eventfd(2)`: `EBADF` for a descriptor that is not
    ///   open; `EMFILE`, `ENFILE`, `ENOMEM` and `ENOSPC` when a resource of the system is exhausted.
    ///
    /// Corresponds to `CFRunLoopAddSource`.
    /// - Precondition: the source's closure may run on this loop's thread.
    /// - Complexity: O(1) and one system call.
    @discardableResult
    public func add(_ source: DescriptorSource, in mode: Mode) throws(SystemCallError) -> Bool {
        try add(item: source, mode)
    }

    private func addWithoutDescriptor(_ item: Item, _ mode: Mode) -> Bool {
        withoutDescriptor { () throws(SystemCallError) in try add(item: item, mode) }
    }

    private func withoutDescriptor(_ add: () throws(SystemCallError) -> Bool) -> Bool {
        do { return try add() } catch {
            preconditionFailure("Only descriptor sources ask something of the system: \(error)")
        }
    }

    /// Adds a timer or an observer, and returns false if another loop has it in one of its modes.
    ///
    /// For functions with the names of Core Foundation and Foundation, which do not trap then.
    @discardableResult
    package func addUnlessElsewhere(_ item: Item, in mode: Mode) -> Bool {
        checkNotForked()
        requireAllowedThread(item.allowedThread, of: item, in: threadID)
        guard item.claim(for: memory.lock) else { return false }
        return withoutDescriptor { () throws(SystemCallError) in try addClaimed(item, mode) }
    }

    private func add(item: Item, _ name: Mode) throws(SystemCallError) -> Bool {
        checkNotForked()
        requireAllowedThread(item.allowedThread, of: item, in: threadID)
        guard item.claim(for: memory.lock) else { trapInOtherLoop(item) }
        return try addClaimed(item, name)
    }

    private func addClaimed(_ item: Item, _ name: Mode) throws(SystemCallError) -> Bool {
        var entered: [Mode] = []
        let isIn = try withState { (state) throws(SystemCallError) in try state.add(item, in: name, &entered) }
        (item as? Source)?.hasEntered(entered, of: self)
        return isIn
    }

    private func trapInOtherLoop(_ item: Item) -> Never {
        fatalError(
            """
            \(item) is in a mode of another loop and cannot be added to the loop of thread \(threadID): remove it from the \
            modes of that loop first, or make one for each loop.
            """)
    }

    /// Marks `mode` as common: the mode gets the items that were added to the common modes before, and items that are
    /// added later.
    ///
    /// A mode cannot be unmarked. On the main loop the mode serves the main queue from its next run on; the call makes the
    /// descriptor that this run needs.
    ///
    /// - Throws: The error of `epoll_ctl(2)`, `epoll_create1(2)` or `eventfd(2)`: `EMFILE`, `ENFILE`, `ENOMEM` and `ENOSPC`
    ///   when a resource of the system is exhausted. In that case the call changes nothing.
    ///
    /// Corresponds to `CFRunLoopAddCommonMode`.
    /// - Precondition: `mode` is not `.common`, which stands for all marked modes.
    /// - Complexity: O(n·m) for n common timers in m common modes, and O(n) for n other common items.
    public func addCommonMode(_ mode: Mode) throws(SystemCallError) {
        checkNotForked()
        requireOneMode(mode)
        // Some common items may be in no mode of this loop. Such a timer or observer belongs to another loop now, or
        // did and is added to this loop again.
        for item in withState({ $0.commonItems.all }) { _ = item.claim(for: memory.lock) }
        var entered: [Item] = []
        try withState { (state) throws(SystemCallError) in
            try state.addCommonMode(mode, reservesReadiness: mainQueue != nil, &entered)
        }
        for item in entered { (item as? Source)?.hasEntered([mode], of: self) }
    }

    /// Traps if `mode` stands for all common modes, where one mode has to be named.
    func requireOneMode(_ mode: Mode) {
        require(
            mode != .common, "Common is a mark on modes, not a mode: name one of the marked modes, such as .default.")
    }

    // MARK: Removing

    /// Removes an item from `mode`, or, with `.common`, from all common modes if it was added to the common modes.
    ///
    /// A source's cancel closure is called for each mode that the source is removed from. The item stays valid and can
    /// be added again. The call is allowed in every callout, and takes effect before the next turn of the mode.
    /// Corresponds to `CFRunLoopRemoveTimer` and similar calls.
    /// - Complexity: as for adding.
    public func remove(_ item: Item, from mode: Mode) {
        checkNotForked()
        let left = withState { $0.remove(item, from: mode) }
        (item as? Source)?.hasLeft(left, of: self)
    }

    /// Calls a descriptor source whose events the system has refused, unless the source is in no mode by now.
    fileprivate func callRefused(_ source: DescriptorSource) {
        guard withState({ $0.isInMode(source) }) else { return }
        _ = call(source, .error, now(.monotonic))
    }

    // MARK: Asking

    /// Whether `item` is in `mode`, or, for `.common`, was added to the common modes.
    ///
    /// Corresponds to `CFRunLoopContainsTimer` and similar calls.
    public func contains(_ item: Item, in mode: Mode) -> Bool {
        withState { $0.contains(item, in: mode) }
    }

    /// Returns whether a run in `mode` would end at once, because the mode has no source, no timer, and no closure that
    /// could run.
    ///
    /// Observers do not count. On the main loop the main queue counts in every common mode.
    ///
    /// - Precondition: called on the loop's own thread; any other traps. `mode` is not `.common`, in which no loop can run.
    /// - Complexity: O(n) in the closures that wait for another mode.
    @available(*, noasync, message: "A task has no thread of its own: ask in a closure of perform(_:).")
    public func isEmpty(in mode: Mode) -> Bool {
        requireOwnThread()
        requireOneMode(mode)
        guard let mode = modeToRun(mode) else {
            return true
        }
        return isEmpty(mode)
    }

    /// Whether any mode has a timer, a source or a descriptor source.
    var hasItems: Bool { withState { !$0.modes(where: { !$0.mode.hasNoItems }).isEmpty } }
}

// The modes of items.
extension GuardedState {
    // MARK: Adding, removing, asking

    /// Adds an item to a mode, or, with `.common`, to all common modes; returns whether the item is in the mode now.
    ///
    /// If the system refuses a mode, changes nothing.
    ///
    /// - Parameter entered: Receives the modes that the item was not in before.
    /// - Precondition: the caller keeps the loop alive.
    mutating func add(
        _ item: RunLoop.Item, in name: RunLoop.Mode, _ entered: inout [RunLoop.Mode]
    ) throws(RunLoop.SystemCallError) -> Bool {
        guard item.isValid, !isDead, item.belongs(to: lock) else { return false }
        let modesBefore = modes.count
        do throws(RunLoop.SystemCallError) {
            guard name == .common else { return try put(item, in: name, &entered) }
            return try putInCommonModes(item, &entered)
        } catch {
            removeModes(madeAfter: modesBefore)
            throw error
        }
    }

    /// Marks a mode as common, and adds the common items to it; if the system refuses an item, changes nothing.
    ///
    /// - Parameters:
    ///   - reservesReadiness: Whether the mode is to serve the main queue.
    ///   - entered: Receives the items that were not in the mode before.
    /// - Precondition: the caller keeps the loop alive.
    mutating func addCommonMode(
        _ mode: RunLoop.Mode, reservesReadiness: Bool, _ entered: inout [RunLoop.Item]
    ) throws(RunLoop.SystemCallError) {
        if isCommon(mode) { return }
        let items = commonItems.all.filter { $0.isValid && $0.belongs(to: lock) }
        let modesBefore = modes.count
        do throws(RunLoop.SystemCallError) {
            // First those that the system may refuse, so that no other item has to be removed again: the timers of a mode
            // that is removed would leave a bucket with its number.
            try putEach(items.filter { $0 is RunLoop.DescriptorSource }, in: mode, &entered)
            if reservesReadiness { try reserveReadiness(for: mode) }
        } catch {
            for item in entered { _ = take(item, outOf: mode) }
            removeModes(madeAfter: modesBefore)
            throw error
        }
        try putEach(items.filter { !($0 is RunLoop.DescriptorSource) }, in: mode, &entered)
        markCommon(mode)
    }

    private mutating func putEach(
        _ items: [RunLoop.Item], in mode: RunLoop.Mode, _ entered: inout [RunLoop.Item]
    ) throws(RunLoop.SystemCallError) {
        for item in items {
            var modes: [RunLoop.Mode] = []
            _ = try put(item, in: mode, &modes)
            if !modes.isEmpty { entered.append(item) }
        }
    }

    /// Removes an item from a mode, or, with `.common`, from all common modes if it is a common item; returns the modes
    /// that it was in.
    mutating func remove(_ item: RunLoop.Item, from mode: RunLoop.Mode) -> [RunLoop.Mode] {
        if mode != .common { return take(item, outOf: mode) ? [mode] : [] }
        guard commonItems.remove(item) else { return [] }
        var left: [RunLoop.Mode] = []
        for mode in commonModeNames where take(item, outOf: mode) { left.append(mode) }
        return left
    }

    /// Whether an item is in a mode, or, for `.common`, is a common item.
    func contains(_ item: RunLoop.Item, in mode: RunLoop.Mode) -> Bool {
        guard mode == .common else { return existingMode(mode).map { isIn(item, $0) } ?? false }
        guard commonItems.contains(item) else { return false }
        guard let timer = item as? RunLoop.Timer else { return true }
        // A timer that was removed from each mode separately no longer counts as common, as in Core Foundation. The
        // owner is checked first: the lock of another loop guards the bucket of that loop's timer.
        return timer.owner.isHeld(by: lock) && timer.bucket != .none
    }

    // MARK: Places

    func isIn(_ item: RunLoop.Item, _ mode: Int) -> Bool {
        switch item {
        case let timer as RunLoop.Timer: isIn(timer, mode)
        case let source as RunLoop.Source: modes[mode].contains(source)
        case let source as RunLoop.DescriptorSource: modes[mode].contains(source)
        case let observer as RunLoop.Observer: modes[mode].contains(observer)
        default: false
        }
    }

    /// Adds an item to one mode; returns false if the item has become invalid.
    private mutating func put(
        _ item: RunLoop.Item, in name: RunLoop.Mode, _ entered: inout [RunLoop.Mode]
    ) throws(RunLoop.SystemCallError) -> Bool {
        let mode = makeMode(name)
        if isIn(item, mode) { return true }
        guard try enter(item, mode) else { return false }
        entered.append(name)
        return true
    }

    /// Makes an item a common item and adds it to all common modes; if the system refuses one of the modes, changes
    /// nothing.
    ///
    /// Returns false if the item has become invalid. In that case the caller of `invalidate()` removes the item from
    /// the modes.
    private mutating func putInCommonModes(
        _ item: RunLoop.Item, _ entered: inout [RunLoop.Mode]
    ) throws(RunLoop.SystemCallError) -> Bool {
        let isNew = !commonItems.contains(item)
        if isNew { commonItems.add(item) }
        if let timer = item as? RunLoop.Timer {
            put(timer, in: commonModeNames.map { makeMode($0) })
            return true
        }
        do {
            for name in commonModeNames where try !put(item, in: name, &entered) {
                if isNew { _ = commonItems.remove(item) }
                return false
            }
        } catch {
            for name in entered { _ = take(item, outOf: name) }
            entered = []
            if isNew { _ = commonItems.remove(item) }
            throw error
        }
        return true
    }

    /// Adds an item to a mode that it is not in; returns false if the item has become invalid.
    private mutating func enter(_ item: RunLoop.Item, _ mode: Int) throws(RunLoop.SystemCallError) -> Bool {
        switch item {
        case let timer as RunLoop.Timer: put(timer, in: mode)
        case let source as RunLoop.Source:
            // SAFETY: the thread that adds the source keeps the loop alive meanwhile.
            guard let loop = loop?.takeUnretainedValue() else { return false }
            // The source is added to the mode first: if it is signalled already, it may be performed at once, and its
            // mode must not look empty then.
            modes[mode].add(source)
            if source.enter(modes[mode].mode.name, of: loop, modes[mode].mode.signals) { return true }
            modes[mode].remove(source)
            return false
        case let source as RunLoop.DescriptorSource:
            guard source.enter(lock) else { return false }
            do { try modes[mode].add(source) } catch {
                leaveUnlessInMode(source)
                throw error
            }
            descriptorsChanged(in: mode)
        case let observer as RunLoop.Observer:
            modes[mode].add(observer)
            observer.modeCount += 1
        default: return false
        }
        return true
    }

    /// Removes an item from a mode that it is in.
    mutating func leave(_ item: RunLoop.Item, _ mode: Int) {
        switch item {
        case let timer as RunLoop.Timer: take(timer, outOf: mode)
        case let source as RunLoop.Source:
            modes[mode].remove(source)
            if source.leave(modes[mode].mode.name, ofLoop: core.number), modes[mode].countStaleSignal() {
                core.hasStaleSignals.store(true, ordering: .relaxed)
            }
        case let source as RunLoop.DescriptorSource:
            modes[mode].remove(source)
            descriptorsChanged(in: mode)
            leaveUnlessInMode(source)
        case let observer as RunLoop.Observer:
            modes[mode].remove(observer)
            observer.modeCount -= 1
        default: break
        }
    }

    func leaveUnlessInMode(_ source: RunLoop.DescriptorSource) {
        if !isInMode(source) { source.leave(lock) }
    }

    func isInMode(_ source: RunLoop.DescriptorSource) -> Bool {
        modes.first { $0.descriptors.contains(source) } != nil
    }

    /// Removes an item from one mode; returns whether the item was there.
    private mutating func take(_ item: RunLoop.Item, outOf name: RunLoop.Mode) -> Bool {
        guard let mode = existingMode(name), isIn(item, mode) else { return false }
        leave(item, mode)
        return true
    }

    /// Removes an item that has become invalid from all modes.
    ///
    /// An item that is in no mode stays in the common items if it is there, as in Core Foundation.
    mutating func discard(_ item: RunLoop.Item) {
        var wasInMode = false
        for mode in 0..<modes.count where isIn(item, mode) {
            leave(item, mode)
            wasInMode = true
        }
        if wasInMode { _ = commonItems.remove(item) }
    }

    /// Removes an item that has become invalid from one mode; returns whether the item was there.
    mutating func discard(_ item: RunLoop.Item, from mode: RunLoop.Mode) -> Bool {
        guard take(item, outOf: mode) else { return false }
        _ = commonItems.remove(item)
        return true
    }

    // MARK: Descriptor sources

    /// Applies a change of the events that a descriptor source asks for, in every mode of the source; returns the first
    /// error of the system.
    mutating func eventsChanged(of source: RunLoop.DescriptorSource) -> RunLoop.SystemCallError? {
        var refusal: RunLoop.SystemCallError?
        for mode in 0..<modes.count where modes[mode].descriptors.contains(source) {
            do { try modes[mode].descriptors.eventsChanged(of: source) } catch { refusal = refusal ?? error }
            descriptorsChanged(in: mode)
        }
        return refusal
    }

    /// Calls a descriptor source with `.error` in the next turn of one of its modes, unless the source is in none by
    /// then.
    func deliverRefusal(to source: RunLoop.DescriptorSource) {
        let modes = modes { $0.descriptors.contains(source) }.map(\.name)
        if modes.isEmpty { return }
        let block = Block(modes: BlockModes(modes), wakes: true, location: CodeLocation(#fileID, #line)) { [loop] in
            // SAFETY: the block runs inside a run of this loop only, and without the lock.
            loop?.takeUnretainedValue().callRefused(source)
        }
        core.blocks.push(block)
        core.wakeUp()
    }
}
