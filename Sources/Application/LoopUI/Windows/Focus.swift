// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The focus, which is on one view at a time: the first responder, which receives the keys.
///
/// Tab moves the focus in the order of the tree, and the arrows move it to the nearest view in a direction. A touch
/// moves it to the touched view. It cannot leave an open sheet, alert or menu.
extension Window {
    /// The views that can have the focus, in the order in which Tab moves the focus through them.
    ///
    /// The order is the same as in the tree of views.
    ///
    /// - Complexity: O(views in the window).
    public var focusableViews: [View] {
        var found: [View] = []
        func search(_ view: View) {
            guard view.isSeen, view.isUserInteractionEnabled else { return }
            if view.canBecomeFirstResponder, !view.frame.isEmpty { found.append(view) }
            for subview in view.subviews where subview.superview === view { search(subview) }
        }
        search(focusRoot)
        return found
    }

    /// Moves the focus to the next view; from the last view to the first.
    ///
    /// - Returns: Whether the focus has moved.
    @discardableResult
    public func focusNext() -> Bool { moveFocus(by: 1) }

    /// Moves the focus to the previous view; from the first view to the last.
    ///
    /// - Returns: Whether the focus has moved.
    @discardableResult
    public func focusPrevious() -> Bool { moveFocus(by: -1) }

    /// A direction in which the focus moves.
    public enum FocusDirection: Hashable, Sendable {
        /// Towards the upper edge.
        case up
        /// Towards the lower edge.
        case down
        /// Towards the left edge.
        case left
        /// Towards the right edge.
        case right
    }

    /// Moves the focus to the nearest view in a direction; if no view has the focus, to the first view.
    ///
    /// - Returns: Whether the focus has moved.
    @discardableResult
    public func moveFocus(_ direction: FocusDirection) -> Bool {
        let views = focusableViews
        guard let current = firstResponder as? View, current !== self else { return focus(views.first) }
        let start = current.convert(current.bounds, to: nil)
        let nearest =
            views
            .filter { $0 !== current }
            .compactMap { view in
                direction.distance(from: start, to: view.convert(view.bounds, to: nil)).map { ($0, view) }
            }
            .min { $0.0 < $1.0 }
        return focus(nearest?.1)
    }

    /// The view that the focus cannot leave: the frontmost sheet, alert or menu, or else the window.
    private var focusRoot: View { overlays.last ?? self }

    private func moveFocus(by step: Int) -> Bool {
        let views = focusableViews
        if views.isEmpty { return false }
        guard let index = views.firstIndex(where: { $0 === firstResponder }) else {
            return focus(step > 0 ? views.first : views.last)
        }
        return focus(views[(index + step + views.count) % views.count])
    }

    private func focus(_ view: View?) -> Bool {
        guard let view, view !== firstResponder, makeFirstResponder(view) else { return false }
        view.reveal(view.bounds)
        return true
    }

    /// Moves the focus for a key that no responder has used; returns whether the focus has moved.
    func moveFocus(for press: Press) -> Bool {
        switch (press.key, press.modifiers) {
        case (.tab, []): focusNext()
        case (.tab, .shift): focusPrevious()
        case (.up, []): moveFocus(.up)
        case (.down, []): moveFocus(.down)
        case (.left, []): moveFocus(.left)
        case (.right, []): moveFocus(.right)
        default: false
        }
    }
}

extension Window.FocusDirection {
    /// Returns the distance to a rectangle in this direction; nil if the rectangle is not in this direction.
    ///
    /// Distance to the side counts twice, so that views straight ahead are preferred.
    func distance(from start: Rect, to end: Rect) -> Double? {
        func gap(_ first: (Double, Double), _ second: (Double, Double)) -> Double {
            max(0, max(second.0 - first.1, first.0 - second.1))
        }
        let columns = gap((start.minX, start.maxX), (end.minX, end.maxX))
        let rows = gap((start.minY, start.maxY), (end.minY, end.maxY))
        let isThere =
            switch self {
            case .up: end.center.y < start.center.y && end.minY < start.minY
            case .down: end.center.y > start.center.y && end.maxY > start.maxY
            case .left: end.center.x < start.center.x && end.minX < start.minX
            case .right: end.center.x > start.center.x && end.maxX > start.maxX
            }
        // Rectangles beside each other are not above each other, however much taller one of them is.
        let isBeside = self == .up || self == .down ? rows == 0 && columns > 0 : columns == 0 && rows > 0
        guard isThere, !isBeside else { return nil }
        let (ahead, aside) = self == .up || self == .down ? (rows, columns) : (columns, rows)
        return ahead + 2 * aside + start.center.distance(to: end.center) / 1000
    }
}
