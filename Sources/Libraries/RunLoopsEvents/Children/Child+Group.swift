// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
public import RunLoops
internal import RunLoopsLibC

extension Child {
    /// Sends a signal to the child's group: to the child, and to all processes that it has started and that have not
    /// left the group.
    ///
    /// The signal reaches this group or none: never another group that has received the number since. Processes that have
    /// made a group of their own, as a shell with job control does for its jobs, are not reached.
    ///
    /// - Parameter signal: The number, such as `SIGHUP`.
    /// - Throws: `ESRCH` if the group has no members left; before Linux 6.9 also if the child was reaped, even if other
    ///   members are left. `EINVAL` if there is no such signal, `EPERM` if all members run as another user.
    ///
    /// Corresponds to `killpg(3)`.
    /// - Precondition: The child was spawned with a new group or a new session.
    public func sendToGroup(_ signal: CInt) throws(RunLoop.SystemCallError) {
        require(
            ownGroup != .none,
            """
            The group of \(self) was sent a signal, and is not the child's own: other processes are in it. Spawn the child \
            with `group: .new`, or send the signal to the child alone.
            """)
        try check("pidfd_send_signal", signalGroup(signal))
    }

    func signalGroup(_ signal: CInt) -> CInt {
        if file.generation.isInherited { return -ESRCH }
        switch ownGroup {
        case .none: return -ESRCH
        case .byDescriptor: return rl_pidfd_signal_group(file.number, signal)
        case .byNumber:
            return withOwnNumber { killpg($0, signal) == 0 ? 0 : -errno } ?? -ESRCH
        }
    }

    /// Sends a signal to the child, to all of its group if that is the child's own, and to the job in the foreground of its
    /// terminal; -ESRCH if all have ended.
    @discardableResult
    func signalAll(_ signal: CInt) -> CInt {
        if file.generation.isInherited { return -ESRCH }
        // First: a shell that is ended takes the terminal from its job.
        let reachesJob = signalJobs(signal)
        var result = ownGroup == .none ? rl_pidfd_signal(file.number, signal) : signalGroup(signal)
        if result == -ESRCH, reachesJob { result = 0 }
        noteSent(signal, result)
        return result
    }

    /// Prevents the number of a child from being given to another group, while this object exists.
    final class NumberKeeper: Sendable {
        private let child: Child

        init(_ child: Child) {
            self.child = child
            child.keepNumber()
        }

        deinit { child.releaseNumber() }
    }
}
