// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// Commits each object that was marked during a turn once, before the thread sleeps.
    ///
    /// Objects are marked as changed, any number of times. The commit of each object (its layout, drawing or writing)
    /// runs once, when the turn has nothing else to do: at beforeWaiting, and at the end of a run. Marks that are made
    /// meanwhile are committed in the same pass, up to a number of rounds. Marks that are left after these rounds wait
    /// for the next turn, which follows at once, so that objects that mark each other forever do not block the loop.
    ///
    /// Corresponds to the implicit transaction of Core Animation, which commits from an observer of the same order.
    ///
    /// It receives its modes when it is made. It works until it is invalidated or released.
    ///
    /// Thread safety: belongs to the thread that makes it, and to its loop.
    public final class Transaction {
        /// The order of the observer that commits.
        public static let commitOrder = 2_000_000

        /// The maximum number of rounds in one pass; each further round commits the marks that the commits before it
        /// have made.
        public let roundLimit: Int
        /// How many objects were committed.
        public private(set) var commits = 0
        /// How many passes ended with marks left over.
        public private(set) var overruns = 0
        /// Called at the end of a pass that leaves marks over, with the number of these marks.
        public var overrunHandler: ((Int) -> Void)?

        private let loop = RunLoop.current
        private let modes: [RunLoop.Mode]
        private let observers = OwnedObservers()
        private var marked = CommitList()
        /// The groups that are open, innermost last.
        private var groups: [CommitList] = []
        private var isCommitting = false
        private var before: [() -> Void] = []
        private var after: [() -> Void] = []
        /// Whether the commit of the present turn had marks.
        private var hasCommitted = false

        /// Makes a transaction that commits in runs of `modes` of the calling thread's loop.
        ///
        /// - Precondition: `roundLimit` is positive.
        public init(in modes: [RunLoop.Mode] = [.common], roundLimit: Int = 16) {
            require(
                roundLimit > 0, "A transaction was given \(roundLimit) rounds a pass: it needs one to commit anything.")
            self.modes = modes
            self.roundLimit = roundLimit
            observe(Self.commitOrder, "transaction") { transaction in
                transaction.hasCommitted = !transaction.marked.isEmpty
                transaction.flush()
            }
        }

        // MARK: Marking

        /// Marks an object, to be committed at the end of the turn.
        ///
        /// The object is kept alive until then. If the object is marked already, nothing happens, and the closure is
        /// released.
        ///
        /// - Parameters:
        ///   - object: The object that has changed.
        ///   - commit: Commits the change; called once.
        /// - Returns: Whether the object was not marked before.
        ///
        /// - Complexity: O(1).
        @discardableResult
        public func mark(_ object: AnyObject, commit: @escaping () -> Void) -> Bool {
            loop.requireOwn("transaction")
            let mark = CommitList.Mark(object: object, commit: commit)
            if groups.isEmpty { return marked.insert(mark) }
            return groups[groups.count - 1].insert(mark)
        }

        /// How many objects are marked and not yet committed, including the objects of open groups.
        public var pending: Int { marked.marks.count + groups.reduce(0) { $0 + $1.marks.count } }

        /// Defers the marks that `body` makes until `body` returns, also if `body` runs the loop.
        ///
        /// Groups nest: the marks of an inner group join the outer group, and the marks of the outermost group are
        /// committed with the turn.
        ///
        /// - Parameters:
        ///   - completion: Called when the marks of this group have been committed.
        ///   - body: Marks objects.
        public func group<Result, Failure: Error>(
            completion: (() -> Void)? = nil, _ body: () throws(Failure) -> Result
        ) throws(Failure) -> Result {
            loop.requireOwn("transaction")
            groups.append(CommitList())
            defer {
                var group = groups.removeLast()
                if let completion { group.completions.append(completion) }
                if groups.isEmpty { marked.append(group) } else { groups[groups.count - 1].append(group) }
            }
            return try body()
        }

        // MARK: Committing

        /// Commits the marked objects now, without waiting for the end of the turn.
        ///
        /// Inside a commit the call does nothing: the pass that is under way goes on.
        public func flush() {
            loop.requireOwn("transaction")
            guard !isCommitting, !marked.isEmpty else { return }
            isCommitting = true
            var rounds = 0
            while !marked.isEmpty, rounds < roundLimit {
                rounds += 1
                commitRound()
            }
            isCommitting = false
            if marked.isEmpty { return }
            overruns += 1
            overrunHandler?(marked.marks.count)
            loop.wakeUp()
        }

        private func commitRound() {
            let round = marked.takeAll()
            for mark in round.marks {
                commits += 1
                mark.commit()
            }
            for completion in round.completions { completion() }
        }

        /// Ends the transaction permanently: turns no longer commit.
        ///
        /// Only ``flush()`` still commits marked objects. A second call does nothing.
        public func invalidate() {
            loop.requireOwn("transaction")
            observers.invalidate()
        }

        // MARK: Hooks

        /// Calls `handler` just before the commit of each turn that has marks; the marks that `handler` makes are
        /// committed too.
        ///
        /// Several handlers are called in the order in which they were added. The transaction keeps the handlers: they
        /// should hold the transaction weakly. Not called for ``flush()``.
        public func beforeCommit(_ handler: @escaping () -> Void) {
            loop.requireOwn("transaction")
            before.append(handler)
            // An observer that nobody needs would be called in each turn.
            if before.count > 1 { return }
            observe(Self.commitOrder - 1, "before the transaction") { transaction in
                if !transaction.marked.isEmpty { for handler in transaction.before { handler() } }
            }
        }

        /// Calls `handler` just after the commit of each turn that had marks.
        ///
        /// Several handlers are called in the order in which they were added. The transaction keeps the handlers: they
        /// should hold the transaction weakly. Not called for ``flush()``.
        public func afterCommit(_ handler: @escaping () -> Void) {
            loop.requireOwn("transaction")
            after.append(handler)
            if after.count > 1 { return }
            observe(Self.commitOrder + 1, "after the transaction") { transaction in
                guard transaction.hasCommitted else { return }
                transaction.hasCommitted = false
                for handler in transaction.after { handler() }
            }
        }

        private func observe(
            _ order: Int, _ label: String, _ handler: @escaping (Transaction) -> Void
        ) {
            observers.add([.beforeWaiting, .exit], order: order, in: modes, label: label) { [weak self] _ in
                // A run that is nested in a commit leaves the marks to the pass that is under way.
                guard let self, !isCommitting else { return }
                handler(self)
            }
        }
    }
}
