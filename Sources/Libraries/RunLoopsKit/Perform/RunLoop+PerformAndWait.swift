// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// Runs a closure on the loop's thread, and waits for what it returns or throws.
    ///
    /// On the loop's own thread the closure runs at once, whatever the modes. From any other thread the call wakes the
    /// loop, which runs the closure with its blocks in one of `modes`. The calling thread sleeps meanwhile; its own
    /// loop does not run.
    ///
    /// - Parameters:
    ///   - modes: In which of the loop's modes the closure may run.
    ///   - limit: How long to wait for the closure to begin; `nil` for no limit. Once the closure has begun, the call
    ///     waits for its end.
    ///   - body: Runs once, or not at all where an error of the wait is thrown.
    /// - Returns: What the closure returned.
    /// - Throws: What the closure threw, or a ``PerformError``: at once if the loop's thread has ended, or waits on
    ///   this thread, directly or through others; later if it ends during the wait; when the time is over if the loop
    ///   has not run in one of the modes.
    ///
    /// Corresponds to `performSelector:onThread:withObject:waitUntilDone:modes:` with waiting, which hangs or crashes
    /// where this call throws. As there, the thread that is waited on is scheduled at least as well as the waiting
    /// thread, for as long as the wait lasts, where the system allows: see <doc:PartsOfTheKit>.
    /// Thread safety: any thread.
    @available(
        *, noasync,
        message: "The wait blocks a thread of Swift's pool: await result(in:of:) of RunLoopsConcurrency instead."
    )
    public func performAndWait<Value: Sendable>(
        in modes: [Mode] = [.common], startingWithin limit: Duration? = nil,
        _ body: @escaping @Sendable () throws -> Value
    ) throws -> Value {
        requireModes(modes)
        if isOfCallingThread { return try body() }
        return try waitForTurn(startingWithin: limit, body) { holder in
            perform(in: modes) { holder.run() }
        }
    }

    /// Not by the thread's number alone: the system gives the number to another thread after a thread's end.
    package var isOfCallingThread: Bool {
        threadID == SystemCalls.threadID && Self.ofCallingThread === self
    }

    /// The calling thread's loop, if another thread could wait on it.
    ///
    /// Other threads can reach the main thread's loop even if the main thread has never asked for it.
    static var ofCallingThread: RunLoop? {
        RunLoop.existing ?? (SystemCalls.threadID == SystemCalls.mainThreadID ? ofMainThread : nil)
    }

    /// The wait, whatever way the closure takes to the loop.
    package func waitForTurn<Value: Sendable>(
        startingWithin limit: Duration? = nil, named name: String? = nil,
        _ body: @escaping @Sendable () throws -> Value,
        post: (TicketHolder) -> Void
    ) throws -> Value {
        let answer = Answer<Value>()
        let ticket = PerformTicket(self, isWaitedFor: true) { answer.result = Result(catching: body) }
        let waiter = Self.ofCallingThread
        if let cycle = WaitGraph.begin(waiter, .closure(ticket, hasLimit: limit != nil), on: self) {
            throw PerformError.cycle(cycle.map { .living($0.threadID) })
        }
        defer { WaitGraph.end(waiter, on: self) }
        post(TicketHolder(ticket))
        let deadline = limit.map { SystemCalls.now(.monotonic).clampedAdding($0.clampedNanoseconds) }
        switch ticket.wait(until: deadline ?? .max) {
        case PerformTicket.State.finished:
            break
        case PerformTicket.State.abandoned:
            throw PerformError.notStarted(
                waiting: .current, on: .living(threadID), within: limit ?? .zero)
        default:
            throw PerformError.threadEnded(
                waiting: .current, on: RunLoopThread.Identity(number: threadID, name: name))
        }
        guard let result = answer.result else { preconditionFailure("a closure that has returned has left its result") }
        return try result.get()
    }
}

/// Where the result is left: written by the thread that runs the closure before the ticket is finished, read by the
/// waiting thread afterwards.
private final class Answer<Value: Sendable>: @unchecked Sendable {
    @exclusivity(unchecked) var result: Result<Value, any Error>?
}
