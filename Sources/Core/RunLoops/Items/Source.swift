// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import Synchronization

extension RunLoop {
    /// Calls a closure on a loop's thread after any thread has signalled the source; it can be in modes of several loops.
    ///
    /// ``signal()`` only marks the source, from
    /// any thread. A loop that runs in one of the source's modes performs it in its next turn; ``RunLoop/wakeUp()``
    /// makes the loop turn now. Several signals before a source is performed count as one. Signalled sources are
    /// performed by ascending order; sources of equal order are performed in the order of their signals.
    ///
    /// Corresponds to a `CFRunLoopSource` of version 0.
    ///
    /// Thread safety: all members may be used by any thread.
    public final class Source: Item, @unchecked Sendable {
        /// A closure that is called when the source is added to or removed from a mode of a loop.
        typealias ModeCallback = (RunLoop, Mode) -> Void

        /// One mode of one loop that the source is in.
        private struct Membership {
            let loop: RunLoop
            let mode: Mode
            let place: SignalQueue<Source>.Place
        }

        /// The order of the source; in one mode, sources of lower order are performed first.
        public let order: Int

        private let calls = CallWord()
        private let lock = Lock()
        // Guarded by the lock.
        @exclusivity(unchecked) private var memberships: [Membership] = []
        /// The source's place in the signal queue of the first mode that it was added to; kept until the source is
        /// released.
        // Unchecked, like the closures: signals and performs read them.
        @exclusivity(unchecked) private var firstPlace: SignalQueue<Source>.Place?
        /// The source's places in the signal queues of other modes; kept until their loops end, also if the source has
        /// left the mode.
        @exclusivity(unchecked) private var otherPlaces: [SignalQueue<Source>.Place] = []
        /// `firstPlace`, if the source has never been in another mode; such a source can be signalled without the lock.
        private let solePlace = Atomic<UnsafeRawPointer?>(nil)
        /// The closures, which are released as ``CallWord`` describes.
        @exclusivity(unchecked) private var performer: Performer?
        private let schedule: ModeCallback?
        private let cancel: ModeCallback?

        /// A closure in a structure that cannot be copied, so that a call does no reference counting.
        private struct Performer: ~Copyable {
            let call: (Source) -> Void
        }

        // MARK: Making

        /// Makes a source whose closures run on the calling thread, and may use that thread's state.
        ///
        /// - Parameters:
        ///   - order: Lower orders are performed first.
        ///   - label: The name in descriptions and tools; where it was made, if `nil`.
        ///   - schedule: Called when the source is added to a mode of a loop, on the thread that adds it.
        ///   - cancel: Called when the source is removed from a mode of a loop, or is invalidated, on the thread that
        ///     does so.
        ///   - fileID: The file that makes the source.
        ///   - line: The line that makes the source.
        ///   - handler: Called with the source after it was signalled.
        ///
        /// Adding the source to the loop of another thread traps.
        /// Corresponds to `CFRunLoopSourceCreate` with a context of version 0.
        public convenience init(
            order: Int = 0, label: String? = nil, schedule: ((RunLoop, Mode) -> Void)? = nil,
            cancel: ((RunLoop, Mode) -> Void)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
            handler: @escaping (Source) -> Void
        ) {
            self.init(
                order, ItemLabel(label, fileID, line), allowedThread: AllowedThread.currentThread,
                schedule: schedule, cancel: cancel, handler)
        }

        /// Makes a source whose closures may run on any thread: it can be added to any number of loops.
        ///
        /// A `Sendable` class that stores its own source in a `let` cannot capture `self` in the closure, because Swift
        /// requires all constants to be set before `self` is used. Make a part of the object first, and let the closure
        /// capture that part.
        ///
        /// The parameters are the same as for ``init(order:label:schedule:cancel:fileID:line:handler:)``.
        public static func sendable(
            order: Int = 0, label: String? = nil, schedule: (@Sendable (RunLoop, Mode) -> Void)? = nil,
            cancel: (@Sendable (RunLoop, Mode) -> Void)? = nil, fileID: StaticString = #fileID,
            line: UInt = #line, handler: @escaping @Sendable (Source) -> Void
        ) -> Source {
            Source(
                order, ItemLabel(label, fileID, line), allowedThread: AllowedThread.anyThread,
                schedule: schedule, cancel: cancel, handler)
        }

        /// Makes a source whose closure runs on the main actor: it can be added to the main loop, from any thread.
        ///
        /// `schedule` and `cancel` run on the thread that adds or removes the source, which need not be the main thread. The
        /// other parameters are the same as for ``init(order:label:schedule:cancel:fileID:line:handler:)``.
        public static func mainActor(
            order: Int = 0, label: String? = nil, schedule: (@Sendable (RunLoop, Mode) -> Void)? = nil,
            cancel: (@Sendable (RunLoop, Mode) -> Void)? = nil, fileID: StaticString = #fileID, line: UInt = #line,
            handler: @escaping @MainActor (Source) -> Void
        ) -> Source {
            Source(
                order, ItemLabel(label, fileID, line), allowedThread: AllowedThread.mainThread, schedule: schedule,
                cancel: cancel
            ) { source in
                MainActor.assumeIsolated { handler(source) }
            }
        }

        private init(
            _ order: Int, _ label: ItemLabel, allowedThread: Int32, schedule: ModeCallback?, cancel: ModeCallback?,
            _ handler: @escaping (Source) -> Void
        ) {
            self.order = order
            performer = Performer(call: handler)
            self.schedule = schedule
            self.cancel = cancel
            super.init(label: label, allowedThread: allowedThread)
        }

        // MARK: Signals

