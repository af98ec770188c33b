internal import Synchronization

extension RunLoop {
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
    public final class DescriptorSource: Item, @unchecked Sendable {
        /// What a descriptor can be ready for.
        public typealias Events = DescriptorEvents

        /// The file descriptor.
        public let descriptor: CInt

        private let lock = Lock()
        private let interest: Atomic<UInt8>
        private let calls = CallWord()
        // Guarded by the lock.
        /// The locks of the loops that have it in a mode, of which there is usually one.
        @exclusivity(unchecked) private var firstLoop: LoopLock.Pointer?
        @exclusivity(unchecked) private var otherLoops: [LoopLock.Pointer] = []
        /// See ``CallWord`` for who releases it.
        @exclusivity(unchecked) private var handler: Handler?

        /// A closure that is not copied, so that it is not counted on the way of a call.
        private struct Handler: ~Copyable {
            let call: (DescriptorSource, Events) -> Void
        }

        /// A descriptor source whose closure runs on the thread that makes it, and may use that thread's state.
        ///
        /// - Parameters:
        ///   - descriptor: The file descriptor; stays the caller's.
        ///   - events: What the closure wants to be called for; hang-up and error are always reported.
        ///   - label: The name in descriptions and tools; where it was made, if `nil`.
        ///   - fileID: Where it was made.
        ///   - line: Where it was made.
        ///   - handler: Called with the source and what the descriptor is ready for.
        ///
        /// Corresponds to `CFRunLoopSourceCreate` with a context of version 1.
        /// - Precondition: `descriptor` is not negative.
        ///   Adding it to the loop of another thread traps.
        public convenience init(
            descriptor: CInt, events: Events = .readable, label: String? = nil,
            fileID: StaticString = #fileID, line: UInt = #line,
            handler: @escaping (DescriptorSource, Events) -> Void
        ) {
            self.init(descriptor, events, ItemLabel(label, fileID, line), home: ItemHome.currentThread, handler)
        }

        /// A descriptor source whose closure may run on any thread: it can be added to any loop.
        ///
        /// The parameters are those of ``init(_:for:repeats:closes:label:fileID:line:handler:)``.
        public static func sendable(
            descriptor: CInt, events: Events = .readable, label: String? = nil,
            fileID: StaticString = #fileID, line: UInt = #line,
            handler: @escaping @Sendable (DescriptorSource, Events) -> Void
        ) -> DescriptorSource {
            DescriptorSource(
                descriptor, events, ItemLabel(label, fileID, line), home: ItemHome.anyThread, handler)
        }

        /// A descriptor source whose closure runs on the main actor: it can be added to the main loop, from any thread.
        ///
        /// The parameters are those of ``init(_:for:repeats:closes:label:fileID:line:handler:)``.
        public static func mainActor(
            descriptor: CInt, events: Events = .readable, label: String? = nil,
            fileID: StaticString = #fileID, line: UInt = #line,
            handler: @escaping @MainActor (DescriptorSource, Events) -> Void
        ) -> DescriptorSource {
            DescriptorSource(descriptor, events, ItemLabel(label, fileID, line), home: ItemHome.mainThread) {
                source, events in
                MainActor.assumeIsolated { handler(source, events) }
            }
        }

        private init(
            _ descriptor: CInt, _ events: Events, _ label: ItemLabel, home: Int32,
            _ handler: @escaping (DescriptorSource, Events) -> Void
        ) {
            require(
                descriptor >= 0,
                "A descriptor source was made with the descriptor \(descriptor): was the result of open or socket checked?")
            self.descriptor = descriptor
            interest = Atomic(events.rawValue)
            self.handler = Handler(call: handler)
            super.init(label: label, home: home)
        }

        /// What the closure is called for; hang-up and error are always reported.
        ///
        /// A change takes effect before the next callout, also from inside the closure. With an empty set only hang-up
        /// and error are reported.
        /// - Complexity: one system call for each loop and mode the source is in, when the set changes.
        public var events: Events {
            get { Events(rawValue: interest.load(ordering: .relaxed)) }
            set {
                let loops = lock.withLock { () -> [LoopLock.Pointer] in
                    interest.store(newValue.rawValue, ordering: .relaxed)
                    return self.loops
                }
                inEach(loops) { $0.eventsChanged(of: self) }
            }
        }

        /// The locks of all loops that have it; with the lock held.
        private var loops: [LoopLock.Pointer] { (firstLoop.map { [$0] } ?? []) + otherLoops }

        /// Runs `body` with each of the loops, with its lock held.
        private func inEach(_ loops: [LoopLock.Pointer], _ body: (RunLoop) -> Void) {
            for pointer in loops {
                pointer.pointee.take()
                pointer.pointee.loop?._withUnsafeGuaranteedRef(body)
                pointer.pointee.giveBack()
            }
        }

        public override func invalidate() {
            lock.lock()
            guard isValid else { return lock.unlock() }
            markInvalid()
            let left = loops
            lock.unlock()
            inEach(left) { $0.discard(self) }
            if calls.becomeInvalid() { handler = nil }
        }

        // MARK: Being called. A loop's thread.

        /// Calls the closure if the source is valid and wants any of `ready`.
        @inline(__always)
        func call(for ready: Events, _ callOut: ((DescriptorSource, Events) -> Void, Events) -> Void) -> Bool {
            let told = ready.intersection(events.union([.hangUp, .error]))
            if told.isEmpty { return false }
            guard calls.begin() else { return false }
            // Nobody releases the closure while it is counted as called.
            switch handler {
            case .some(let handler): callOut(handler.call, told)
            case .none: break
            }
            if calls.end() { handler = nil }
            return true
        }

        // MARK: In a loop

        override func isIn(_ mode: ModeState, of loop: RunLoop) -> Bool { mode.descriptors.contains(self) }

        override func enter(_ mode: ModeState, of loop: RunLoop) throws(SystemCallError) -> Bool {
            lock.lock()
            defer { lock.unlock() }
            guard isValid else { return false }
            try mode.add(self)
            let pointer = loop.lockPointer
            if firstLoop == nil {
                firstLoop = pointer
            } else if firstLoop != pointer, !otherLoops.contains(pointer) {
                otherLoops.append(pointer)
            }
            loop.descriptorsChanged(in: mode)
            return true
        }

        override func leave(_ mode: ModeState, of loop: RunLoop) {
            mode.remove(self)
            loop.descriptorsChanged(in: mode)
            if loop.modeStates.contains(where: { $0.descriptors.contains(self) }) { return }
            lock.withLock {
                otherLoops.removeAll { $0 == loop.lockPointer }
                if firstLoop == loop.lockPointer { firstLoop = otherLoops.popLast() }
            }
        }

        override var kind: LoopItems.Kind { .descriptor }

        public override var description: String {
            let state = isValid ? "valid" : "invalid"
            return "<RunLoop.DescriptorSource \(label)>{\(state), descriptor \(descriptor), \(events)}"
        }
    }
}
