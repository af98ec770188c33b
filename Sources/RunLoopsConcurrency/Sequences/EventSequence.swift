public import RunLoops

extension RunLoop {
    /// What happens on a run loop, as a sequence that a task goes through.
    ///
    /// The loop's items are callbacks; this turns one into a sequence. Events are registered for from the moment the sequence is
    /// made. It ends, and what was registered is taken out of the loop, when the first of these happens: the task that goes
    /// through it is cancelled; ``invalidate()`` is called; sequence and iterator are released; the thread of the loop ends.
    ///
    /// What happens while nobody waits is kept as ``Buffering`` says, which each maker of a sequence states.
    ///
    /// One task goes through a sequence, once.
    ///
    /// Thread safety: may be sent to any thread.
    public struct EventSequence<Element: Sendable>: AsyncSequence, Sendable {
        /// No error ends a sequence.
        public typealias Failure = Never

        private let stream: AsyncStream<Element>
        private let registration: Registration

        /// A sequence of what `start` registers for.
        ///
        /// This is what the sequences of this package are made with, and others can be:
        ///
        /// ```swift
        /// RunLoop.EventSequence<Void>(buffering: .newest(1)) { emitter in
        ///     let source = RunLoop.Source.sendable { _ in emitter.emit(()) }
        ///     loop.add(source, in: .common)
        ///     return RunLoop.EventSequence.Stop { [weak source] in source?.invalidate() }
        /// }
        /// ```
        ///
        /// - Parameters:
        ///   - buffering: What is kept of events that come while nobody waits.
        ///   - start: Registers, and has events emitted. It gives the emitter to the loop's item, and to nobody else: when the
        ///     item releases it, because the thread of the loop has ended, the sequence ends. Returns how to stop, which must not
        ///     keep the item alive.
        public init<Refusal: Error>(
            buffering: Buffering, start: (Emitter) throws(Refusal) -> Stop
        ) throws(Refusal) {
            let (stream, continuation) = AsyncStream<Element>.makeStream(bufferingPolicy: buffering.policy)
            let registration = Registration()
            registration.begin(with: try start(Emitter(continuation)))
            // Not held by the continuation, which the item holds: the sequence and its iterator are the ones who keep it.
            continuation.onTermination = { [weak registration] _ in registration?.end() }
            self.stream = stream
            self.registration = registration
        }

        /// Ends the sequence: what was registered is taken out, and the task that goes through it comes to its end.
        ///
        /// Thread safety: any thread. A second call does nothing.
        public func invalidate() { registration.end() }

        /// The one iterator.
        public func makeAsyncIterator() -> Iterator {
            Iterator(base: stream.makeAsyncIterator(), registration: registration)
        }

        /// Goes through the sequence.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate var base: AsyncStream<Element>.Iterator
            fileprivate let registration: Registration

            /// The next event, kept or to come; `nil` at the end.
            public mutating func next() async -> Element? {
                registration.demand()
                return await base.next()
            }

            /// The next event, kept or to come; `nil` at the end.
            public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
                registration.demand()
                return await base.next(isolation: actor)
            }
        }
    }
}

extension RunLoop.EventSequence {
    /// What is kept of events that come while nobody waits.
    public enum Buffering: Sendable, Hashable {
        /// All, without limit.
        case unbounded
        /// The first so many; later ones are dropped.
        case oldest(Int)
        /// The last so many; earlier ones are dropped.
        case newest(Int)

        fileprivate var policy: AsyncStream<Element>.Continuation.BufferingPolicy {
            switch self {
            case .unbounded: .unbounded
            case .oldest(let count): .bufferingOldest(count)
            case .newest(let count): .bufferingNewest(count)
            }
        }
    }

    /// Where events come in; whoever lets go of it has ended the sequence.
    public final class Emitter: Sendable {
        private let continuation: AsyncStream<Element>.Continuation

        fileprivate init(_ continuation: AsyncStream<Element>.Continuation) { self.continuation = continuation }

        deinit { continuation.finish() }

        /// Hands an event to the task that waits, or keeps it as the sequence's buffering says.
        ///
        /// Thread safety: any thread.
        public func emit(_ event: Element) { continuation.yield(event) }

        /// Ends the sequence after what is kept; events that come later are dropped.
        ///
        /// Thread safety: any thread.
        public func finish() { continuation.finish() }
    }

    /// How a sequence takes out what it has registered, and what it does when its task asks for more.
    public struct Stop: Sendable {
        fileprivate let stop: @Sendable () -> Void
        fileprivate let demand: (@Sendable () -> Void)?

        /// - Parameters:
        ///   - demand: Called when the task asks for the next event, before it waits: where events are only wanted one at a time.
        ///   - stop: Called once.
        public init(demand: (@Sendable () -> Void)? = nil, stop: @escaping @Sendable () -> Void) {
            self.stop = stop
            self.demand = demand
        }
    }

    /// What is registered as long as somebody has the sequence or its iterator.
    fileprivate final class Registration: Sendable {
        private let state = Guarded<Stop?>(nil)

        func begin(with stop: Stop) { state.withLock { $0 = stop } }

        deinit { end() }

        func end() {
            let stop = state.withLock { state in
                defer { state = nil }
                return state
            }
            stop?.stop()
        }

        func demand() { state.withLock { $0 }?.demand?() }
    }
}
