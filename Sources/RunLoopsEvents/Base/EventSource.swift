public import RunLoops

/// Something of the system's that calls a closure on a loop's thread when it happens.
///
/// The subclasses say what: ``DescriptorSource``, ``SignalSource``, ``ChildSource``, ``FileWatch``, ``SocketListener``,
/// ``SocketConnector``, ``SocketStream``. A source is added to modes of one loop with
/// ``RunLoops/RunLoop/add(_:in:)-(EventSource,_)``, and works from then on until it is invalidated or taken out. A loop
/// keeps its sources: nobody else has to.
///
/// Each kind is made in three ways, as a timer is: with a plain closure, which stays on the thread that makes it; with
/// `sendable`, for any loop; with `mainActor`, for the main loop.
///
/// Corresponds to a `CFRunLoopSource` of version 1, and is made of ``/RunLoops/RunLoop/DescriptorSource``.
///
/// Thread safety: all members may be used by any thread. Closures are called on the loop's thread with no lock held.
public class EventSource: @unchecked Sendable, CustomStringConvertible {
    /// What a descriptor can be ready for.
    public typealias Events = RunLoop.DescriptorEvents

    let origin: SourceOrigin
    private let lock = Lock()
    // Guarded by the lock, which is taken before those of the loop and never during a callout.
    /// `nil` once the source is invalidated.
    @exclusivity(unchecked) private var file: Descriptor?
    @exclusivity(unchecked) private var interest: Events
    @exclusivity(unchecked) private var modes: [RunLoop.Mode] = []
    // The loop keeps the items, and they keep the source: without a loop there is no circle.
    @exclusivity(unchecked) private weak var loop: RunLoop?
    @exclusivity(unchecked) private weak var port: RunLoop.DescriptorSource?
    /// Stands in for the port while nothing is wanted of the descriptor.
    @exclusivity(unchecked) private weak var standIn: RunLoop.Source?
    @exclusivity(unchecked) private var refusal: RunLoop.SystemCallError?

    init(_ file: Descriptor, for interest: Events, _ origin: SourceOrigin) {
        self.file = file
        self.interest = interest
        self.origin = origin
    }

    // MARK: What the subclasses do

    /// The descriptor is ready.
    ///
    /// The loop's thread, no lock held.
    func ready(_ events: Events) { fatalError("every kind of source says what happens") }

    /// The system refuses to watch the descriptor again.
    ///
    /// The loop's thread, no lock held.
    func refused(_ error: RunLoop.SystemCallError) { fatalError("every kind of source says what happens") }

    /// The source is invalidated: gives up the closure and all that is kept for it.
    ///
    /// No lock held.
    func giveUp() { fatalError("every kind of source says what it keeps") }

    // MARK: State

    /// What the source is called in descriptions and tools: the label it was given, or where it was made.
    public final var label: String { origin.name }

    /// Whether the source has been cancelled, by ``invalidate()`` or because its work is done.
    ///
    /// Once `true`, for ever `true`.
    public final var isCancelled: Bool { lock.withLock { file == nil } }

    /// Takes the source out of its loop, for good, and releases its closure and what it holds of the system's.
    ///
    /// Legal everywhere, also inside the source's own callout, which ends normally. A second call does nothing. As
    /// with all that is in a loop, a run that sleeps does not end because another thread takes its last source away.
    /// Corresponds to `CFRunLoopSourceInvalidate`.
    /// Thread safety: any thread; a callout under way on the loop's thread is not waited for.
    public final func cancel() {
        // Locals, so that nothing is released under the lock.
        var file: Descriptor?
        var (port, standIn): (RunLoop.DescriptorSource?, RunLoop.Source?)
        lock.withLock {
            (file, port, standIn) = (self.file, self.port, self.standIn)
            self.file = nil
            loop = nil
            modes = []
        }
        guard file != nil else { return }
        // The kernel is told before the descriptor is closed, by the end of `file`.
        port?.invalidate()
        standIn?.invalidate()
        giveUp()
        withExtendedLifetime(file) {}
    }

    /// Kind, label and state in one line.
    public var description: String {
        let state = lock.withLock { file.map { "descriptor \($0.number), \(interest)" } ?? "cancelled" }
        return "<\(type(of: self)) \(label)>{\(state)}"
    }

    /// What `body` returns, for which the descriptor stays open whoever cancels meanwhile; `nil` once the source is
    /// cancelled.
    final func withDescriptor<Result>(_ body: (CInt) -> Result) -> Result? {
        guard let file = lock.withLock({ file }) else { return nil }
        defer { withExtendedLifetime(file) {} }
        return body(file.number)
    }

