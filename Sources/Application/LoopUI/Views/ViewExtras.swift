// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The properties that few views need: a view makes the object when it needs the first of them.
@MainActor final class ViewExtras {
    // MARK: Drawing on other threads

    var asyncDrawing: AsyncDrawingState?

    // MARK: Drawing of a part

    /// The cells that the last drawing of a large view has kept.
    var drawingWindow: CellRect?

    // MARK: Animation

    /// The animations of values that are under way.
    var moves: [AnimatedValue.Property: AnimatedMove] = [:]
    /// The values that are shown while animations are under way.
    var shown = ShownValues()

    /// Whether the animator has the view in its list.
    var isMoving = false

    /// Ends the animation of a value, so that the value is shown as it was set.
    func endMove(_ property: AnimatedValue.Property) {
        moves[property] = nil
        shown.clear(property)
    }

    /// Ends all animations, so that all values are shown as they were set.
    ///
    /// - Returns: The animations that have ended.
    @discardableResult
    func endMoves() -> [AnimatedMove] {
        let ended = AnimatedValue.Property.allCases.compactMap { moves[$0] }
        moves = [:]
        shown = ShownValues()
        return ended
    }
}
