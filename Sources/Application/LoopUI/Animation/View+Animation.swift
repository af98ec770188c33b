// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

extension View {
    /// Sets values of views, and animates the shown values from the old ones to the new ones.
    ///
    /// The properties have their new values at once: code that reads them, layout and touches use the new values. The
    /// shown values follow, from the next commit on, once a frame and in all common modes, so also during a drag. These
    /// values move: ``frame``, the origin of ``bounds`` and with it the offset of a scroll view, ``alpha`` and
    /// ``backgroundColor``. All others are shown at once. A view whose size moves is drawn in its new size, and the shown
    /// frame clips it. To let views inside move with it, call ``layoutIfNeeded()`` in the closure.
    ///
    /// A value that is set again in another animation moves on from the value that is shown. A value that is set
    /// outside of an animation is shown at once. Both interrupt the earlier animation of the value, which also ends
    /// when the view leaves the window or the window is closed. Nothing moves if the user wants no motion
    /// (``DisplayAbilities/reducesMotion``), or in a view without a window. While nothing moves, and during a delay,
    /// nothing wakes the loop once a frame.
    ///
    /// Corresponds to UIKit's `animate(withDuration:delay:options:animations:completion:)`.
    ///
    /// - Parameters:
    ///   - duration: The time that the values take to move.
    ///   - delay: The time before the values begin to move.
    ///   - options: The curve of the movement, and whether it repeats or reverses.
    ///   - animations: Sets the values; called at once.
    ///   - completion: Called in a later turn, when the last value has arrived or was interrupted; receives false if any
    ///     value was interrupted, and true otherwise. If nothing moves, it is called in the next turn with true; without
    ///     an application, at once. It is not called if the application ends first.
    public static func animate(
        withDuration duration: Duration, delay: Duration = .zero, options: AnimationOptions = [],
        animations: () -> Void, completion: ((Bool) -> Void)? = nil
    ) {
        guard let animator = Application.current?.animator else {
            animations()
            completion?(true)
            return
        }
        let group = AnimationGroup(duration: duration, delay: delay, options: options, completion: completion)
        animator.run(group, animations)
    }

    /// Calls a closure; the values that it sets are shown at once, even inside the closure of an animation.
    public static func performWithoutAnimation(_ actions: () -> Void) {
        let outer = AnimationGroup.current
        AnimationGroup.current = nil
        defer { AnimationGroup.current = outer }
        actions()
    }

    // MARK: What is shown

    /// The frame in which the view is shown; differs from ``frame`` while that moves.
    var shownFrame: Rect { extras?.shown.frame ?? frame }
    /// The point of the view's content that is shown at the upper left corner.
    var shownContentOrigin: Point { extras?.shown.contentOrigin ?? bounds.origin }
    var shownAlpha: Double { extras?.shown.alpha ?? alpha }
    var shownBackgroundColor: Color { extras?.shown.backgroundColor ?? backgroundColor }

    /// Whether anything of the view is seen now.
    var isSeenNow: Bool { !isHidden && shownAlpha >= 0.01 }

    /// The offset from the coordinates of the view, as it is shown now, to those of the display.
    var shownOffset: Point {
        var (offset, view) = (Point.zero, self as View?)
        while let present = view {
            offset = offset + present.shownFrame.origin - present.shownContentOrigin
            view = present.superview
        }
        return offset
    }

    private func value(of property: AnimatedValue.Property) -> AnimatedValue {
        switch property {
        case .frame: .frame(frame)
        case .contentOrigin: .contentOrigin(bounds.origin)
        case .alpha: .alpha(alpha)
        case .backgroundColor: .backgroundColor(backgroundColor)
        }
    }

    // MARK: Moves

    /// Begins to move a value that was set in an animation, and ends the earlier movement of the value.
    ///
    /// - Parameter old: The value before.
    /// - Returns: Whether the old value stays shown for now.
    func animateChange(from old: AnimatedValue) -> Bool {
        if AnimationGroup.current == nil, extras?.moves.isEmpty ?? true { return false }
        let property = old.property
        let start = extras?.shown[property] ?? old
        // The animator counts the values of a view that is in no window any more, too.
        let animator = Application.current?.animator
        let interrupted = extras?.moves[property]
        if let group = AnimationGroup.current, let window, window.isVisible, let animator, animator.moves(group) {
            let extras = extras ?? ViewExtras()
            self.extras = extras
            extras.moves[property] = AnimatedMove(start: start, group: group)
            extras.shown.show(start)
            animator.begin(group, of: self, extras)
            if let interrupted { animator.end(interrupted, isInterrupted: interrupted.group !== group) }
            return true
        }
        guard let interrupted else { return false }
        damageShown()
        extras?.endMove(property)
        animator?.end(interrupted, isInterrupted: true)
        return false
    }

    /// Ends all movements of the view; its values are shown as they were set.
    func endMoves() {
        guard let extras, !extras.moves.isEmpty else { return }
        damageShown()
        let moves = extras.endMoves()
        damageShown()
        let animator = Application.current?.animator
        for move in moves { animator?.end(move, isInterrupted: true) }
    }

    /// Shows the values of the view's animations at an instant.
    ///
    /// - Parameters:
    ///   - time: The beginning of the frame.
    ///   - isOver: Whether the values are shown as they were set from now on.
    func showMoves(at time: RunLoop.Instant, isOver: Bool) {
        guard let extras, let animator = window?.application?.animator else { return endMoves() }
        for (property, move) in extras.moves {
            let way = isOver ? nil : move.group.way(at: time)
            let old = extras.shown[property]
            let new = way.map { move.start.moved(to: value(of: property), part: $0) }
            if old != new ?? value(of: property) {
                damageShown()
                if let new { extras.shown.show(new) } else { extras.shown.clear(property) }
                damageShown()
            }
            if way != nil { continue }
            extras.endMove(property)
            animator.end(move, isInterrupted: false)
        }
    }
}