    /// The descriptor itself, for who keeps it.
    final var descriptor: Descriptor? { lock.withLock { file } }

    // MARK: Places

    /// Whether the source is in the mode now.
    final func add(to newLoop: RunLoop, in mode: RunLoop.Mode) throws(RunLoop.SystemCallError) -> Bool {
        requireHome(origin.home, of: self, in: newLoop.threadID)
        return try lock.withLock { () throws(RunLoop.SystemCallError) in
            guard file != nil else { return false }
            if let loop, loop !== newLoop { requireFree(of: loop, for: newLoop) }
            if loop !== newLoop {
                loop = newLoop
                modes = []
            }
            let isIn =
                if interest.isEmpty { newLoop.add(theStandIn, in: mode) } else { try newLoop.add(thePort, in: mode) }
            if isIn, !modes.contains(mode) { modes.append(mode) }
            return isIn
        }
    }

    final func remove(from oldLoop: RunLoop, in mode: RunLoop.Mode) {
        lock.withLock {
            guard loop === oldLoop else { return }
            if let port { oldLoop.remove(port, from: mode) }
            if let standIn { oldLoop.remove(standIn, from: mode) }
            modes.removeAll { $0 == mode }
            if modes.isEmpty { loop = nil }
        }
    }

    final func isIn(_ loop: RunLoop, _ mode: RunLoop.Mode) -> Bool {
        lock.withLock { holds(loop, mode) }
    }

    private func holds(_ loop: RunLoop, _ mode: RunLoop.Mode) -> Bool {
        if let port, loop.contains(port, in: mode) { return true }
        if let standIn { return loop.contains(standIn, in: mode) }
        return false
    }

    /// A loop whose thread has ended holds nothing any more.
    private func requireFree(of loop: RunLoop, for newLoop: RunLoop) {
        require(
            !modes.contains { holds(loop, $0) },
            """
            The event source \(label) is in \(loop) and was added to \(newLoop). It belongs to one loop at a time: \
            remove it there first, or make a second source.
            """)
    }

    // MARK: Interest

    /// What is wanted of the descriptor now.
    ///
    /// Where nothing is wanted the kernel does not watch it at all, not even for the hang-up that it reports unasked,
    /// and that would otherwise wake the loop over and over. The source still keeps its modes from being empty.
    final var watched: Events {
        get { lock.withLock { interest } }
        set {
            lock.withLock {
                guard file != nil, newValue != interest else { return }
                let wasEmpty = interest.isEmpty
                interest = newValue
                guard let loop else { return }
                if newValue.isEmpty {
                    standDown(in: loop)
                } else if wasEmpty {
                    standUp(in: loop)
                } else {
                    port?.events = newValue
                }
            }
        }
    }

    /// First in, then out: a mode is not empty in between.
    private func standDown(in loop: RunLoop) {
        let standIn = theStandIn
        for mode in modes {
            loop.add(standIn, in: mode)
            if let port { loop.remove(port, from: mode) }
        }
    }

    private func standUp(in loop: RunLoop) {
        let port = thePort
        do {
            for mode in modes { try loop.add(port, in: mode) }
            if let standIn { for mode in modes { loop.remove(standIn, from: mode) } }
        } catch {
            // Closed behind our back (EBADF), or the system is out of something: said on the loop, as all else is.
            for mode in modes { loop.remove(port, from: mode) }
            interest = []
            refusal = error
            standIn?.signal()
            loop.wakeUp()
        }
    }

    // MARK: Items. With the lock held.

    private var thePort: RunLoop.DescriptorSource {
        if let port, port.isValid { return port }
        // The home was checked when the source was added, against the thread that made the source.
        let made = RunLoop.DescriptorSource.sendable(file?.number ?? 0, for: interest, label: origin.label, fileID: origin.fileID,
            line: origin.line
        ) { _, events in self.ready(events) }
        port = made
        return made
    }

    private var theStandIn: RunLoop.Source {
        if let standIn, standIn.isValid { return standIn }
        let made = RunLoop.Source.sendable(label: origin.label, fileID: origin.fileID, line: origin.line) { _ in
            let error = self.lock.withLock { () -> RunLoop.SystemCallError? in
                defer { self.refusal = nil }
                return self.refusal
            }
            if let error { self.refused(error) }
        }
        standIn = made
        return made
    }
}
