// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import Synchronization

extension RunLoop {
    /// Calls a closure on a loop's thread while a file descriptor is ready: to read, to write, with urgent data, hung
    /// up or in error; it can be in modes of several loops.
    ///
    /// A ready descriptor wakes the loop. The source is level-triggered: the closure is called once per turn while an
    /// event that the source asks for holds. A turn serves one ready descriptor, in the order in which the descriptors
    /// became ready, so that other items never wait for more than one descriptor. A source that does not repeat is
    /// called once, and again when ``events`` is set anew.
    ///
    /// The caller owns the descriptor, unless the source is made with `closes: true`. Invalidate the source before you
    /// close the descriptor. If a descriptor is closed before its source is invalidated, the source is no longer
    /// called, even if another file gets the number at once. Make the descriptor non-blocking: when the closure runs,
    /// other code may already have read the data.
    ///
    /// Corresponds to a `CFRunLoopSource` of version 1, and to `CFFileDescriptor`, whose callbacks are like a source
    /// that does not repeat. Any descriptor can be used, including descriptors that `epoll(7)` refuses because they are
    /// always ready.
    ///
    /// Thread safety: all members may be used by any thread.
    public final class DescriptorSource: Item, @unchecked Sendable {
        /// The file descriptor.
        public let descriptor: CInt
        /// Whether the closure is called repeatedly; otherwise it is called once each time ``events`` is set.
        public let repeats: Bool
        private let closes: Bool

        private let interest: Atomic<UInt8>
        private let lock = Lock()
        private let calls = CallWord()
        // Guarded by the lock.
        /// The locks of the loops that have the source in a mode; usually there is one such loop.
        @exclusivity(unchecked) private var firstLoop: LoopLock.Pointer?
        @exclusivity(unchecked) private var otherLoops: [LoopLock.Pointer] = []
        /// The closure; ``CallWord`` describes which thread releases it.
        // Unchecked: each event reads it.
        @exclusivity(unchecked) private var handler: Handler?

        /// A closure in a structure that cannot be copied, so that a call does no reference counting.
        private struct Handler: ~Copyable {
            let call: (DescriptorSource, DescriptorEvents) -> Void
        }

        // MARK: Making

        /// Makes a descriptor source whose closure runs on the calling thread, and may use that thread's state.
        ///
        /// - Parameters:
        ///   - descriptor: The file descriptor.
        ///   - events: The events for which the closure is called; see ``events``.
        ///   - repeats: Whether the closure is called for as long as the descriptor is ready, or once.
        ///   - closes: Whether the source closes the descriptor when the source is invalidated or released. The
        ///     descriptor is closed after the kernel has stopped watching it, and never while the closure runs.
        ///   - label: The name in descriptions and tools; where the source was made, if `nil`.
        ///   - fileID: Where the source was made.
        ///   - line: Where the source was made.
        ///   - handler: Called with the source and the events that the descriptor is ready for.
        ///
        /// Corresponds to `CFRunLoopSourceCreate` with a context of version 1, and to `CFFileDescriptorCreate`.
        /// Adding the source to the loop of another thread traps.
        /// - Precondition: `descriptor` is not negative.
        public convenience init(
            _ descriptor: CInt, for events: DescriptorEvents = .readable, repeats: Bool = true, closes: Bool = false,
            label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
            handler: @escaping (DescriptorSource, DescriptorEvents) -> Void
        ) {
            self.init(
                descriptor, events, repeats, closes, ItemLabel(label, fileID, line),
                allowedThread: AllowedThread.currentThread,
                handler)
        }

        /// Makes a descriptor source whose closure may run on any thread: it can be added to any loop, and to several
        /// loops.
        ///
        /// The parameters are those of ``init(_:for:repeats:closes:label:fileID:line:handler:)``.
        public static func sendable(
            _ descriptor: CInt, for events: DescriptorEvents = .readable, repeats: Bool = true, closes: Bool = false,
            label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
            handler: @escaping @Sendable (DescriptorSource, DescriptorEvents) -> Void
        ) -> DescriptorSource {
            DescriptorSource(
                descriptor, events, repeats, closes, ItemLabel(label, fileID, line),
                allowedThread: AllowedThread.anyThread, handler)
        }

