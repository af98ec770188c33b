// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

extension CommitTransaction {
    /// The phases of a commit, in the order in which they run.
    public enum Phase: String, Hashable, Sendable, CaseIterable {
        /// Calls ``View/updateConstraints()`` of the views that asked for it, superviews first.
        case constraints
        /// Calls ``View/layoutSubviews()`` of the views that asked for it, superviews first.
        case layout
        /// Calls ``View/draw(in:)`` of the views that asked for it.
        case display
        /// Calls the closures of ``CommitTransaction/prepare(_:)``.
        case prepare
        /// Composes one frame, and presents it to the display.
        case commit

        /// The name under which traces show the phase.
        var label: ItemLabel { Self.labels[self] ?? ItemLabel(rawValue) }

        private static let labels = Dictionary(uniqueKeysWithValues: allCases.map { ($0, ItemLabel($0.rawValue)) })
    }
}
