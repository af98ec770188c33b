internal import RunLoops
internal import Synchronization

/// The scheduling of threads that others wait for, raised to that of the best one who waits and given back afterwards.
///
/// What a thread has is read from the kernel before each change: a change that the program itself makes meanwhile is
/// kept, and counts as the thread's own from then on. What the system refuses is left as it is.
///
/// A value; the lock is that of the ``WaitGraph``.
struct PriorityLoans {
    private struct Loan {
        /// The thread's own.
        var own: Scheduling
        /// What it was given; `nil` while it has its own.
        var given: Scheduling?
        /// Of those who wait, by the number of the thread.
        var claims: [Int32: Scheduling] = [:]

        /// The best that there is.
        var wanted: Scheduling {
            let best = claims.values.reduce(own) { $1.isBetter(than: $0) ? $1 : $0 }
            return own.raised(to: best)
        }
    }

    private var loans: [ObjectIdentifier: Loan] = [:]

    /// Notes that a thread with that scheduling waits for that of `loop`.
    ///
    /// Returns what the loop's thread has then, if that was looked at.
    mutating func claim(_ scheduling: Scheduling, by waiter: Int32, on loop: RunLoop) -> Scheduling? {
        let key = ObjectIdentifier(loop)
        if loans[key] == nil {
            guard let own = Scheduling(of: loop.threadID) else { return nil }
            if own.isUsual { loop.isUsuallyScheduled.store(true, ordering: .relaxed) }
            guard scheduling.isBetter(than: own) else { return nil }
            loans[key] = Loan(own: own)
        }
        loans[key]?.claims[waiter] = scheduling
        return settle(loop)
    }

    /// Notes that a thread does not wait for that of `loop` any more; returns as `claim` does.
    mutating func withdraw(_ waiter: Int32, on loop: RunLoop) -> Scheduling? {
        guard loans[ObjectIdentifier(loop)]?.claims.removeValue(forKey: waiter) != nil else { return nil }
        return settle(loop)
    }

    /// Gives the thread the best of its own and what is claimed.
    private mutating func settle(_ loop: RunLoop) -> Scheduling? {
        let key = ObjectIdentifier(loop)
        guard var loan = loans.removeValue(forKey: key) else { return nil }
        // None: the thread has ended.
        guard var present = Scheduling(of: loop.threadID) else { return nil }
        if present != loan.given ?? loan.own {
            loan.own = present
            loan.given = nil
        }
        let wanted = loan.wanted
        if wanted != present, wanted.apply(to: loop.threadID, insteadOf: present) { present = wanted }
        loan.given = present == loan.own ? nil : present
        if !loan.claims.isEmpty { loans[key] = loan }
        return present
    }
}