        /// Makes a descriptor source whose closure runs on the main actor: it can be added to the main loop, from any
        /// thread.
        ///
        /// The parameters are those of ``init(_:for:repeats:closes:label:fileID:line:handler:)``.
        public static func mainActor(
            _ descriptor: CInt, for events: DescriptorEvents = .readable, repeats: Bool = true, closes: Bool = false,
            label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
            handler: @escaping @MainActor (DescriptorSource, DescriptorEvents) -> Void
        ) -> DescriptorSource {
            DescriptorSource(
                descriptor, events, repeats, closes, ItemLabel(label, fileID, line),
                allowedThread: AllowedThread.mainThread
            ) { source, events in
                MainActor.assumeIsolated { handler(source, events) }
            }
        }

        private init(
            _ descriptor: CInt, _ events: DescriptorEvents, _ repeats: Bool, _ closes: Bool, _ label: ItemLabel,
            allowedThread: Int32,
            _ handler: @escaping (DescriptorSource, DescriptorEvents) -> Void
        ) {
            require(
                descriptor >= 0,
                "A descriptor source was made with the descriptor \(descriptor): was the result of open or socket checked?"
            )
            self.descriptor = descriptor
            self.repeats = repeats
            self.closes = closes
            interest = Atomic(events.rawValue)
            self.handler = Handler(call: handler)
            super.init(label: label, allowedThread: allowedThread)
        }

        deinit {
            // No loop has the source any more. A source that was invalidated has closed the descriptor before.
            if isValid { closeDescriptor() }
        }

        // MARK: Interest

        /// The events for which the closure is called.
        ///
        /// Hang-up and error are reported as well while the set is not empty; to receive only these, set `[.hangUp]`.
        /// With an empty set, nothing is reported and the kernel does not watch the descriptor for this source, but a
        /// mode that contains the source is still not empty. A source that does not repeat has an empty set when its
        /// closure is called. Setting the property arms the source again, also from inside the closure.
        ///
        /// A change takes effect before the next callout. If the system refuses it, because the descriptor is no longer
        /// open (`EBADF`, `ENOENT`) or a resource of the system is exhausted (`ENOMEM`, `ENOSPC`, `EMFILE`, `ENFILE`),
        /// the closure is called once with `.error`, in the next turn, and the set is empty.
        ///
        /// Corresponds to `CFFileDescriptorEnableCallBacks` and `CFFileDescriptorDisableCallBacks`.
        /// - Complexity: one system call for each loop and mode the source is in, when the set changes.
        public var events: DescriptorEvents {
            get { DescriptorEvents(rawValue: interest.load(ordering: .relaxed)) }
            set {
                do { try change(to: newValue) } catch { deliverRefusal() }
            }
        }

        /// Sets ``events``; if the system refuses the change, throws the error and empties the set without calling the
        /// closure.
        package func change(to events: DescriptorEvents) throws(SystemCallError) {
            let (old, loops) = lock.withLock {
                (interest.exchange(events.rawValue, ordering: .relaxed), self.loops)
            }
            if old == events.rawValue { return }
            guard let refusal = eventsChanged(in: loops) else { return }
            // If another thread has set other events since, they are kept.
            _ = interest.compareExchange(expected: events.rawValue, desired: 0, ordering: .relaxed)
            _ = eventsChanged(in: loops)
            throw refusal
        }

        /// Applies a change in each of the loops; returns the first error of the system.
        private func eventsChanged(in loops: [LoopLock.Pointer]) -> SystemCallError? {
            var refusal: SystemCallError?
            inEach(loops[...]) { state in
                let error = state.eventsChanged(of: self)
                refusal = refusal ?? error
            }
            return refusal
        }

