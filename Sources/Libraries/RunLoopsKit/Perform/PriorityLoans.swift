// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsConcurrency
internal import Synchronization

/// Raises the scheduling of threads that other threads wait for to the best scheduling among the waiting threads, and
/// gives the thread's own scheduling back afterwards.
///
/// Before each change a thread's scheduling is read from the kernel. A change that the program itself makes meanwhile
/// is kept, and counts as the thread's own from then on. What the system refuses is left as it is.
///
/// A value; the lock of the ``WaitGraph`` protects it.
struct PriorityLoans {
    private struct Loan {
        /// The thread's own scheduling.
        var own: Scheduling
        /// The scheduling that the thread was given; `nil` while it has its own.
        var given: Scheduling?
        /// The scheduling of the waiting threads, by the number of the thread.
        var claims: [Int32: Scheduling] = [:]

        /// The best of all of them.
        var wanted: Scheduling {
            let best = claims.values.reduce(own) { $1.isBetter(than: $0) ? $1 : $0 }
            return own.raised(to: best)
        }
    }

    private var loans: [ObjectIdentifier: Loan] = [:]

    /// Notes that a thread with that scheduling waits for the thread of `loop`.
    ///
    /// Returns the scheduling that the loop's thread has then, if that was looked at.
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

    /// Notes that a thread does not wait for the thread of `loop` any more; returns what `claim` returns.
    mutating func withdraw(_ waiter: Int32, on loop: RunLoop) -> Scheduling? {
        guard loans[ObjectIdentifier(loop)]?.claims.removeValue(forKey: waiter) != nil else { return nil }
        return settle(loop)
    }

    /// Gives the thread the best of its own scheduling and the claimed ones.
    private mutating func settle(_ loop: RunLoop) -> Scheduling? {
        let key = ObjectIdentifier(loop)
        guard var loan = loans.removeValue(forKey: key) else { return nil }
        // `nil`: the thread has ended.
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
