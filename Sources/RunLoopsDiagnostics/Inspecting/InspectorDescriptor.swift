// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel
internal import RunLoops

/// A descriptor of the inspector's: closed with the object, and in a child made by fork.
final class InspectorDescriptor: Sendable {
    let number: CInt
    private let forks = SystemCalls.forks

    init(adopting number: CInt) {
        self.number = number
        rl_inspect_keep_from_children(number)
    }

    deinit {
        // In a child it has been closed, and its number may be somebody else's.
        guard forks == SystemCalls.forks else { return }
        // First: between the two, somebody else's descriptor could get the number, and a child close that.
        rl_inspect_give_up(number)
        _ = rl_close(number)
    }
}
