// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension View {
    /// Asks for ``updateConstraints()`` before the next layout.
    public func setNeedsUpdateConstraints() {
        needsUpdateConstraints = true
        markConstraints()
    }

    /// Calls ``updateConstraints()`` now, for this view and the views inside that have asked for it.
    ///
    /// - Complexity: O(views inside).
    public func updateConstraintsIfNeeded() {
        if needsUpdateConstraints {
            needsUpdateConstraints = false
            if let owner { owner.updateViewConstraints() } else { updateConstraints() }
            window?.application?.commit.counts.constraintUpdates += 1
        }
        for subview in subviews where subview.superview === self { subview.updateConstraintsIfNeeded() }
    }

    func markConstraints() { window?.application?.commit.markConstraints(self) }
}
