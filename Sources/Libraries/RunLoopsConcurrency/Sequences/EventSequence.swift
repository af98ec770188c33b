// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// A sequence of events of a run loop, for one task.
    ///
    /// The loop's items are callbacks; this type turns an item into a sequence. The sequence collects events from the
    /// moment it is made. It ends, and its item is removed from the loop, when the first of these happens: the task
    /// that iterates over it is cancelled; ``invalidate()`` is called; sequence and iterator are released; the thread
    /// of the loop ends.
    ///
    /// A time limit around one element cancels the wait for it, as ``RunLoop/withTimeout(_:tolerance:clock:_:)`` does when the
    /// time is over, and so ends the sequence. To go on after such a wait, let one task iterate to the end, and limit the
    /// wait for what that task has stored; or make a new sequence, without the events in between. The sequences of files,
    /// such as `lines(of:)`, do not end.
    ///
    /// Events that happen while no task waits are kept as ``Buffering`` says; each function that makes a sequence
    /// states its buffering.
    ///
    /// One task may iterate over a sequence, once.
    ///
    /// Thread safety: may be sent to any thread.
    public struct EventSequence<Element: Sendable>: AsyncSequence, Sendable {
        /// The type of the errors that end a sequence: none.
        public typealias Failure = Never

        private let stream: AsyncStream<Element>
        private let registration: Registration

        /// Makes a sequence of the events of an item that `start` registers.
        ///
        /// The sequences of this package are made with this initializer, and your own sequences can be, too:
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
        ///   - buffering: Which events are kept while no task waits.
        ///   - start: Registers an item that emits events. The closure gives the emitter to the loop's item, and to
        ///     nothing else: when the item releases the emitter, because the thread of the loop has ended, the sequence
        ///     ends. Returns a ``Stop``, which must not keep the item alive.
        public init<Refusal: Error>(
            buffering: Buffering, start: (Emitter) throws(Refusal) -> Stop
        ) throws(Refusal) {
            let (stream, continuation) = AsyncStream<Element>.makeStream(bufferingPolicy: buffering.policy)
            let registration = Registration()
            registration.begin(with: try start(Emitter(continuation)))
            // The item holds the continuation, so the continuation does not hold the registration: the sequence and its
            // iterator keep it.
            continuation.onTermination = { [weak registration] _ in registration?.end() }
            self.stream = stream
            self.registration = registration
        }

        /// Ends the sequence: the item is removed from the loop, and the iteration of the task ends.
        ///
        /// Thread safety: any thread. A second call does nothing.
        public func invalidate() { registration.end() }

        /// Returns the only iterator of the sequence.
        public func makeAsyncIterator() -> Iterator {
            Iterator(base: stream.makeAsyncIterator(), registration: registration)
        }

        /// The iterator of a sequence.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate var base: AsyncStream<Element>.Iterator
            fileprivate let registration: Registration

            /// Returns the next event, and waits for it if none is kept; `nil` at the end.
            public mutating func next() async -> Element? {
                registration.demand()
                return await base.next()
            }

            /// Returns the next event, and waits for it if none is kept; `nil` at the end.
            public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
                registration.demand()
                return await base.next(isolation: actor)
            }
        }
    }
}

extension RunLoop.EventSequence {
    /// The events that are kept while no task waits.
    public enum Buffering: Sendable, Hashable {
        /// All events, without limit.
        case unbounded
        /// The first events, up to this number; later events are dropped.
        case oldest(Int)
        /// The last events, up to this number; earlier events are dropped.
        case newest(Int)

        fileprivate var policy: AsyncStream<Element>.Continuation.BufferingPolicy {
            switch self {
            case .unbounded: .unbounded
            case .oldest(let count): .bufferingOldest(count)
            case .newest(let count): .bufferingNewest(count)
            }
        }
    }

    /// Adds events to a sequence; releasing the emitter ends the sequence.
    public final class Emitter: Sendable {
        private let continuation: AsyncStream<Element>.Continuation

        fileprivate init(_ continuation: AsyncStream<Element>.Continuation) { self.continuation = continuation }

        deinit { continuation.finish() }

        /// Hands an event to the waiting task, or keeps it as the sequence's buffering says.
        ///
        /// Thread safety: any thread.
        public func emit(_ event: Element) { continuation.yield(event) }

        /// Ends the sequence after the kept events; events that are emitted later are dropped.
        ///
        /// Thread safety: any thread.
        public func finish() { continuation.finish() }
    }

    /// The closures that a sequence calls at its end, and when its task asks for the next event.
    public struct Stop: Sendable {
        fileprivate let stop: @Sendable () -> Void
        fileprivate let demand: (@Sendable () -> Void)?

        /// Creates a stop from its closures.
        ///
        /// - Parameters:
        ///   - demand: Called when the task asks for the next event, before it waits: for items that are to report one
        ///     event at a time.
        ///   - stop: Called once.
        public init(demand: (@Sendable () -> Void)? = nil, stop: @escaping @Sendable () -> Void) {
            self.stop = stop
            self.demand = demand
        }
    }

    /// The registration, which lasts as long as the sequence or its iterator is kept.
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
