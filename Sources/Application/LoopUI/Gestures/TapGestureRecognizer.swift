// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Recognises taps: one or several, with one or several fingers.
open class TapGestureRecognizer: GestureRecognizer {
    /// How many taps make the gesture; 1 unless set.
    public var numberOfTapsRequired = 1
    /// How many fingers have to be down at once; 1 unless set.
    public var numberOfTouchesRequired = 1
    /// How far a finger may move, and how far apart two taps may be, in points; 1 unless set.
    public var allowableMovement = 1.0

    private var taps = 0
    private var mostFingers = 0
    private var start: Point?

    open override func touchesBegan(_ touches: Set<Touch>, with event: Event) {
        mostFingers = max(mostFingers, active.count)
        if active.count > numberOfTouchesRequired {
            state = .failed
            return
        }
        // The fingers after the first may be anywhere.
        guard active.count == 1, let touch = touches.first else { return }
        if let start, start.distance(to: touch.start) > allowableMovement {
            state = .failed
            return
        }
        if start == nil { start = touch.start }
        waitForMore()
    }

    open override func touchesMoved(_ touches: Set<Touch>, with event: Event) {
        if touches.contains(where: { $0.start.distance(to: $0.position) > allowableMovement }) { state = .failed }
    }

    open override func touchesEnded(_ touches: Set<Touch>, with event: Event) {
        touchesMoved(touches, with: event)
        guard state == .possible, active.count == touches.count else { return }
        if mostFingers < numberOfTouchesRequired {
            state = .failed
            return
        }
        mostFingers = 0
        taps += 1
        if taps >= numberOfTapsRequired {
            stopTimer()
            state = .ended
        } else {
            waitForMore()
        }
    }

    /// Starts the time within which the next part of several taps has to follow.
    private func waitForMore() { if numberOfTapsRequired > 1 { startTimer(TouchTracker.tapInterval) } }

    override func timeIsUp() { state = .failed }

    /// Whether at least one tap was made and at least one is still missing.
    open override var expectsMoreTouches: Bool { taps > 0 && taps < numberOfTapsRequired }

    /// Whether this gesture, when recognised, makes the other one fail; false if the other one requires more taps.
    ///
    /// The first taps of a double tap, for example, are a single tap too.
    open override func canPrevent(_ other: GestureRecognizer) -> Bool {
        guard let other = other as? TapGestureRecognizer else { return true }
        return other.numberOfTapsRequired <= numberOfTapsRequired
    }

    open override func reset() {
        taps = 0
        mostFingers = 0
        start = nil
    }
}
