internal import CLinuxKernel
internal import Synchronization

/// Calls a closure on the loop's thread after somebody has signalled it.
///
/// A source is added to modes, of as many loops as one likes. ``signal()`` marks it from any thread, and that is all:
/// a loop that runs in one of the source's modes performs it in its next turn (``RunLoop/wakeUp()`` makes that now).
/// Signals before the perform collapse into one. Several signalled sources are performed in ascending order, equal
/// orders as they were signalled.
///
/// Corresponds to a `CFRunLoopSource` of version 0.
///
/// Thread safety: all members may be used by any thread.
public final class RunLoopSource: RunLoopItem, @unchecked Sendable {
    /// Called when the source is added to or removed from a mode of a loop.
    typealias PlaceCallback = (AnyObject, RunLoopMode) -> Void

    /// One mode of one loop that the source is in.
    struct Membership {
        let loop: LoopCore
        let mode: RunLoopMode
        let place: SignalQueue<RunLoopSource>.Place
    }

    /// When the source was signalled, as a number that grows; 0 while it is not.
    ///
    /// Of one count for all, so that sources of equal order are performed as they were signalled, whatever queue they are in.
    private let stamp = Atomic<UInt64>(0)
    private let lock = Lock()
    // Guarded by the lock.
    @exclusivity(unchecked) private var memberships: [Membership] = []
    @exclusivity(unchecked) private var performer: ((RunLoopSource) -> Void)?
    /// Told with no lock held.
    let scheduled: PlaceCallback?
    let cancelled: PlaceCallback?

    init(
        _ order: Int, _ label: ItemLabel, home: Int32, scheduled: PlaceCallback?, cancelled: PlaceCallback?,
        _ perform: @escaping (RunLoopSource) -> Void
    ) {
        performer = perform
        self.scheduled = scheduled
        self.cancelled = cancelled
        super.init(.source, order: order, label: label, home: home)
    }

    // MARK: Signals

    /// Marks the source, so that a loop performs it in its next turn.
    ///
    /// Does not wake the loop.
    ///
    /// A source that has been signalled and not yet performed stays as it is; so does an invalid one.
    /// Corresponds to `CFRunLoopSourceSignal`.
    /// Thread safety: any thread.
    /// Complexity: O(1) in the sources; O(k) in the modes that this source is in.
    public func signal() {
        // sequentiallyConsistent: the mark comes before the look at each place, see SignalQueue.Place.enqueue.
        guard stamp.load(ordering: .sequentiallyConsistent) == 0 else { return }
        lock.lock()
        defer { lock.unlock() }
        guard isValid,
            stamp.compareExchange(expected: 0, desired: rl_next_number(), ordering: .sequentiallyConsistent).exchanged
        else { return }
        if rl_is_recorded() { leaveWord() }
        var index = 0
        while index < memberships.count {
            // SAFETY: kept by the membership, which the lock keeps.
            Unmanaged.passUnretained(memberships[index].place)._withUnsafeGuaranteedRef { $0.enqueue() }
            index += 1
        }
    }

    /// Whether the source has been signalled and not yet performed.
    ///
    /// Corresponds to `CFRunLoopSourceIsSignalled`.
    public var isSignalled: Bool { stamp.load(ordering: .sequentiallyConsistent) != 0 }

    /// When it was signalled, among all sources; 0 if it is not.
    var signalStamp: UInt64 { stamp.load(ordering: .sequentiallyConsistent) }

    /// For who records: when the signal was given, and by whom.
    ///
    /// With the lock held, before a loop can find the source queued.
    @inline(never)
    private func leaveWord() {
        let now = memberships.first?.loop.kernel.now(.monotonic) ?? SystemCalls.now(.monotonic)
        rl_stamp_signal(signalStamp, now, SystemCalls.threadID)
    }

    /// The closure to call, if the source is signalled and valid: and it is not signalled any more.
    func takeSignal() -> ((RunLoopSource) -> Void)? {
        guard stamp.exchange(0, ordering: .sequentiallyConsistent) != 0, isValid else { return nil }
        // Not withLock: a closure that goes through a generic function is wrapped in a new one, at an allocation each.
        lock.lock()
        defer { lock.unlock() }
        return performer
    }

    // MARK: Places

    /// Called with the loop's lock held.
    func join(_ loop: LoopCore, _ mode: RunLoopMode, _ queue: SignalQueue<RunLoopSource>) {
        let place = SignalQueue<RunLoopSource>.Place(self, in: queue)
        lock.withLock {
            memberships.append(Membership(loop: loop, mode: mode, place: place))
            if signalStamp != 0 { place.enqueue() }
        }
    }

    /// Called with the loop's lock held.
    ///
    /// A place that is queued stays so and is passed over when it is taken.
    func leave(_ loop: LoopCore, _ mode: RunLoopMode) {
        lock.withLock {
            memberships.removeAll { membership in
                guard membership.loop === loop, membership.mode == mode else { return false }
                membership.place.leave()
                return true
            }
        }
    }

    public override func invalidate() {
        guard becomeInvalid() else { return }
        stamp.store(0, ordering: .sequentiallyConsistent)
        let (left, released) = lock.withLock { () -> ([Membership], ((RunLoopSource) -> Void)?) in
            let released = performer
            performer = nil
            return (memberships, released)
        }
        var told: [LoopCore] = []
        for membership in left where !told.contains(where: { $0 === membership.loop }) {
            told.append(membership.loop)
            membership.loop.lock.withLock { membership.loop.discard(self) }
        }
        if let cancelled {
            for membership in left { cancelled(membership.loop, membership.mode) }
        }
        withExtendedLifetime(released) {}
    }

    public override var description: String {
        let state = isSignalled ? ", signalled" : ""
        return "<RunLoop.Source \(label)>{\(isValid ? "valid" : "invalid"), order \(order)\(state)}"
    }
}
