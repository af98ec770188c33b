/// Is told when a run passes the points it asked for.
///
/// Observers of a mode are called in ascending order, equal orders as they were added. An observer is not called
/// again inside its own callout. One that does not repeat is invalid after its first call. Observers do not keep a
/// mode alive.
///
/// Corresponds to `CFRunLoopObserver`.
///
/// Thread safety: all members may be used by any thread.
public final class RunLoopObserver: RunLoopSingleLoopItem, @unchecked Sendable {
    /// The points it is called at.
    public let activities: RunLoopActivities
    /// Whether it is called more than once.
    public let repeats: Bool

    /// Guarded by the owner's lock.
    private var handler: ((RunLoopObserver, RunLoopActivities) -> Void)?
    /// Whether its callout is under way; the loop's thread alone touches it.
    @exclusivity(unchecked) var isFiring = false

    /// An observer whose closure runs on the thread that makes it, and may use that thread's state.
    ///
    /// - Parameters:
    ///   - activities: The points of a run it is called at.
    ///   - order: Lower orders are called first.
    ///   - repeats: `false`: called once, then invalid.
    ///   - label: The name in descriptions and tools; where it was made, if `nil`.
    ///   - fileID: Where it was made.
    ///   - line: Where it was made.
    ///   - handler: Called with the observer and the one activity that is told.
    ///
    /// Adding it to the loop of another thread traps.
    /// Corresponds to `CFRunLoopObserverCreateWithHandler`.
    public convenience init(
        _ activities: RunLoopActivities, order: Int = 0, repeats: Bool = true, label: String? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping (RunLoopObserver, RunLoopActivities) -> Void
    ) {
        self.init(activities, order, repeats, ItemLabel(label, fileID, line), home: ItemHome.currentThread, handler)
    }

    /// An observer whose closure may run on any thread: it can be added to any loop.
    ///
    /// The parameters are those of ``init(_:order:repeats:label:fileID:line:handler:)``.
    public static func sendable(
        _ activities: RunLoopActivities, order: Int = 0, repeats: Bool = true, label: String? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping @Sendable (RunLoopObserver, RunLoopActivities) -> Void
    ) -> RunLoopObserver {
        RunLoopObserver(
            activities, order, repeats, ItemLabel(label, fileID, line), home: ItemHome.anyThread, handler)
    }

    /// An observer whose closure runs on the main actor: it can be added to the main loop, from any thread.
    ///
    /// The parameters are those of ``init(_:order:repeats:label:fileID:line:handler:)``.
    public static func mainActor(
        _ activities: RunLoopActivities, order: Int = 0, repeats: Bool = true, label: String? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping @MainActor (RunLoopObserver, RunLoopActivities) -> Void
    ) -> RunLoopObserver {
        RunLoopObserver(activities, order, repeats, ItemLabel(label, fileID, line), home: ItemHome.mainThread) {
            observer, activity in
            MainActor.assumeIsolated { handler(observer, activity) }
        }
    }

    private init(
        _ activities: RunLoopActivities, _ order: Int, _ repeats: Bool, _ label: ItemLabel, home: Int32,
        _ handler: @escaping (RunLoopObserver, RunLoopActivities) -> Void
    ) {
        self.activities = activities
        self.repeats = repeats
        self.handler = handler
        super.init(.observer, order: order, label: label, home: home)
    }

    /// The closure, while the observer is valid.
    ///
    /// With the lock of the loop held that has it.
    var callback: ((RunLoopObserver, RunLoopActivities) -> Void)? { handler }

    public override func invalidate() {
        guard becomeInvalid() else { return }
        let released = withFields { owner in
            owner?.discard(self)
            let released = handler
            handler = nil
            return released
        }
        // The closure may hold the last reference to anything: it goes when no lock is held.
        withExtendedLifetime(released) {}
    }

    public override var description: String {
        let times = repeats ? "repeats" : "once"
        return "<RunLoop.Observer \(label)>{\(isValid ? "valid" : "invalid"), \(activities), order \(order), \(times)}"
    }
}
