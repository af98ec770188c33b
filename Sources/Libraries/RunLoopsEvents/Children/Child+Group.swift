// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel
internal import LinuxLibC
public import RunLoops

extension Child {
    /// Sends a signal to the child's group: to the child and to all that it has started and that has not left the group.
    ///
    /// The signal reaches this group or none: never another group that has received the number since. Processes that have
    /// made a group of their own, as a shell with job control does for its jobs, are not reached.
    ///
    /// - Parameter signal: The number, such as `SIGHUP`.
    /// - Throws: `ESRCH` if the group has no member any more; before Linux 6.9 also if the child was reaped, whoever else is
    ///   in the group. `EINVAL` if there is no such signal, `EPERM` if all members run as another user.
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

    /// Sends a signal to the child, and to all of its group if that is the child's own; -ESRCH if all have ended.
    @discardableResult
    func signalAll(_ signal: CInt) -> CInt {
        if file.generation.isInherited { return -ESRCH }
        return ownGroup == .none ? rl_pidfd_signal(file.number, signal) : signalGroup(signal)
    }

    /// Whether a child has a group of its own, and by what the kernel knows that group.
    enum OwnGroup {
        /// It is in a group of others, which is never signalled.
        case none
        /// By the descriptor of the child. The kernel knows the group by it as long as it has members.
        case byDescriptor
        /// By the child's number, which is the group's as long as the child is not reaped: before Linux 6.9.
        case byNumber

        init(_ group: Group) {
            self =
                switch group {
                case .inherited, .joined: .none
                case .new, .newSession: Self.isKnownByDescriptor ? .byDescriptor : .byNumber
                }
        }

        /// The kernel looks at the flag first, and then at the descriptor.
        private static let isKnownByDescriptor = rl_pidfd_signal_group(-1, 0) == -EBADF
    }

    /// As long as this object is there, the number of a child is not given to another group.
    final class NumberKeeper: Sendable {
        private let child: Child

        init(_ child: Child) {
            self.child = child
            child.keepNumber()
        }

        deinit { child.releaseNumber() }
    }
}
