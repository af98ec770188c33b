// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops

/// A descriptor that is closed when the object is released, and in every child made by fork.
///
/// For resources that have to end with their process even if a child lives on: a socket whose other side waits for the
/// end, or a lock on a file.
package final class PrivateDescriptor: Sendable {
    private let kept: CInt
    private let generation = ForkGeneration()

    package init(adopting number: CInt) {
        kept = number
        rl_keep_from_children(number)
    }

    deinit {
        // In a child it has been closed, and its number may belong to another file.
        if isInherited { return }
        // First: between the two, another descriptor could get the number, and a child would close it.
        rl_give_up(kept)
        _ = rl_close(kept)
    }

    /// Whether a parent of this process had the descriptor.
    package var isInherited: Bool { generation.isInherited }

    /// The number of the descriptor; in a child -1, which is never a descriptor.
    package var number: CInt { isInherited ? -1 : kept }
}
