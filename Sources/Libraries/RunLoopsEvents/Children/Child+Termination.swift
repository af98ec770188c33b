// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops
internal import RunLoopsLibC

extension Child {
    /// Sends `SIGTERM` to the child, or to its whole group if it was spawned with a group of its own; does nothing if
    /// all have ended.
    ///
    /// A child with a terminal receives `SIGHUP` in its place, and so does the group in the terminal's foreground, as when
    /// the window of a terminal is closed: interactive shells ignore `SIGTERM`.
    ///
    /// A child may ignore `SIGTERM`; ``terminate(killAfter:on:in:)`` kills such a child, and ``send(_:)`` of `SIGKILL`
    /// ends any child at once.
    public func terminate() { signalAll(askingSignal) }

    /// Sends `SIGTERM` to the child, and `SIGKILL` if it still runs after a delay.
    ///
    /// A child that was spawned with a new group or a new session is asked to end together with its whole group, and
    /// the members that are left after the delay are killed, even if the child itself has ended earlier, or before the
    /// call. So `sh -c "a; b"` ends with what it has started. A child in a group of others is signalled alone, and its
    /// children are not.
    ///
    /// A child that is stopped is continued (`SIGCONT`), so that it can obey, as systemd does. The loop waits for the
    /// child's end and keeps the child until then; the end removes the timer and reaps the child. The kernel does not
    /// report the end of a group: while it has members after the child's end, the loop looks again, after a
    /// millisecond, two, four and so on, until the delay is over. If all have ended already, the call does nothing.
    /// Every signal goes to this child and its own group or to none.
    ///
    /// To learn of the end, use a ``ChildSource``, a ``ChildCompletion`` or ``RunLoops/RunLoop/exit(of:in:)`` as well.
    /// Several calls do not disturb each other: the earliest kill counts.
    ///
    /// A child with a terminal, and the group in the terminal's foreground, receive `SIGHUP` in place of `SIGTERM`, and
    /// both groups are killed after the delay. Jobs in the background receive what the shell sends them. While a job
    /// is left, the child is not reaped, so that its number, by which its jobs are known, is not given to others.
    ///
    /// Before Linux 6.9 a group is known by the child's number alone. There the child is reaped after the delay, and
    /// not at its end, and the timer stays until then; the group of a child that was reaped before the call receives no
    /// signal.
    ///
    /// - Parameters:
    ///   - delay: The time between the two signals, on the loop's monotonic clock; if it is not positive, the child is
    ///     killed in the next turn.
    ///   - loop: The loop that keeps the time. If the loop's thread has ended, the child gets the first signals alone.
    ///   - mode: The mode in which the loop keeps the time; `.common` for all common modes.
    ///
    /// Thread safety: any thread.
    /// - Complexity: O(log n) in the timers of the mode, and some four system calls.
    public func terminate(killAfter delay: Duration, on loop: RunLoop, in mode: RunLoop.Mode = .common) {
        // Before the first signal, which may end the child.
        var keeper = ownGroup == .byNumber || terminal != nil ? NumberKeeper(self) : nil
        // A child that has ended receives nothing, and is reaped unless its number is kept.
        _ = exit
        if signalAll(askingSignal) == -ESRCH { return }
        signalAll(SIGCONT)
        if ownGroup == .byDescriptor, noteJob(nil).isEmpty { keeper = nil }
        // By the clock of this loop, which is not that of the calling thread's if time is virtual.
        let date = RunLoop.Instant(nanoseconds: loop.now(.monotonic), clock: .monotonic).advanced(by: delay)
        let kill = RunLoop.Timer.sendable(.at(date), label: "kill of a child") { [keeper] _ in
            // ESRCH: all have ended in between.
            self.signalAll(SIGKILL)
            withExtendedLifetime(keeper) {}
        }
        loop.add(kill, in: mode)
        let end = ChildSource.sendable(self, label: "end of a child") { _, _ in
            self.endWithGroup(kill, on: loop, in: mode)
        }
        // What the system refuses costs a kill of nobody: the timer fires and finds no process.
        _ = try? loop.add(end, in: mode)
    }

    /// Takes the timer of the kill away when nobody is left.
    private func endWithGroup(
        _ kill: RunLoop.Timer, on loop: RunLoop, in mode: RunLoop.Mode,
        lookingAgainAfter pause: Duration = .milliseconds(1)
    ) {
        if !hasMembers { return kill.invalidate() }
        // A leader that is not reaped stays a member.
        guard ownGroup == .byDescriptor, kill.isValid else { return }
        loop.perform(after: pause, in: mode) {
            self.endWithGroup(kill, on: loop, in: mode, lookingAgainAfter: pause * 2)
        }
    }
}
