// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

extension SourceOrigin {
    /// A timer that a source sets now and then, with `restart(after:)`; until then it rests, and wakes nobody.
    ///
    /// The source adds it to each mode that it comes into, and invalidates it at its own end.
    ///
    /// - Parameters:
    ///   - role: What the timer is to the source. The closure that takes long is the program's: its place is the one to
    ///     name.
    ///   - tolerance: How much later it may fire, to join another wake-up of the loop.
    ///   - body: What it does.
    func restingTimer(
        _ role: String, tolerance: Duration = .zero, _ body: @escaping @Sendable () -> Void
    ) -> RunLoop.Timer {
        .sendable(
            .every(.seconds(1_000_000_000)), tolerance: tolerance, label: "\(role) of \(name)", fileID: fileID,
            line: line
        ) { _ in body() }
    }
}
