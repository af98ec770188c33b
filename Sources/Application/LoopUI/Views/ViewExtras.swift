// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// What few views have: a view makes it when it needs the first part of it.
@MainActor final class ViewExtras {
    // MARK: Drawing on other threads

    var asyncDrawing: AsyncDrawingState?

    // MARK: Animation

    /// The values on their way.
    var moves: [AnimatedValue.Property: AnimatedMove] = [:]
    /// What is shown of them.
    var shown = ShownValues()

    /// Whether the animator has the view in its list.
    var isMoving = false

    /// Shows a value as it was set.
    func endMove(_ property: AnimatedValue.Property) {
        moves[property] = nil
        shown.clear(property)
    }

    /// Shows all values as they were set.
    ///
    /// - Returns: The movements that have ended.
    @discardableResult
    func endMoves() -> [AnimatedMove] {
        let ended = AnimatedValue.Property.allCases.compactMap { moves[$0] }
        moves = [:]
        shown = ShownValues()
        return ended
    }
}