        /// Makes one of the source's loops call the closure with `.error`, once.
        package func deliverRefusal() {
            let loops = lock.withLock { self.loops }
            inEach(loops.prefix(1)) { $0.deliverRefusal(to: self) }
        }

        /// Returns the ready events for which the closure has to be called.
        ///
        /// A source that does not repeat has an empty set after that. A loop's thread.
        func take(_ ready: DescriptorEvents) -> DescriptorEvents {
            let wanted = events
            // Usually the source asks for the events it was watched for, and one test is enough.
            let taken = wanted.isEmpty ? [] : ready.intersection(wanted.union([.hangUp, .error]))
            return repeats || taken.isEmpty ? taken : takeOnce(taken, wanted)
        }

        /// Empties the event set of a source that does not repeat, and returns `taken`; returns no events if another
        /// thread has emptied or changed the set first.
        private func takeOnce(_ taken: DescriptorEvents, _ wanted: DescriptorEvents) -> DescriptorEvents {
            let isFirst = interest.compareExchange(
                expected: wanted.rawValue, desired: 0, ordering: .relaxed
            ).exchanged
            guard isFirst else { return [] }
            let loops = lock.withLock { self.loops }
            // The system refuses nothing when no event is asked for.
            _ = eventsChanged(in: loops)
            return taken
        }

        // MARK: The end

        public override func invalidate() {
            lock.lock()
            guard isValid else { return lock.unlock() }
            markInvalid()
            let left = loops
            lock.unlock()
            inEach(left[...]) { $0.discard(self) }
            if calls.becomeInvalid() { giveUp() }
        }

        private func giveUp() {
            handler = nil
            closeDescriptor()
        }

        private func closeDescriptor() {
            // An error of close needs no handling: the number is free in any case.
            if closes { _ = rl_close(descriptor) }
        }

        // MARK: Being called. A loop's thread.

        /// Calls the closure if the source is valid.
        func call(_ callOut: ((DescriptorSource, DescriptorEvents) -> Void) -> Void) -> Bool {
            guard calls.begin() else { return false }
            // The closure is not released while it is counted as called.
            switch handler {
            case .some(let handler): callOut(handler.call)
            case .none: break
            }
            if calls.end() { giveUp() }
            return true
        }

        // MARK: In a loop

        /// Records a loop that the source is added to; returns false if the source has become invalid.
        ///
        /// Called before the source is added to a mode, so that a change of ``events`` in between reaches that loop, too.
        func enter(_ pointer: LoopLock.Pointer) -> Bool {
            lock.lock()
            defer { lock.unlock() }
            guard isValid else { return false }
            if firstLoop == nil {
                firstLoop = pointer
            } else if firstLoop != pointer, !otherLoops.contains(pointer) {
                otherLoops.append(pointer)
            }
            return true
        }

        /// Called when no mode of the loop contains the source any longer.
        func leave(_ pointer: LoopLock.Pointer) {
            lock.withLock {
                otherLoops.removeAll { $0 == pointer }
                if firstLoop == pointer { firstLoop = otherLoops.popLast() }
            }
        }

        /// Whether a loop other than `loop` has the source in a mode.
        package func isElsewhere(than loop: RunLoop) -> Bool {
            lock.withLock { loops.contains { $0 != loop.memory.lock } }
        }

        /// The locks of all loops that have the source.
        private var loops: [LoopLock.Pointer] { (firstLoop.map { [$0] } ?? []) + otherLoops }

        /// Runs `body` with the state of each of the loops.
        private func inEach(_ loops: ArraySlice<LoopLock.Pointer>, _ body: (inout GuardedState) -> Void) {
            for pointer in loops { pointer.pointee.withState(body) }
        }

        override var kind: LoopEvent.Callee { .descriptor }

        public override var description: String {
            let state = isValid ? "valid" : "invalid"
            let place = isValid && lock.withLock { firstLoop == nil } ? ", in no loop" : ""
            return "<RunLoop.DescriptorSource \(label)>{\(state), descriptor \(descriptor), \(events)\(place)}"
        }
    }
}
