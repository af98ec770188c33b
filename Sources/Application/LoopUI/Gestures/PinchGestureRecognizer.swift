// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Recognises two fingers that move apart or together.
open class PinchGestureRecognizer: GestureRecognizer {
    /// How much the distance between the fingers has to change before the gesture begins, in points; 1 unless set.
    public var threshold = 1.0
    /// The distance between the fingers divided by their distance at first; after it was set, changes multiply the new
    /// value.
    public var scale: Double {
        get { factor * distance / first }
        set { factor = newValue * first / distance }
    }
    /// The change of ``scale`` per second, measured over the last tenth of a second.
    public var velocity: Double { tracker.velocity.x }

    private var factor = 1.0
    private var first = 1.0
    private var distance = 1.0
    private var tracker = VelocityTracker()

    open override func touchesBegan(_ touches: Set<Touch>, with event: Event) {
        if active.count > 2 {
            for touch in touches { ignore(touch, for: event) }
        } else if active.count == 2 {
            distance = measured
            first = distance
            tracker.add(Point(scale, 0), at: event.time)
        }
    }

    /// Fingers in the same cell count as one point apart.
    private var measured: Double { max(1, active[0].position.distance(to: active[1].position)) }

    open override func touchesMoved(_ touches: Set<Touch>, with event: Event) {
        guard active.count == 2 else { return }
        distance = measured
        tracker.add(Point(scale, 0), at: event.time)
        if state != .possible {
            state = .changed
        } else if abs(distance - first) >= threshold {
            state = .began
        }
    }

    open override func touchesEnded(_ touches: Set<Touch>, with event: Event) {
        if touches.contains(where: { $0.position != $0.previousPosition }) { touchesMoved(touches, with: event) }
        if state != .possible {
            state = .ended
        } else if active.count == touches.count {
            state = .failed
        }
    }

    open override func reset() {
        factor = 1
        first = 1
        distance = 1
        tracker.removeAll()
    }
}
