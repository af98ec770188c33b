/// Calls a closure on the loop's thread while a file descriptor is ready.
///
/// The descriptor wakes the loop by itself. It is level-triggered: the closure is called once a turn as long as what
/// it asks for holds. Ready descriptors are served one a turn, in the order in which they became ready, so that no
/// other item has to wait for more than one of them.
///
/// The descriptor stays the caller's: the source does not close it. Invalidate the source before closing the
/// descriptor. Make it non-blocking: what was ready may have been taken by somebody else when the closure runs.
///
/// Corresponds to a `CFRunLoopSource` of version 1; any descriptor will do, also those that `epoll(7)` refuses
/// because they are always ready.
///
/// Thread safety: all members may be used by any thread.
public final class RunLoopPortSource: RunLoopItem, @unchecked Sendable {
    /// What a descriptor can be ready for.
    public typealias Events = RunLoopDescriptorEvents

    private let lock = Lock()
    /// The file descriptor.
    public let descriptor: CInt

    // Guarded by the lock.
    @exclusivity(unchecked) private var interest: Events
    /// The loops that have it in a mode: in general there is one.
    @exclusivity(unchecked) private var firstLoop: LoopCore?
    @exclusivity(unchecked) private var otherLoops: [LoopCore] = []
    @exclusivity(unchecked) private var handler: ((RunLoopPortSource, Events) -> Void)?

    /// A port source whose closure runs on the thread that makes it, and may use that thread's state.
    ///
    /// - Parameters:
    ///   - descriptor: The file descriptor; stays the caller's.
    ///   - events: What the closure wants to be called for; hang-up and error are always reported.
    ///   - order: Kept and shown; ready descriptors are served in the order in which they became ready.
    ///   - label: The name in descriptions and tools; where it was made, if `nil`.
    ///   - fileID: Where it was made.
    ///   - line: Where it was made.
    ///   - handler: Called with the source and what the descriptor is ready for.
    ///
    /// Precondition: `descriptor` is not negative.
    /// Adding it to the loop of another thread traps.
    /// Corresponds to `CFRunLoopSourceCreate` with a context of version 1.
    public convenience init(
        descriptor: CInt, events: Events = .readable, order: Int = 0, label: String? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping (RunLoopPortSource, Events) -> Void
    ) {
        self.init(descriptor, events, order, ItemLabel(label, fileID, line), home: ItemHome.currentThread, handler)
    }

    /// A port source whose closure may run on any thread: it can be added to any loop.
    ///
    /// The parameters are those of ``init(descriptor:events:order:label:fileID:line:handler:)``.
    public static func sendable(
        descriptor: CInt, events: Events = .readable, order: Int = 0, label: String? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping @Sendable (RunLoopPortSource, Events) -> Void
    ) -> RunLoopPortSource {
        RunLoopPortSource(
            descriptor, events, order, ItemLabel(label, fileID, line), home: ItemHome.anyThread, handler)
    }

    /// A port source whose closure runs on the main actor: it can be added to the main loop, from any thread.
    ///
    /// The parameters are those of ``init(descriptor:events:order:label:fileID:line:handler:)``.
    public static func mainActor(
        descriptor: CInt, events: Events = .readable, order: Int = 0, label: String? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping @MainActor (RunLoopPortSource, Events) -> Void
    ) -> RunLoopPortSource {
        RunLoopPortSource(descriptor, events, order, ItemLabel(label, fileID, line), home: ItemHome.mainThread) {
            source, events in
            MainActor.assumeIsolated { handler(source, events) }
        }
    }

    private init(
        _ descriptor: CInt, _ events: Events, _ order: Int, _ label: ItemLabel, home: Int32,
        _ handler: @escaping (RunLoopPortSource, Events) -> Void
    ) {
        require(
            descriptor >= 0,
            "A port source was made with the descriptor \(descriptor): was the result of open or socket checked?")
        self.descriptor = descriptor
        interest = events
        self.handler = handler
        super.init(.port, order: order, label: label, home: home)
    }

    /// What the closure is called for; hang-up and error are always reported.
    ///
    /// A change takes effect before the next callout, also from inside the closure. With an empty set only hang-up
    /// and error are reported.
    /// Complexity: one system call for each loop and mode the source is in, when the set changes.
    public var events: Events {
        get { lock.withLock { interest } }
        set {
            let loops = lock.withLock { () -> [LoopCore] in
                if firstLoop == nil { interest = newValue }
                return self.loops
            }
            for loop in loops {
                loop.lock.withLock { loop.reschedule(self) { lock.withLock { interest = newValue } } }
            }
        }
    }

    /// The closure and what it is told, while the source is valid and wants any of `ready`.
    func callback(for ready: Events) -> (handler: (RunLoopPortSource, Events) -> Void, events: Events)? {
        // Not withLock: a closure that goes through a generic function is wrapped in a new one, at an allocation each.
        lock.lock()
        defer { lock.unlock() }
        let told = ready.intersection(interest.union([.hangUp, .error]))
        guard let handler, !told.isEmpty else { return nil }
        return (handler, told)
    }

    /// Called with the loop's lock held.
    func join(_ loop: LoopCore) {
        lock.withLock {
            if firstLoop === loop || otherLoops.contains(where: { $0 === loop }) { return }
            if firstLoop == nil { firstLoop = loop } else { otherLoops.append(loop) }
        }
    }

    /// Called with the loop's lock held, when the source is in none of its modes any more.
    func leave(_ loop: LoopCore) {
        lock.withLock {
            otherLoops.removeAll { $0 === loop }
            if firstLoop === loop { firstLoop = otherLoops.popLast() }
        }
    }

    /// With the lock held.
    private var loops: [LoopCore] { (firstLoop.map { [$0] } ?? []) + otherLoops }

    public override func invalidate() {
        guard becomeInvalid() else { return }
        let (left, released) = lock.withLock { () -> ([LoopCore], ((RunLoopPortSource, Events) -> Void)?) in
            let released = handler
            handler = nil
            return (loops, released)
        }
        for loop in left { loop.lock.withLock { loop.discard(self) } }
        withExtendedLifetime(released) {}
    }

    public override var description: String {
        let state = isValid ? "valid" : "invalid"
        return "<RunLoop.PortSource \(label)>{\(state), order \(order), descriptor \(descriptor), \(events)}"
    }
}
