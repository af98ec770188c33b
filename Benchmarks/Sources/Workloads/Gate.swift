// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import BenchKit

/// Lets one thread wait for another, once for each opening.
public final class Gate: @unchecked Sendable {
    private let gate = bk_gate_make()!

    public init() {}
    public func open() { bk_gate_open(gate) }
    public func wait() { bk_gate_wait(gate) }
}
