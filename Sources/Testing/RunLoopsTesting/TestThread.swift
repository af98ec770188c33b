// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops
internal import RunLoopsKit
internal import Synchronization

extension RunLoop {
    /// A thread with a running loop, for a test that needs a second thread.
    ///
    /// ``with(name:within:_:)`` starts the thread, and ends it when the test's closure returns or throws. In between,
    /// ``sync(in:_:)`` runs closures on the thread and waits for them.
    ///
    /// ```swift
    /// try RunLoop.TestThread.with { thread in
    ///     let inbox = Inbox(on: thread.loop)
    ///     inbox.send("from another thread")
    ///     let count = try thread.sync { _ in inbox.count }
    ///     #expect(count == 1)
    /// }
    /// ```
    ///
    /// The thread runs its loop in the default mode, on the real clock, and sleeps while there is nothing to do. For
    /// tests that depend on dates use ``ManualRunLoop``.
    ///
    /// Thread safety: any thread.
    public final class TestThread: Sendable {
        /// The thread's loop.
        public let loop: RunLoop
        private let thread: RunLoopThread
        private let limit: Duration
        private let hasEnded = Occurrence()

        private init(_ name: String, _ limit: Duration) throws(RunLoop.SystemCallError) {
            thread = try RunLoopThread(name: name)
            loop = thread.loop
            self.limit = limit
            // The end of a thread cancels the sources of its loop (Specification 1.2).
            let witness = RunLoop.Source.sendable(
                label: "end of \(name)", cancel: { [hasEnded] _, _ in hasEnded.happen() }, perform: { _ in })
            loop.add(witness, in: .common)
        }

        /// Starts a thread with a running loop, runs `body`, and ends the thread.
        ///
        /// When `body` returns or throws, the loop is stopped, nested runs of common modes included, and the thread is
        /// joined. Items and blocks that are still in the loop are cancelled and released then, as at the end of every
        /// thread.
        ///
        /// - Parameters:
        ///   - name: The thread's name in errors, debuggers and traces.
        ///   - limit: How long each ``sync(in:_:)`` may take, and how long the thread may take to end. Only a test that
        ///     fails reaches it.
        ///   - body: The test. It runs on the calling thread.
        /// - Returns: The result of `body`.
        /// - Throws: The error that `body` throws; a ``Timeout``, which also names the error of `body`, if the thread
        ///   has not ended within the limit; `RunLoop.SystemCallError` if the system cannot create the thread. A thread
        ///   that did not end in time continues to run, and ends when its loop returns.
        @available(
            *, noasync,
            message: "The test blocks a thread of Swift's pool: make it a synchronous function."
        )
        public static func with<Success>(
            name: String = "loop of a test", within limit: Duration = .seconds(10),
            _ body: (TestThread) throws -> Success
        ) throws -> Success {
            let thread = try TestThread(name, limit)
            let result = Result { try body(thread) }
            try thread.end(after: result)
            return try result.get()
        }

        /// Runs a closure on the thread and waits for it.
        ///
        /// Closures run one after the other, as blocks of the loop. On the thread itself a closure runs at once. A
        /// closure may run the loop: closures that other threads submit during this nested run are run inside it, and
        /// closures that were submitted earlier wait for its end.
        ///
        /// - Parameters:
        ///   - modes: The modes of the loop in which the closure may run.
        ///   - body: The closure, which receives the thread's loop. It can make items with closures that use the
        ///     thread's own state.
        /// - Returns: The result of the closure.
        /// - Throws: The error that the closure throws; a ``Timeout`` if the closure has not returned within the limit
        ///   of ``with(name:within:_:)``. A closure that has not begun by then never runs.
        ///
        /// - Precondition: `with` has not returned.
        @available(
            *, noasync,
            message: "The wait blocks a thread of Swift's pool: await result(in:of:) of RunLoopsConcurrency instead."
        )
        @discardableResult
        public func sync<Value: Sendable>(
            in modes: [RunLoop.Mode] = [.common], _ body: @escaping @Sendable (RunLoop) throws -> Value
        ) throws -> Value {
            if loop.isOfCallingThread { return try body(loop) }
            let call = Call<Value>()
            let isTaken = thread.post(in: modes) { [loop] in call.run { try body(loop) } }
            require(isTaken, "\(thread.identity) has ended with TestThread.with: use it inside of the closure alone.")
            guard let result = call.result(within: limit) else {
                throw Timeout("A closure of TestThread.sync has not returned", self, nil)
            }
            return try result.get()
        }

