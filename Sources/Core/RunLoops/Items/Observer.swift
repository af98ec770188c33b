// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

extension RunLoop {
    /// Calls a closure when a run of the one loop that it is in passes certain points.
    ///
    /// Observers of a mode are called by ascending order; observers of equal order are called in the order in which
    /// they were added. An observer is not called again inside its own callout. An observer that does not repeat is
    /// invalid after its first call. A mode that contains only observers counts as empty.
    ///
    /// Corresponds to `CFRunLoopObserver`.
    ///
    /// Thread safety: all members may be used by any thread.
    public final class Observer: Item, @unchecked Sendable {
        /// The order of the observer; in one mode, observers of lower order are called first.
        public let order: Int
        /// The points at which the observer is called.
        public let activities: Activities
        /// Whether the observer is called more than once.
        public let repeats: Bool

        let owner = ItemOwner()
        // Guarded by the owner's lock.
        /// How many modes the observer is in.
        @exclusivity(unchecked) var modeCount = 0
        /// The closure, while the observer is valid.
        @exclusivity(unchecked) private var handler: Handler?
        // Not guarded by a lock: the observer may be in another loop before its callout has returned.
        private let isFiring = Atomic<Bool>(false)

        /// A closure in a structure, which a generic function returns as it is: a closure alone would be wrapped in another,
        /// at an allocation each.
        struct Handler {
            let call: (Observer, Activities) -> Void
        }

        /// Makes an observer whose closure runs on the calling thread, and may use that thread's state.
        ///
        /// - Parameters:
        ///   - activities: The points of a run at which the observer is called.
        ///   - order: Lower orders are called first.
        ///   - repeats: `false` for an observer that is called once and is then invalid.
        ///   - label: The name in descriptions and tools; where it was made, if `nil`.
        ///   - fileID: The file that makes the observer.
        ///   - line: The line that makes the observer.
        ///   - handler: Called with the observer and the one activity that the run has reached.
        ///
        /// Adding the observer to the loop of another thread traps.
        /// Corresponds to `CFRunLoopObserverCreateWithHandler`.
        public convenience init(
            _ activities: Activities, order: Int = 0, repeats: Bool = true, label: String? = nil,
            fileID: StaticString = #fileID, line: UInt = #line,
            handler: @escaping (Observer, Activities) -> Void
        ) {
            self.init(
                activities, order, repeats, ItemLabel(label, fileID, line), allowedThread: AllowedThread.currentThread,
                handler)
        }

        /// Makes an observer whose closure may run on any thread: it can be added to any loop.
        ///
        /// The parameters are the same as for ``init(_:order:repeats:label:fileID:line:handler:)``.
        public static func sendable(
            _ activities: Activities, order: Int = 0, repeats: Bool = true, label: String? = nil,
            fileID: StaticString = #fileID, line: UInt = #line,
            handler: @escaping @Sendable (Observer, Activities) -> Void
        ) -> Observer {
            Observer(
                activities, order, repeats, ItemLabel(label, fileID, line), allowedThread: AllowedThread.anyThread,
                handler)
        }

        /// Makes an observer whose closure runs on the main actor: it can be added to the main loop, from any thread.
        ///
        /// The parameters are the same as for ``init(_:order:repeats:label:fileID:line:handler:)``.
        public static func mainActor(
            _ activities: Activities, order: Int = 0, repeats: Bool = true, label: String? = nil,
            fileID: StaticString = #fileID, line: UInt = #line,
            handler: @escaping @MainActor (Observer, Activities) -> Void
        ) -> Observer {
            Observer(
                activities, order, repeats, ItemLabel(label, fileID, line), allowedThread: AllowedThread.mainThread
            ) {
                observer, activity in
                MainActor.assumeIsolated { handler(observer, activity) }
            }
        }

        private init(
            _ activities: Activities, _ order: Int, _ repeats: Bool, _ label: ItemLabel, allowedThread: Int32,
            _ handler: @escaping (Observer, Activities) -> Void
        ) {
            self.activities = activities
            self.repeats = repeats
            self.handler = Handler(call: handler)
            self.order = order
            super.init(label: label, allowedThread: allowedThread)
        }

        public override func invalidate() {
            // The closure may hold the last reference to anything: it is released when no lock is held.
            var released: Handler?
            owner.withLock { state in
                guard isValid else { return }
                markInvalid()
                if modeCount > 0 { state?.pointee.discard(self) }
                swap(&released, &handler)
            }
            withExtendedLifetime(released) {}
        }

        // MARK: Being called. A loop's thread.

        /// Begins a call by the loop with this state, unless a call is under way or the observer belongs to another loop;
        /// returns the closure.
        func beginCall(by state: borrowing GuardedState) -> Handler? {
            guard belongs(to: state.lock) else { return nil }
            guard let handler, !isFiring.exchange(true, ordering: .acquiring) else { return nil }
            return handler
        }

        /// Ends a call.
        func endCall() {
            if !repeats { invalidate() }
            // releasing: pairs with the exchange in beginCall, so that calls follow each other.
            isFiring.store(false, ordering: .releasing)
        }

        // MARK: In a loop

        override func claim(for loop: LoopLock.Pointer) -> Bool { owner.claim(for: loop) { modeCount > 0 } }
        override func belongs(to loop: LoopLock.Pointer) -> Bool { owner.isHeld(by: loop) }
        override var kind: LoopEvent.Callee { .observer }

        public override var description: String {
            let times = repeats ? "repeats" : "once"
            let state = isValid ? "valid" : "invalid"
            let place = owner.withLock { _ in isValid && modeCount == 0 ? ", in no loop" : "" }
            return "<RunLoop.Observer \(label)>{\(state), \(activities), order \(order), \(times)\(place)}"
        }
    }
}
