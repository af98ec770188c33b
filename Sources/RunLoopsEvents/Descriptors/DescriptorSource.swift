public import RunLoops

/// Calls a closure while a file descriptor is ready: to read, to write, with urgent data, hung up or in error.
///
/// Level-triggered: the closure is called once a turn as long as what it asks for holds. Regular files, which epoll
/// refuses, are always ready, as `poll(2)` has it. A source that does not repeat is called once, and again when
/// ``events`` is set anew.
///
/// The descriptor stays the caller's, unless the source is made to close it. Make it non-blocking: what was ready may
/// have been taken by somebody else when the closure runs. When a descriptor is closed under its source, and even if the
/// number is another file's at once, the source falls silent; it is never called for the other file.
///
/// Corresponds to `CFFileDescriptor`; one that does not repeat to its callbacks, which have to be enabled each time.
///
/// Thread safety: all members may be used by any thread.
public final class DescriptorSource: EventSource, @unchecked Sendable {
    /// Called with the source and what the descriptor is ready for.
    typealias Handler = (DescriptorSource, Events) -> Void

    /// The file descriptor.
    public let number: CInt
    /// Whether the closure is called again without ``events`` being set anew.
    public let repeats: Bool
    private let state = Lock()
    // Guarded by `state`.
    @exclusivity(unchecked) private var handler: Handler?

    /// A source whose closure runs on the thread that makes it, and may use that thread's state.
    ///
    /// - Parameters:
    ///   - descriptor: The file descriptor.
    ///   - events: What the closure wants to be called for; hang-up and error are reported in any case.
    ///   - repeats: Whether the closure is called for as long as the descriptor is ready, or once.
    ///   - closes: Whether the source closes the descriptor when it is invalidated or goes away.
    ///   - label: The name in descriptions and tools; where it was made, if `nil`.
    ///   - fileID: Where it was made.
    ///   - line: Where it was made.
    ///   - handler: Called with the source and what the descriptor is ready for.
    ///
    /// Precondition: `descriptor` is not negative.
    /// Adding it to the loop of another thread traps.
    /// Corresponds to `CFFileDescriptorCreate`.
    public convenience init(
        _ descriptor: CInt, for events: Events = .readable, repeats: Bool = true, closes: Bool = false,
        label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping (DescriptorSource, Events) -> Void
    ) {
        self.init(descriptor, events, repeats, closes, .here(label, fileID, line), handler)
    }

    /// A source whose closure may run on any thread: it can be added to any loop.
    ///
    /// The parameters are those of ``init(_:for:repeats:closes:label:fileID:line:handler:)``.
    public static func sendable(
        _ descriptor: CInt, for events: Events = .readable, repeats: Bool = true, closes: Bool = false,
        label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping @Sendable (DescriptorSource, Events) -> Void
    ) -> DescriptorSource {
        DescriptorSource(descriptor, events, repeats, closes, .anywhere(label, fileID, line), handler)
    }

    /// A source whose closure runs on the main actor: it can be added to the main loop, from any thread.
    ///
    /// The parameters are those of ``init(_:for:repeats:closes:label:fileID:line:handler:)``.
    public static func mainActor(
        _ descriptor: CInt, for events: Events = .readable, repeats: Bool = true, closes: Bool = false,
        label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping @MainActor (DescriptorSource, Events) -> Void
    ) -> DescriptorSource {
        DescriptorSource(descriptor, events, repeats, closes, .mainThread(label, fileID, line)) { source, events in
            MainActor.assumeIsolated { handler(source, events) }
        }
    }

    private init(
        _ descriptor: CInt, _ events: Events, _ repeats: Bool, _ closes: Bool, _ origin: SourceOrigin,
        _ handler: @escaping Handler
    ) {
        require(
            descriptor >= 0,
            "A source was made with the descriptor \(descriptor): was the result of open or socket checked?")
        number = descriptor
        self.repeats = repeats
        self.handler = handler
        super.init(Descriptor(descriptor, isOurs: closes), for: events, origin)
    }

    /// What the closure is called for.
    ///
    /// A change takes effect before the next callout, also from inside the closure. With an empty set nothing is
    /// reported, hang-up and error neither; to be told of these alone, ask for `[.hangUp]`. A source that does not repeat
    /// has an empty set once it has been called. If the system refuses to watch the descriptor again, because it is not
    /// open any more, the closure is called with `.error`, and the set is empty.
    ///
    /// Complexity: one system call for each mode the source is in, when the set changes.
    public var events: Events {
        get { watched }
        set { watched = newValue }
    }

    override func ready(_ events: Events) {
        // Before the callout, which may arm it again.
        if !repeats { watched = [] }
        call(events)
    }

    override func refused(_ error: RunLoop.SystemCallError) { call(.error) }

    override func giveUp() {
        let released = state.withLock { () -> Handler? in
            defer { handler = nil }
            return handler
        }
        withExtendedLifetime(released) {}
    }

    private func call(_ events: Events) {
        withDescriptor { _ in
            // Not withLock: a closure that goes through a generic function is wrapped in a new one, at an allocation each.
            state.lock()
            let handler = self.handler
            state.unlock()
            handler?(self, events)
        }
    }
}