        /// Marks the source as signalled, so that a loop performs it in its next turn.
        ///
        /// Does not wake the loop.
        ///
        /// The call has no effect on an invalid source, or on a source that is signalled already. Corresponds to
        /// `CFRunLoopSourceSignal`.
        /// Thread safety: any thread.
        /// - Complexity: O(1) in the number of sources; O(k) in the modes that this source is in.
        public func signal() {
            let isNew = calls.signal {
                let number = rl_next_number()
                if rl_is_recorded() { recordSignal(number) }
                return number
            }
            guard isNew else { return }
            if let pointer = solePlace.load(ordering: .sequentiallyConsistent) {
                // SAFETY: the first place is kept until the source dies.
                Unmanaged<SignalQueue<Source>.Place>.fromOpaque(pointer)._withUnsafeGuaranteedRef {
                    if $0.isPresent { $0.enqueue() }
                }
            } else {
                lock.withLock { for membership in memberships { membership.place.enqueue() } }
            }
        }

        /// Whether the source has been signalled and not yet performed.
        ///
        /// Corresponds to `CFRunLoopSourceIsSignalled`.
        public var isSignalled: Bool { calls.isSignalled }

        /// The number of the signal, 0 if there is none.
        ///
        /// All sources share one count of signals, so that sources of equal order are performed in the order of their
        /// signals, whichever queues they are in.
        var signalNumber: UInt64 { calls.signalNumber }

        /// Records, for diagnostics, when and by which thread the signal was given.
        ///
        /// Called before the source is marked as signalled, so that the loop that serves the signal finds the record.
        private func recordSignal(_ number: UInt64) {
            let loop = lock.withLock { memberships.first?.loop }
            rl_stamp_signal(number, loop?.now(.monotonic) ?? SystemCalls.now(.monotonic), SystemCalls.threadID)
        }

        // MARK: Performing. A loop's thread.

        /// If the source is signalled and valid, takes the signal and calls the closure.
        func perform(_ callOut: ((Source) -> Void) -> Void) -> Bool {
            guard calls.beginIfSignalled() else { return false }
            // The closure is not released while a call of it is counted.
            switch performer {
            case .some(let performer): callOut(performer.call)
            case .none: break
            }
            if calls.end() { performer = nil }
            return true
        }

        public override func invalidate() {
            lock.lock()
            guard isValid else { return lock.unlock() }
            markInvalid()
            let isLast = calls.becomeInvalid()
            var left = memberships
            lock.unlock()
            // Another thread may take the source out of one of its modes, or end a loop: then that thread calls cancel.
            // The loop of a parent process keeps the source: that loop can no longer be reached.
            left.removeAll { one in
                !one.loop.isInherited && !one.loop.withState { $0.discard(self, from: one.mode) }
            }
            for membership in left {
                membership.loop.sweepSignals()
                cancel?(membership.loop, membership.mode)
            }
            if isLast { performer = nil }
        }

        public override var description: String {
            let state = isSignalled ? ", signalled" : ""
            let place = isValid && lock.withLock { memberships.isEmpty } ? ", in no loop" : ""
            return "<RunLoop.Source \(label)>{\(isValid ? "valid" : "invalid"), order \(order)\(state)\(place)}"
        }

        // MARK: In a loop

        /// Records a mode to which the source is added; returns false if the source has become invalid.
        func enter(_ mode: Mode, of loop: RunLoop, _ signals: SignalQueue<Source>) -> Bool {
            lock.lock()
            defer { lock.unlock() }
            guard isValid else { return false }
            let place = place(in: signals)
            memberships.append(Membership(loop: loop, mode: mode, place: place))
            if isSignalled { place.enqueue() }
            return true
        }

        /// The source's place in the queue: the place that it has had there, or a new one.
        private func place(in queue: SignalQueue<Source>) -> SignalQueue<Source>.Place {
            guard let firstPlace else {
                let place = SignalQueue.Place(self, in: queue)
                firstPlace = place
                solePlace.store(
                    UnsafeRawPointer(Unmanaged.passUnretained(place).toOpaque()), ordering: .sequentiallyConsistent)
                return place
            }
            if let known = firstPlace.queue === queue ? firstPlace : otherPlaces.first(where: { $0.queue === queue }) {
                known.isPresent = true
                return known
            }
            // From here on signals look at all places, with the lock.
            solePlace.store(nil, ordering: .sequentiallyConsistent)
            otherPlaces.removeAll { $0.isOver }
            let place = SignalQueue.Place(self, in: queue)
            otherPlaces.append(place)
            return place
        }

        /// Records that the source was removed from a mode of the loop with this number; returns whether the source is
        /// still queued there.
        ///
        /// If its place is in the mode's queue, the place stays there, and the loop skips it when it takes it from the
        /// queue.
        func leave(_ mode: Mode, ofLoop loop: UInt32) -> Bool {
            var isQueued = false
            lock.withLock {
                memberships.removeAll { membership in
                    guard membership.loop.core.number == loop, membership.mode == mode else { return false }
                    isQueued = membership.place.leave()
                    return true
                }
            }
            return isQueued
        }

        /// Calls `schedule` for modes to which the source was added.
        func hasEntered(_ modes: [Mode], of loop: RunLoop) {
            if let schedule { for mode in modes { schedule(loop, mode) } }
        }

        /// Calls `cancel` for modes from which the source was removed.
        func hasLeft(_ modes: [Mode], of loop: RunLoop) {
            loop.sweepSignals()
            if let cancel { for mode in modes { cancel(loop, mode) } }
        }

        override var kind: LoopEvent.Callee { .source }
    }
}
