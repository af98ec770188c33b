// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoopsLibC

extension Child {
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
}
