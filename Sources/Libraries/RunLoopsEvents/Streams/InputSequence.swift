// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// A sequence of the lines or bytes of a file.
    ///
    /// The loop reads when the task asks for more than has been read, and never more than 64 KiB ahead: a slow task
    /// makes the writer wait. The sequence ends at the end of the input and with ``invalidate()``; it throws what an
    /// ``InputReader`` fails with. When a task that waits for an element is cancelled, the loop of this task ends, and the
    /// sequence does not: with a time limit around one element, such as `RunLoop.withTimeout`, a later call
    /// returns the next element, and no element is lost.
    ///
    /// Each element is delivered once. Iterators one after the other continue where the last one stopped: a program can
    /// read a header with one loop and the body with the next. Several tasks may iterate over a sequence at the same
    /// time; they share its elements, and a task that waits is served before those that ask later. When the sequence and its
    /// iterators are released, reading stops.
    ///
    /// Thread safety: may be sent to any thread.
    public struct InputSequence<Element: Sendable>: AsyncSequence, Sendable {
        /// The error that ends the sequence before the input's end.
        public typealias Failure = RunLoop.InputError

        private let intake: Intake<Element>

        init(_ intake: Intake<Element>) { self.intake = intake }

        /// The elements of this sequence in arrays, one array for each read.
        public var batches: Batches { Batches(intake: intake) }

        /// Ends the sequence, and stops reading the file; a line whose end was not read is dropped.
        ///
        /// Thread safety: any thread. A second call does nothing.
        public func invalidate() { intake.end() }

        /// Returns an iterator that continues where the sequence's last iterator stopped.
        public func makeAsyncIterator() -> Iterator { Iterator(intake: intake) }

        /// The iterator of a sequence, which returns one element at a time.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let intake: Intake<Element>

            /// Returns the next element; `nil` at the end, and if the task is cancelled.
            public mutating func next() async throws(Failure) -> Element? { try await next(isolation: #isolation) }

            /// Returns the next element; `nil` at the end.
            ///
            /// - Complexity: one wait for each batch; the other elements need no wait.
            public mutating func next(isolation actor: isolated (any Actor)?) async throws(Failure) -> Element? {
                if let element = intake.takeOne() { return element }
                return try await intake.next(atMost: 1, isolation: actor).first
            }
        }

        /// The elements of an ``InputSequence`` in arrays, one array for each read.
        public struct Batches: AsyncSequence, Sendable {
            /// The error that ends the sequence before the input's end.
            public typealias Failure = RunLoop.InputError

            fileprivate let intake: Intake<InputSequence.Element>

            /// Returns an iterator that continues where the sequence's last iterator stopped.
            public func makeAsyncIterator() -> Iterator { Iterator(intake: intake) }

            /// The iterator of the batches.
            public struct Iterator: AsyncIteratorProtocol {
                fileprivate let intake: Intake<InputSequence.Element>

                /// Returns the next batch, of at least one element; `nil` at the end.
                public mutating func next() async throws(Failure) -> [InputSequence.Element]? {
                    try await next(isolation: #isolation)
                }

                /// Returns the next batch, of at least one element; `nil` at the end.
                public mutating func next(
                    isolation actor: isolated (any Actor)?
                ) async throws(Failure) -> [InputSequence.Element]? {
                    let batch = try await intake.next(atMost: .max, isolation: actor)
                    return batch.isEmpty ? nil : batch
                }
            }
        }
    }
}
