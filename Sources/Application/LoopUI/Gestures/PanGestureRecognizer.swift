// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Recognises dragging: the gesture begins when the fingers have moved far enough, and lasts until they go up.
open class PanGestureRecognizer: GestureRecognizer {
    /// How many fingers have to be down; 1 unless set.
    public var minimumNumberOfTouches = 1
    /// The maximum number of fingers that count; further fingers are ignored.
    public var maximumNumberOfTouches = Int.max
    /// How far the fingers have to move before the gesture begins, in points; 1, which is a cell in a terminal, unless
    /// set.
    public var threshold = 1.0

    private var moved = Point.zero
    private var path = Point.zero
    private var tracker = VelocityTracker()

    /// Returns how far the fingers have moved since they went down, in points; after ``setTranslation(_:in:)``, the
    /// value that was set plus the movement since then.
    ///
    /// The movement before the beginning of the gesture counts, so that a dragged view stays under the finger.
    public func translation(in view: View?) -> Point { moved }

    /// Sets the translation, in points; further movements are added to it.
    public func setTranslation(_ translation: Point, in view: View?) { moved = translation }

    /// Returns how fast the fingers move, in points per second, measured over the last tenth of a second.
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
