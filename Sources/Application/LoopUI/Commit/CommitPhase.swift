// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

extension CommitTransaction {
    /// The phases of a commit, in the order in which they run.
    public enum Phase: String, Hashable, Sendable, CaseIterable {
        /// ``View/updateConstraints()`` of the views that asked for it, superviews first.
        case constraints
        /// ``View/layoutSubviews()`` of the views that asked for it, superviews first.
        case layout
        /// ``View/draw(in:)`` of the views that asked for it.
        case display
        /// The closures of ``CommitTransaction/prepare(_:)``.
        case prepare
        /// One frame is put together, and the display receives it.
        case commit

        /// The name under which traces show the phase.
        var label: ItemLabel { Self.labels[self] ?? ItemLabel(rawValue) }

        private static let labels = Dictionary(uniqueKeysWithValues: allCases.map { ($0, ItemLabel($0.rawValue)) })
    }
}
