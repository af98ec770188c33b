// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

extension Child {
    /// Asks the child to end, with `SIGTERM`; does nothing if it has ended.
    ///
    /// A child may ignore `SIGTERM`; ``terminate(killAfter:on:in:)`` kills such a child, and ``send(_:)`` of `SIGKILL`
    /// ends any child at once.
    public func terminate() { try? send(SIGTERM) }

    /// Asks the child to end, with `SIGTERM`, and kills it with `SIGKILL` if it is running still when a time is over.
    ///
    /// A child that is stopped is continued (`SIGCONT`), so that it can obey, as systemd does. The loop waits for the
    /// child's end and keeps the child until then; the end takes the timer away and reaps the child. If the child has
    /// ended already, the call does nothing. Every signal goes to this child or to none. Children of the child are
    /// not signalled.
    ///
    /// To learn of the end, use a ``ChildSource``, a ``ChildCompletion`` or ``RunLoops/RunLoop/exit(of:in:)`` as well.
    /// Several calls do not disturb each other: the earliest kill counts.
    ///
    /// - Parameters:
    ///   - delay: How long the child has, on the loop's monotonic clock; it is killed in the next turn if not positive.
    ///   - loop: The loop that keeps the time. If the loop's thread has ended, the child gets the first signals alone.
    ///   - mode: The mode in which the loop keeps the time; `.common` for all common modes.
    ///
    /// Thread safety: any thread.
    /// - Complexity: O(log n) in the timers of the mode, and some four system calls.
    public func terminate(killAfter delay: Duration, on loop: RunLoop, in mode: RunLoop.Mode = .common) {
        if file.generation.isInherited || exit != nil { return }
        terminate()
        try? send(SIGCONT)
        // By the clock of this loop, which is not that of the calling thread's if time is virtual.
        let date = RunLoop.Instant(nanoseconds: loop.now(.monotonic), base: .monotonic).advanced(by: delay)
        let kill = RunLoop.Timer.sendable(.at(date), label: "kill of a child") { _ in
            // ESRCH: the child has ended and was reaped in between.
            try? self.send(SIGKILL)
        }
        loop.add(kill, in: mode)
        let end = ChildSource.sendable(self, label: "end of a child") { _, _ in kill.invalidate() }
        // What the system refuses costs a kill of nobody: the timer fires and finds no process.
        _ = try? loop.add(end, in: mode)
    }
}
