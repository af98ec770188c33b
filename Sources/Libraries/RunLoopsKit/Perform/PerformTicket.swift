// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops
internal import Synchronization

/// One closure on its way to a loop: it runs once, or is cancelled, given up or discarded, whichever comes first.
///
/// One word decides. The thread that moves the word away from `pending` owns the closure and what belongs to the
/// closure; no other thread touches them from then on.
final class PerformTicket: @unchecked Sendable {
    enum State {
        static let pending: UInt32 = 0
        static let running: UInt32 = 1
        static let finished: UInt32 = 2
        static let discarded: UInt32 = 3
        static let cancelled: UInt32 = 4
        static let abandoned: UInt32 = 5
    }

    /// The waiting tickets that have a target.
    static let pending = PerformRegistry<PerformTicket>()

    private let word: StateWord
    let loop: RunLoop
    /// Whether the loop's thread was given the scheduling of a waiting thread.
    // Relaxed: seen late, a thread of the same priority goes on a little longer before the thread that it has woken.
    let isHurried = Atomic(false)
    // Set before another thread sees the ticket; afterwards it belongs to the thread that ends `pending`.
    @exclusivity(unchecked) private var body: (() -> Void)?
    @exclusivity(unchecked) private var target: (any AnyObject & Sendable)?
    /// Weak: the timer's closure holds the ticket, and the loop releases the timer.
    @exclusivity(unchecked) weak var timer: RunLoop.Timer?
    private let targetID: ObjectIdentifier?

    init(
        _ loop: RunLoop, isWaitedFor: Bool, target: (any AnyObject & Sendable)? = nil, _ body: @escaping () -> Void
    ) {
        word = StateWord(State.pending, hasSleepers: isWaitedFor)
        self.loop = loop
        self.body = body
        self.target = target
        targetID = target.map { ObjectIdentifier($0) }
    }

    /// Whether the closure waits for its turn.
    var isPending: Bool { word.state == State.pending }
    /// Whether a waiting thread has reason to go on waiting.
    var isUnfinished: Bool { word.state <= State.running }

    /// Runs the closure, unless it was cancelled or given up.
    ///
    /// The loop's thread.
    func run() {
        guard let body = end(with: State.running) else { return }
        body()
        word.set(State.finished)
        // At equal priority the waiting thread would not run before this thread sleeps, and could not take back the
        // scheduling that it has lent.
        if isHurried.load(ordering: .relaxed) { rl_schedule_yield() }
    }

    /// Cancels the ticket, on any thread; returns whether that was in time.
    func cancel() -> Bool { end(with: State.cancelled, invalidating: true) != nil }

    /// The loop has released the ticket without having run it.
    fileprivate func discard() { _ = end(with: State.discarded) }

    /// Sleeps until the closure has returned, or has not begun by `deadline`.
    ///
    /// Returns the last state.
    func wait(until deadline: Int64) -> UInt32 {
        while true {
            let state = word.state
            switch state {
            case State.pending where SystemCalls.now(.monotonic) >= deadline:
                if end(with: State.abandoned) != nil { return State.abandoned }
            case State.pending: word.sleep(while: state, until: deadline)
            case State.running: word.sleep(while: state)
            default: return state
            }
        }
    }

    /// The closure, for the caller that comes first.
    private func end(with state: UInt32, invalidating: Bool = false) -> (() -> Void)? {
        guard word.move(from: State.pending, to: state) else { return nil }
        let (body, target, timer) = (body, target, timer)
        self.body = nil
        self.target = nil
        self.timer = nil
        if let targetID { Self.pending.remove(self, targetID) }
        if invalidating { timer?.invalidate() }
        // The target may die here, with no lock held.
        withExtendedLifetime(target) {}
        return body
    }
}

/// What a loop holds of a ticket.
///
/// When the loop releases the holder, as it does at its thread's end, the ticket is discarded.
package final class TicketHolder: Sendable {
    private let ticket: PerformTicket

    init(_ ticket: PerformTicket) { self.ticket = ticket }

    deinit { ticket.discard() }

    package func run() { ticket.run() }
}
