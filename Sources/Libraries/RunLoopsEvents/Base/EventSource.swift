// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// A source that calls a closure on a loop's thread when something happens in the system.
///
/// There is a subclass for each kind of event: ``SignalSource``, ``ChildSource``, ``ChildCompletion``, ``FileWatch``,
/// ``FileFollower``, ``InputReader``, ``OutputWriter``, ``SocketListener``, ``SocketConnector``, ``HostConnector``,
/// ``SocketStream``. A source is added to modes of one loop with ``RunLoops/RunLoop/add(_:in:)-(EventSource,_)``, and
/// works from then on until it is invalidated or removed. A loop retains its sources, so that the program does not have
/// to.
///
/// Like a timer, each kind is made in one of three ways: with a plain closure, which stays on the thread that makes the
/// source; with `sendable`, for any loop; with `mainActor`, for the main loop.
///
/// Corresponds to a `CFRunLoopSource` of version 1, and is made of ``/RunLoops/RunLoop/DescriptorSource``.
///
/// Thread safety: all members may be used by any thread. Closures are called on the loop's thread with no lock held.
public class EventSource: @unchecked Sendable, CustomStringConvertible {
    typealias Events = RunLoop.DescriptorEvents

    let origin: SourceOrigin
    // Not the descriptor's: a child may make a source of a socket that its parent has opened.
    private let generation = ForkGeneration()
    private let lock = Lock()
    // Guarded by the lock, which is taken before those of the loop and never during a callout.
    /// `nil` once the source is invalidated.
    @exclusivity(unchecked) private var kept: Descriptor?
    @exclusivity(unchecked) private var interest: Events
    // The loop keeps the item, and the item's closure keeps the source: without a loop there is no circle.
    @exclusivity(unchecked) private weak var item: RunLoop.DescriptorSource?
    /// The error with which the system refused to watch the descriptor again; reported on the loop's thread.
    @exclusivity(unchecked) private var refusal: RunLoop.SystemCallError?

    init(_ file: Descriptor, for interest: Events, _ origin: SourceOrigin) {
        kept = file
        self.interest = interest
        self.origin = origin
    }

    /// The descriptor that the source works with; `nil` once the source is invalidated, and in a forked child.
    ///
    /// A forked child shares queues and files with its parent, and must not read from them. With the lock held.
    private var file: Descriptor? { generation.isInherited ? nil : kept }

    // MARK: What the subclasses do

    /// Called when the descriptor is ready.
    ///
    /// The loop's thread, no lock held.
    func ready(_ events: Events) { fatalError("every kind of source says what happens") }

    /// Called when the system refuses to watch the descriptor again.
    ///
    /// The loop's thread, no lock held.
    func refused(_ error: RunLoop.SystemCallError) { fatalError("every kind of source says what happens") }

    /// The source is invalidated: releases the closure and all that is kept for it.
    ///
    /// No lock held.
    func giveUp() { fatalError("every kind of source says what it keeps") }

    /// Called with no lock held when the source was added to a mode: a subclass adds the other items that it needs there.
    func entered(_ mode: RunLoop.Mode, of loop: RunLoop) {}

    /// Called with no lock held when the source was removed from a mode.
    func left(_ mode: RunLoop.Mode, of loop: RunLoop) {}

    // MARK: State

    /// The name of the source in descriptions and tools: its label, or the place in the code where it was made.
    public final var label: String { origin.name }

    /// Whether the source can still call its closure; `false` after ``invalidate()``, and when the source has done its work.
    ///
    /// An invalid source never becomes valid again. A forked child finds its parent's sources invalid.
    public final var isValid: Bool { lock.withLock { file != nil } }

