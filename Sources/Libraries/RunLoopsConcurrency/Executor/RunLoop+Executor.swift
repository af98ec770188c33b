// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// The executor that runs tasks and actors on this loop's thread, in all common modes.
    ///
    /// Every call returns the same object, so that calls from one actor to another on this executor need no switch.
    /// Keep the executor in a constant where you use it often.
    ///
    /// Thread safety: any thread.
    /// - Complexity: one look-up under a lock.
    public var executor: RunLoop.Executor { executor(in: .common) }

    /// Returns the executor that runs tasks and actors on this loop's thread while the loop runs in `mode`.
    ///
    /// Every call with the same mode returns the same object. Executors of different modes are different objects: going
    /// from one to the other takes a turn of the loop, and jobs of one executor may run inside a run that is nested in
    /// a job of the other.
    ///
    /// Thread safety: any thread.
    /// - Complexity: one look-up under a lock.
    public func executor(in mode: Mode) -> RunLoop.Executor { ExecutorTable.shared.executor(of: self, mode) }
}

extension RunLoop {
    /// Whether a job of the loop is under way: of one of the loop's executors, or, on the main loop, of the main actor.
    ///
    /// The loop's thread.
    var isInJob: Bool { isInMainQueue || ExecutorTable.shared.executors(of: self).contains { $0.isInJob } }
}

/// The executors of all loops whose threads live.
private final class ExecutorTable: Sendable {
    static let shared = ExecutorTable()

    private struct Key: Hashable {
        let loop: ObjectIdentifier
        let mode: RunLoop.Mode
    }

    private let executors = Guarded<[Key: RunLoop.Executor]>([:])

    func executor(of loop: RunLoop, _ mode: RunLoop.Mode) -> RunLoop.Executor {
        let key = Key(loop: ObjectIdentifier(loop), mode: mode)
        if let known = executors.withLock({ $0[key] }) { return known }
        let executor = RunLoop.Executor(loop: loop, mode: mode) { [weak self] in self?.remove($0, key) }
        // An executor that has ended is not kept: nobody can find out that it is not the same object, and it would stay
        // in the table for ever.
        if executor.isEnded { return executor }
        let kept = executors.withLock { table in
            if let other = table[key] { return other }
            table[key] = executor
            return executor
        }
        if kept !== executor { executor.withdraw() }
        // The thread may have ended between the two looks.
        if kept.isEnded { remove(kept, key) }
        return kept
    }

    func executors(of loop: RunLoop) -> [RunLoop.Executor] {
        executors.withLock { table in table.filter { $0.key.loop == ObjectIdentifier(loop) }.map(\.value) }
    }

    /// The caller's reference keeps the executor alive while the lock is held.
    private func remove(_ executor: RunLoop.Executor, _ key: Key) {
        executors.withLock { table in
            if table[key] === executor { table[key] = nil }
        }
    }
}
