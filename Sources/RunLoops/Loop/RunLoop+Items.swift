extension RunLoop {
    // MARK: Adding

    /// Adds a timer to `mode`, or to all common modes and those that will be marked later.
    ///
    /// A timer is in one loop at most: one that is in another is passed over, and so is an invalid one. Adding twice
    /// is once. A sleeping loop that has to sleep shorter is woken for it.
    ///
    /// Precondition: the timer's closure may run on this loop's thread.
    /// Corresponds to `CFRunLoopAddTimer`. Complexity: O(log n) in the timers of the mode.
    public func add(_ timer: Timer, in mode: Mode) {
        if mode == .common { addWithoutPort(timer, mode) } else { engine.add(timer, toMode: mode) }
    }

    /// Adds a signalled source to `mode`, or to all common modes and those that will be marked later.
    ///
    /// The source's schedule closure is called for each mode it is new in. An invalid source is passed over.
    ///
    /// Precondition: the source's closure may run on this loop's thread.
    /// Corresponds to `CFRunLoopAddSource`. Complexity: O(1).
    public func add(_ source: Source, in mode: Mode) { addWithoutPort(source, mode) }

    /// Adds an observer to `mode`, or to all common modes and those that will be marked later.
    ///
    /// An observer is in one loop at most: one that is in another is passed over, and so is an invalid one.
    ///
    /// Precondition: the observer's closure may run on this loop's thread.
    /// Corresponds to `CFRunLoopAddObserver`. Complexity: O(n) in the observers of the mode.
    public func add(_ observer: Observer, in mode: Mode) { addWithoutPort(observer, mode) }

    /// Adds a port source to `mode`, or to all common modes and those that will be marked later.
    ///
    /// Several port sources on one descriptor are each called for what they ask for. When the system refuses one of
    /// several modes, the source is in none of them afterwards.
    ///
    /// - Throws: what `epoll_ctl(2)`, `epoll_create1(2)` or `eventfd(2)` refused: `EBADF` for a descriptor that is not
    ///   open, `EMFILE`, `ENFILE`, `ENOMEM` and `ENOSPC` when the system is out of something.
    ///
    /// Precondition: the source's closure may run on this loop's thread.
    /// Corresponds to `CFRunLoopAddSource`. Complexity: O(1) and one system call.
    public func add(_ port: PortSource, in mode: Mode) throws(SystemCallError) { try engine.add(port, in: mode) }

    private func addWithoutPort(_ item: Item, _ mode: Mode) {
        do {
            try engine.add(item, in: mode)
        } catch {
            preconditionFailure("Only port sources ask something of the system: \(error)")
        }
    }

    /// Marks `mode` as common: it gets the items that were added to common before, and those that will be.
    ///
    /// A mode cannot be unmarked. On the main loop it serves the main queue from its next run on.
    /// Traps if the system refuses a common port source a place in the mode, which happens when the process is out of
    /// descriptors or memory.
    /// Corresponds to `CFRunLoopAddCommonMode`. Complexity: O(n) in the common items.
    public func addCommonMode(_ mode: Mode) {
        do {
            try engine.addCommonMode(mode)
        } catch {
            fatalError(
                "\(mode) cannot be marked as common, because a common port source finds no place in it: \(error). Mark modes before adding port sources, or raise RLIMIT_NOFILE."
            )
        }
    }

    // MARK: Removing and asking

    /// Takes an item out of `mode`, or, if it was added to common, out of all common modes.
    ///
    /// A source's cancel closure is called for each mode it leaves. The item stays valid and can be added again.
    /// Legal in every callout; takes effect before the next turn looks at the mode.
    /// Corresponds to `CFRunLoopRemoveTimer` and its like. Complexity: as for adding.
    public func remove(_ item: Item, from mode: Mode) { engine.remove(item, from: mode) }

    /// Whether `item` is in `mode`, or, for `.common`, was added to common.
    ///
    /// Corresponds to `CFRunLoopContainsTimer` and its like.
    public func contains(_ item: Item, in mode: Mode) -> Bool { engine.contains(item, in: mode) }
}