    /// Removes the source from its loop permanently, and releases its closure and its system resources.
    ///
    /// Allowed everywhere, also inside the source's own callout, which ends normally. A second call does nothing. As
    /// with all items of a loop, a sleeping run does not end because another thread removes its last source.
    /// Corresponds to `CFRunLoopSourceInvalidate`.
    /// Thread safety: any thread; the call does not wait for a callout under way on the loop's thread.
    public final func invalidate() {
        let (file, item) = lock.withLock { () -> (Descriptor?, RunLoop.DescriptorSource?) in
            defer { kept = nil }
            return (kept, self.item)
        }
        guard file != nil else { return }
        // The kernel stops watching before the end of `file` closes the descriptor.
        item?.invalidate()
        giveUp()
        withExtendedLifetime(file) {}
    }

    /// Kind, label and state in one line.
    public var description: String {
        let state = lock.withLock { file.map { "descriptor \($0.number), \(interest)" } ?? "invalid" }
        return "<\(type(of: self)) \(label)>{\(state)}"
    }

    /// Returns the result of `body`; `nil` once the source is invalid.
    ///
    /// The descriptor stays open for `body`, even if another thread invalidates the source meanwhile.
    final func withDescriptor<Result>(_ body: (CInt) -> Result) -> Result? {
        guard let file = lock.withLock({ file }) else { return nil }
        defer { withExtendedLifetime(file) {} }
        return body(file.number)
    }

    /// The descriptor itself, for code that keeps it.
    final var descriptor: Descriptor? { lock.withLock { file } }

    // MARK: Places

    /// Adds the source; returns whether it is in the mode now.
    final func add(to loop: RunLoop, in mode: RunLoop.Mode) throws(RunLoop.SystemCallError) -> Bool {
        requireAllowedThread(origin.allowedThread, of: self, in: loop.threadID)
        let isAdded = try lock.withLock { () throws(RunLoop.SystemCallError) in
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
        if isAdded { entered(mode, of: loop) }
        return isAdded
    }

    final func remove(from loop: RunLoop, in mode: RunLoop.Mode) {
        if let item = lock.withLock({ item }) { loop.remove(item, from: mode) }
        left(mode, of: loop)
    }

    final func isIn(_ loop: RunLoop, _ mode: RunLoop.Mode) -> Bool {
        lock.withLock { item }.map { loop.contains($0, in: mode) } ?? false
    }

    // MARK: Interest

    /// The events that the source wants now; without events the kernel does not watch the descriptor.
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
                    // Other code has closed the descriptor (EBADF), or the system is out of something: reported on the
                    // loop, as all else is.
                    interest = []
                    refusal = error
                    item.deliverRefusal()
                }
            }
        }
    }

    /// Has the loop call ``ready(_:)`` in its next turn, whether or not the descriptor is ready; does nothing before
    /// the source is in a loop.
    final func callReady() { lock.withLock { item }?.deliverRefusal() }

    /// With the lock held.
    private func makeItem(_ file: Descriptor) -> RunLoop.DescriptorSource {
        // When the source was added, the allowed thread was checked against the thread that made the source.
        let made = RunLoop.DescriptorSource.sendable(
            file.number, for: interest, label: origin.label, fileID: origin.fileID, line: origin.line
        ) { _, events in self.deliver(events) }
        item = made
        return made
    }

    private func deliver(_ events: Events) {
        if events == .error, let error = takeRefusal() { refused(error) } else { ready(events) }
    }

    private func takeRefusal() -> RunLoop.SystemCallError? {
        lock.withLock {
            defer { refusal = nil }
            return refusal
        }
    }
}

/// A source whose work ends, with a last call of its closure.
protocol EndingSource: EventSource {
    associatedtype End
    /// Guards ``handler``.
    var state: Lock { get }
    /// `nil` once the source is invalidated.
    var handler: ((Self, End) -> Void)? { get }
}

extension EndingSource {
    /// Invalidates the source, and calls its closure for the last time.
    ///
    /// In this order: a run nested in the callout must receive nothing further. The loop's thread, no lock held.
    func end(with end: End) {
        let handler = state.withLock { self.handler }
        invalidate()
        handler?(self, end)
    }
}
