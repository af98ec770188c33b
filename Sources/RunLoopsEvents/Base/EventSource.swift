internal import RunLoops

/// Something of the system's that calls a closure on a loop's thread when it happens.
///
/// The subclasses say what: ``SignalSource``, ``ChildSource``, ``FileWatch``, ``SocketListener``, ``SocketConnector``,
/// ``SocketStream``. A source is added to modes of one loop with ``RunLoops/RunLoop/add(_:in:)-(EventSource,_)``, and works
/// from then on until it is invalidated or taken out. A loop keeps its sources: nobody else has to.
///
/// Each kind is made in three ways, as a timer is: with a plain closure, which stays on the thread that makes it; with
/// `sendable`, for any loop; with `mainActor`, for the main loop.
///
/// Corresponds to a `CFRunLoopSource` of version 1, and is made of ``/RunLoops/RunLoop/DescriptorSource``.
///
/// Thread safety: all members may be used by any thread. Closures are called on the loop's thread with no lock held.
public class EventSource: @unchecked Sendable, CustomStringConvertible {
    typealias Events = RunLoop.DescriptorEvents

    let origin: SourceOrigin
    private let lock = Lock()
    // Guarded by the lock, which is taken before those of the loop and never during a callout.
    /// `nil` once the source is invalidated.
    @exclusivity(unchecked) private var file: Descriptor?
    @exclusivity(unchecked) private var interest: Events
    // The loop keeps the item, and the item's closure the source: without a loop there is no circle.
    @exclusivity(unchecked) private weak var item: RunLoop.DescriptorSource?
    /// Why the system does not watch the descriptor again; told on the loop's thread.
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

    /// Whether the source can still call its closure: neither ``invalidate()`` was called, nor is its work done.
    ///
    /// Once `false`, for ever `false`.
    public final var isValid: Bool { lock.withLock { file != nil } }

    /// Takes the source out of its loop, for good, and releases its closure and what it holds of the system's.
    ///
    /// Legal everywhere, also inside the source's own callout, which ends normally. A second call does nothing. As
    /// with all that is in a loop, a run that sleeps does not end because another thread takes its last source away.
    /// Corresponds to `CFRunLoopSourceInvalidate`.
    /// Thread safety: any thread; a callout under way on the loop's thread is not waited for.
    public final func invalidate() {
        let (file, item) = lock.withLock { () -> (Descriptor?, RunLoop.DescriptorSource?) in
            defer { self.file = nil }
            return (self.file, self.item)
        }
        guard file != nil else { return }
        // The kernel is told before the descriptor is closed, by the end of `file`.
        item?.invalidate()
        giveUp()
        withExtendedLifetime(file) {}
    }

    /// Kind, label and state in one line.
    public var description: String {
        let state = lock.withLock { file.map { "descriptor \($0.number), \(interest)" } ?? "invalid" }
        return "<\(type(of: self)) \(label)>{\(state)}"
    }

    /// What `body` returns, for which the descriptor stays open whoever invalidates meanwhile; `nil` once the source is
    /// invalid.
    final func withDescriptor<Result>(_ body: (CInt) -> Result) -> Result? {
        guard let file = lock.withLock({ file }) else { return nil }
        defer { withExtendedLifetime(file) {} }
        return body(file.number)
    }

    /// The descriptor itself, for whoever keeps it.
    final var descriptor: Descriptor? { lock.withLock { file } }

    // MARK: Places

    /// Whether the source is in the mode now.
    final func add(to loop: RunLoop, in mode: RunLoop.Mode) throws(RunLoop.SystemCallError) -> Bool {
        requireAllowedThread(origin.allowedThread, of: self, in: loop.threadID)
        return try lock.withLock { () throws(RunLoop.SystemCallError) in
            guard let file else { return false }
            let item = self.item ?? makeItem(file)
            require(
                !item.isElsewhere(than: loop),
                """
                The event source \(label) was added to \(loop) and is in another loop. It belongs to one loop at a time: \
                remove it there first, or make a second source.
                """)
            return try loop.add(item, in: mode)
        }
    }

    final func remove(from loop: RunLoop, in mode: RunLoop.Mode) {
        if let item = lock.withLock({ item }) { loop.remove(item, from: mode) }
    }

    final func isIn(_ loop: RunLoop, _ mode: RunLoop.Mode) -> Bool {
        lock.withLock { item }.map { loop.contains($0, in: mode) } ?? false
    }

    // MARK: Interest

    /// What is wanted of the descriptor now; the kernel does not watch it for nothing.
    final var watched: Events {
        get { lock.withLock { interest } }
        set {
            lock.withLock {
                guard file != nil, newValue != interest else { return }
                interest = newValue
                refusal = nil
                guard let item else { return }
                do throws(RunLoop.SystemCallError) {
                    try item.change(to: newValue)
                } catch {
                    // Closed behind our back (EBADF), or the system is out of something: said on the loop, as all else is.
                    interest = []
                    refusal = error
                    item.tellRefusal()
                }
            }
        }
    }

    /// With the lock held.
    private func makeItem(_ file: Descriptor) -> RunLoop.DescriptorSource {
        // The allowed thread was checked when the source was added, against the thread that made the source.
        let made = RunLoop.DescriptorSource.sendable(
            file.number, for: interest, label: origin.label, fileID: origin.fileID, line: origin.line
        ) { _, events in self.tell(events) }
        item = made
        return made
    }

    private func tell(_ events: Events) {
        if events == .error, let error = takeRefusal() { refused(error) } else { ready(events) }
    }

    private func takeRefusal() -> RunLoop.SystemCallError? {
        lock.withLock {
            defer { refusal = nil }
            return refusal
        }
    }
}
