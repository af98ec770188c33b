// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Recognises dragging: begins when the fingers have moved far enough, and lasts until they go up.
open class PanGestureRecognizer: GestureRecognizer {
    /// How many fingers have to be down; 1 unless set.
    public var minimumNumberOfTouches = 1
    /// How many fingers count; further ones are ignored.
    public var maximumNumberOfTouches = Int.max
    /// How far the fingers have to move, in points; 1 unless set, which is a cell in a terminal.
    public var threshold = 1.0

    private var moved = Point.zero
    private var path = Point.zero
    private var tracker = VelocityTracker()

    /// How far the fingers have moved since they went down, or since ``setTranslation(_:in:)``.
    ///
    /// The way to the beginning of the gesture counts: what is dragged stays under the finger.
    public func translation(in view: View?) -> Point { moved }

    /// Counts from a new value on.
    public func setTranslation(_ translation: Point, in view: View?) { moved = translation }

    /// How fast the fingers move, in points a second, by their last tenth of a second.
    public func velocity(in view: View?) -> Point { tracker.velocity }

    open override func touchesBegan(_ touches: Set<Touch>, with event: Event) {
        if active.count > maximumNumberOfTouches {
            for touch in touches { ignore(touch, for: event) }
        } else if active.count == minimumNumberOfTouches, state == .possible {
            moved = .zero
            path = .zero
            tracker.removeAll()
            tracker.add(path, at: event.time)
        }
    }

    open override func touchesMoved(_ touches: Set<Touch>, with event: Event) {
        guard active.count >= minimumNumberOfTouches else { return }
        // The middle moves by a part of what one finger moves; a finger that comes or goes does not move it.
        for touch in touches {
            let way = touch.position - touch.previousPosition
            let part = Point(way.x / Double(active.count), way.y / Double(active.count))
            moved = moved + part
            path = path + part
        }
        tracker.add(path, at: event.time)
        if state != .possible {
            state = .changed
        } else if moved.distance(to: .zero) >= threshold {
            state = .began
        }
    }

    open override func touchesEnded(_ touches: Set<Touch>, with event: Event) {
        // A display that reports no moves reports where the finger went up.
        if touches.contains(where: { $0.position != $0.previousPosition }) {
            touchesMoved(touches, with: event)
        } else {
            tracker.add(path, at: event.time)
        }
        if active.count - touches.count >= minimumNumberOfTouches { return }
        if state != .possible {
            state = .ended
        } else if active.count == touches.count {
            state = .failed
        }
    }

    open override func reset() {
        moved = .zero
        path = .zero
        tracker.removeAll()
    }
}