        private func end<Success>(after result: Result<Success, any Error>) throws(Timeout) {
            // Work that has not begun in time belongs to a test that has failed.
            thread.stop(.dropping)
            guard hasEnded.wait(until: SystemCalls.deadline(limit)) else {
                var failure: (any Error)?
                if case .failure(let error) = result { failure = error }
                throw Timeout("The loop of TestThread.with has not ended", self, failure)
            }
            thread.join()
        }

        /// The error of a closure that has not returned in time, or of a loop that has not ended in time after a test.
        public struct Timeout: Error, CustomStringConvertible {
            /// The call that the test waited for, the state of the loop, and the loop's items.
            public let description: String

            fileprivate init(_ what: String, _ thread: TestThread, _ failure: (any Error)?) {
                let loop = thread.loop
                let state =
                    switch (loop.currentMode, loop.isWaiting) {
                    case (nil, _): "the thread is not in a run: it is busy with what was called outside of one"
                    case (let mode?, true): "the loop sleeps in mode \(mode): nothing has ended that run"
                    case (let mode?, false): "a callout in mode \(mode) has not returned"
                    }
                let before = failure.map { " The test had thrown before: \($0)." } ?? ""
                description = """
                    \(what) within \(thread.limit): on \(thread.thread.identity) \(state).\(before)
                    \(loop.detailedDescription())
                    """
            }
        }
    }
}

extension SystemCalls {
    fileprivate static func deadline(_ limit: Duration) -> Int64 {
        now(.monotonic).clampedAdding(limit.clampedNanoseconds)
    }
}

/// An event that happens once and for which one other thread waits.
private final class Occurrence: Sendable {
    private static let (isAhead, isOver): (UInt32, UInt32) = (0, 1)
    private let word = StateWord(isAhead)

    func happen() { word.set(Self.isOver) }

    /// Waits until the event has happened or the deadline has passed; returns whether the event has happened.
    func wait(until deadline: Int64) -> Bool {
        while word.state == Self.isAhead, SystemCalls.now(.monotonic) < deadline {
            word.sleep(while: Self.isAhead, until: deadline)
        }
        return word.state == Self.isOver
    }
}

/// A closure that another thread runs, and its result.
// Unchecked: the state of the closure decides who may touch the result.
private final class Call<Value: Sendable>: @unchecked Sendable {
    private let isClaimed = Atomic(false)
    private let hasReturned = Occurrence()
    // Written by the thread that runs the closure before `hasReturned` happens, read by the other one afterwards.
    @exclusivity(unchecked) private var outcome: Result<Value, any Error>?

    /// Runs the closure, unless its caller has given up.
    func run(_ body: () throws -> Value) {
        // relaxed: the claim alone decides; the result is handed over by `hasReturned`.
        guard !isClaimed.exchange(true, ordering: .relaxed) else { return }
        outcome = Result(catching: body)
        hasReturned.happen()
    }

    /// Waits for the closure's result; returns `nil` if `limit` passes first, and then a closure that has not begun
    /// never runs.
    func result(within limit: Duration) -> Result<Value, any Error>? {
        if hasReturned.wait(until: SystemCalls.deadline(limit)) { return outcome }
        _ = isClaimed.exchange(true, ordering: .relaxed)
        return nil
    }
}
