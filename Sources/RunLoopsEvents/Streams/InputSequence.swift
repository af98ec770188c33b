// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// Lines or bytes of a file, as a sequence that a task goes through.
    ///
    /// The loop reads when the task asks for more than has been read, and never more than 64 KiB ahead: a task that
    /// takes its time holds off the writer. The sequence ends at the end of the input, when the task is cancelled, and
    /// with ``invalidate()``; it throws what an ``InputReader`` fails with.
    ///
    /// One task goes through a sequence, once. When the sequence and its iterator are released, nothing reads any more.
    ///
    /// Thread safety: may be sent to any thread.
    public struct InputSequence<Element: Sendable>: AsyncSequence, Sendable {
        /// What ends the sequence before the input's end.
        public typealias Failure = RunLoop.InputError

        private let intake: Intake<Element>

        init(_ intake: Intake<Element>) { self.intake = intake }

        /// The same elements, as many at a time as were read at a time.
        public var batches: Batches { Batches(intake: intake) }

        /// Ends the sequence; nothing reads from the file any more.
        ///
        /// Thread safety: any thread. A second call does nothing.
        public func invalidate() { intake.end() }

        /// The one iterator.
        public func makeAsyncIterator() -> Iterator { Iterator(intake: intake) }

        /// Goes through the elements, one at a time.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let intake: Intake<Element>
            private var batch: [Element] = []
            private var place = 0

            fileprivate init(intake: Intake<Element>) { self.intake = intake }

            /// The next element; `nil` at the end.
            public mutating func next() async throws(Failure) -> Element? { try await next(isolation: #isolation) }

            /// The next element; `nil` at the end.
            ///
            /// - Complexity: waits once for each batch, and for the other elements not at all.
            public mutating func next(isolation actor: isolated (any Actor)?) async throws(Failure) -> Element? {
                if place == batch.count {
                    (batch, place) = ([], 0)
                    guard let next = try await intake.next(isolation: actor) else { return nil }
                    batch = next
                }
                defer { place += 1 }
                return batch[place]
            }
        }

        /// The elements, as many at a time as were read at a time.
        public struct Batches: AsyncSequence, Sendable {
            /// What ends the sequence before the input's end.
            public typealias Failure = RunLoop.InputError

            fileprivate let intake: Intake<InputSequence.Element>

            /// The one iterator.
            public func makeAsyncIterator() -> Iterator { Iterator(intake: intake) }

            /// Goes through the batches.
            public struct Iterator: AsyncIteratorProtocol {
                fileprivate let intake: Intake<InputSequence.Element>

                /// The next batch, of at least one element; `nil` at the end.
                public mutating func next() async throws(Failure) -> [InputSequence.Element]? {
                    try await next(isolation: #isolation)
                }

                /// The next batch, of at least one element; `nil` at the end.
                public mutating func next(
                    isolation actor: isolated (any Actor)?
                ) async throws(Failure) -> [InputSequence.Element]? {
                    try await intake.next(isolation: actor)
                }
            }
        }
    }
}
