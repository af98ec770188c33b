// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// A drag of the content by a finger.
struct ScrollDrag {
    /// The content offset at the beginning of the drag.
    let start: Point
}

extension ScrollView {
    /// Whether a finger is on the content, even if it has not moved yet.
    public var isTracking: Bool { isDragging || contentTouches.isTracking }
    /// Whether a finger moves the content.
    public var isDragging: Bool { drag != nil }

    /// Called when the state of the pan gesture has changed: begins, continues or ends the drag.
    func panned() {
        switch panGestureRecognizer.state {
        case .began:
            beginDrag()
            follow()
        case .changed: follow()
        case .ended:
            follow()
            let velocity = panGestureRecognizer.velocity(in: self)
            endDrag(velocity: Point(-velocity.x / 1000, -velocity.y / 1000))
        case .cancelled: endDrag(velocity: nil)
        case .possible, .failed: break
        }
    }

    private func beginDrag() {
        stopMotion()
        // The delegate was called, and may have taken the view away.
        guard isScrollEnabled, window != nil else { return }
        // A finger takes content that an animation moves where it is seen.
        if shownContentOrigin != contentOffset { bounds.origin = shownContentOrigin }
        drag = ScrollDrag(start: contentOffset)
        shift = .zero
        beginTracking()
        takeFocus()
        delegate?.scrollViewWillBeginDragging(self)
    }

    /// Moves the content with the finger, as far as the content reaches.
    private func follow() {
        guard let drag else { return }
        bounds.origin = drag.start - panGestureRecognizer.translation(in: self) + shift
    }

    /// Ends the drag.
    ///
    /// - Parameter velocity: How fast the offset changes, in points per millisecond; nil if the drag was cancelled.
    func endDrag(velocity: Point?) {
        guard drag != nil else { return }
        drag = nil
        var deceleration: Deceleration?
        let goesOn = window?.application.map { !$0.display.abilities.reducesMotion } ?? false
        if let velocity {
            let free = Deceleration(
                from: contentOffset, velocity: goesOn ? velocity : .zero, rate: decelerationRate.rawValue)
            // Where the content comes to rest: at its edge, and at a whole point.
            let rest = restingOffset(near: free.target)
            var target = rest
            delegate?.scrollViewWillEndDragging(self, velocity: velocity, target: &target)
            // At the edge the content arrives with the speed that the finger gave it.
            let end = target == rest ? free.target : restingOffset(near: target)
            deceleration = Deceleration(from: contentOffset, to: end, rate: decelerationRate.rawValue)
        }
        if !goesOn, let deceleration { bounds.origin = deceleration.target }
        guard let deceleration, canScroll(to: deceleration.target), let application = window?.application else {
            delegate?.scrollViewDidEndDragging(self, willDecelerate: false)
            return endTracking()
        }
        // What the delegate moves from here on moves the way to come too.
        shift = .zero
        delegate?.scrollViewDidEndDragging(self, willDecelerate: true)
        // It may have taken the view away, or begun a movement of its own.
        guard isScrollEnabled, window != nil, drag == nil, motion == nil else {
            if drag == nil { endTracking() }
            return
        }
        decelerate(deceleration, application)
    }

    private func decelerate(_ deceleration: Deceleration, _ application: Application) {
        isDecelerating = true
        motion = ScrollMotion(application, in: [.tracking], from: application.now) { [weak self] time in
            guard let self else { return }
            let own = motion
            let place = deceleration.offset(after: time) + shift
            let target = deceleration.target + shift
            let isOver = distance(from: place, to: target) < 0.5
            bounds.origin = isOver ? target : place
            // The delegate may have stopped it, or begun another movement.
            if isOver, motion === own { stopMotion() }
        }
        delegate?.scrollViewWillBeginDecelerating(self)
    }

    func endDeceleration() {
        isDecelerating = false
        endTracking()
        delegate?.scrollViewDidEndDecelerating(self)
    }

    /// Stops a deceleration or an animation when a touch begins.
    ///
    /// - Returns: Whether the content was moving by itself.
    func stopAtTouch() -> Bool {
        if motion == nil { return false }
        stopMotion()
        return true
    }

    // MARK: Mode

    /// Lets the loop run in the tracking mode from now on.
    private func beginTracking() {
        guard trackedModes == nil else { return }
        trackedModes = window?.application?.modes
        trackedModes?.push(.tracking)
    }

    /// Lets the loop run in its earlier mode again.
    private func endTracking() {
        trackedModes?.pop(.tracking)
        trackedModes = nil
    }
}
