// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// A request to run a closure on a loop, which can be cancelled until the closure runs.
    ///
    /// Thread safety: all members may be used by any thread.
    public struct PerformRequest: Sendable {
        let ticket: PerformTicket

        /// Whether the closure has neither begun nor been cancelled, and its loop's thread lives.
        public var isPending: Bool { ticket.isPending }

        /// Cancels the request.
        ///
        /// The closure is released at once.
        ///
        /// - Returns: Whether this call has cancelled the request; `false` if the closure has begun, or was cancelled
        ///   before.
        ///
        /// Corresponds to `cancelPreviousPerformRequests` for one request.
        /// - Complexity: O(1).
        @discardableResult
        public func cancel() -> Bool { ticket.cancel() }
    }
}

extension RunLoop {
    /// Requests the loop to run a closure, soon or after a delay; the request can be cancelled.
    ///
    /// Without a delay the loop is woken, and runs the closure with its blocks, first in, first out. With a delay, a
    /// timer that fires once is added to each of the modes.
    ///
    /// - Parameters:
    ///   - target: The object that the request is for: ``cancelPerforms(for:)`` cancels all requests for the same
    ///     object. The request keeps the object alive until it has run or is cancelled.
    ///   - delay: The time to wait; `nil` for none. A delay that is not positive makes a timer that is due at once.
    ///   - modes: In which of the loop's modes the closure may run; without any mode the closure never runs.
    ///   - body: Runs once on the loop's thread; released without having run if the thread ends before.
    /// - Returns: The request, to be cancelled or dropped; dropping it changes nothing.
    ///
    /// Corresponds to `performSelector:onThread:withObject:waitUntilDone:modes:` without waiting, and to
    /// `performSelector:withObject:afterDelay:inModes:`, which takes the default mode unless modes are named.
    /// Thread safety: any thread.
    /// - Complexity: O(1), with a delay O(log n) in the timers of the loop.
    @discardableResult
    public func performRequest(
        for target: (any AnyObject & Sendable)? = nil, after delay: Duration? = nil, in modes: [Mode] = [.common],
        _ body: @escaping @Sendable () -> Void
    ) -> PerformRequest {
        requireModes(modes)
        let ticket = PerformTicket(self, isWaitedFor: false, target: target, body)
        let holder = TicketHolder(ticket)
        // Made before other threads can find the ticket, added when they can: a timer that is cancelled in between is
        // invalid.
        let timer = delay.map { RunLoop.Timer.sendable(.after($0), label: "perform") { _ in holder.run() } }
        ticket.timer = timer
        if let target { PerformTicket.pending.add(ticket, ObjectIdentifier(target)) }
        if let timer {
            for mode in modes { add(timer, in: mode) }
        } else {
            perform(in: modes) { holder.run() }
        }
        return PerformRequest(ticket: ticket)
    }

    /// Cancels all requests for `target` that wait on this loop.
    ///
    /// - Returns: The number of requests that this call has cancelled.
    ///
    /// Corresponds to `cancelPreviousPerformRequests(withTarget:)`, which cancels the requests of the current loop.
    /// Thread safety: any thread.
    /// - Complexity: O(k) in the requests for the target.
    @discardableResult
    public func cancelPerforms(for target: any AnyObject & Sendable) -> Int {
        PerformTicket.pending.requests(for: ObjectIdentifier(target)).count { $0.loop === self && $0.cancel() }
    }
}
