// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel

/// A descriptor that is closed with the object, and in every child made by fork.
///
/// For what has to end with its process although a child lives on: a socket whose other side waits for the end, a lock
/// on a file.
package final class PrivateDescriptor: Sendable {
    private let kept: CInt
    private let generation = ForkGeneration()

    package init(adopting number: CInt) {
        kept = number
        rl_keep_from_children(number)
    }

    deinit {
        // In a child it has been closed, and its number may be somebody else's.
        if isInherited { return }
        // First: between the two, somebody else's descriptor could get the number, and a child close that.
        rl_give_up(kept)
        _ = rl_close(kept)
    }

    /// Whether a parent of this process had the descriptor.
    package var isInherited: Bool { generation.isInherited }

    /// The number; -1 in a child, which no system call takes for a descriptor.
    package var number: CInt { isInherited ? -1 : kept }
}
