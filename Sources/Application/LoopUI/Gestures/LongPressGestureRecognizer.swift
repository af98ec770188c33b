// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Recognises fingers that stay down: the gesture begins when they have stayed long enough, and lasts until they go up.
open class LongPressGestureRecognizer: GestureRecognizer {
    /// How long the fingers have to stay down before the gesture begins; half a second unless set, as in UIKit.
    public var minimumPressDuration = Duration.milliseconds(500)
    /// How far a finger may move before the gesture has begun, in points; 1 unless set.
    ///
    /// A point is a cell here, which is about as wide as the 10 points of UIKit.
    public var allowableMovement = 1.0
    /// How many fingers have to be down; 1 unless set.
    public var numberOfTouchesRequired = 1

    open override func touchesBegan(_ touches: Set<Touch>, with event: Event) {
        if active.count > numberOfTouchesRequired {
            if state == .possible {
                state = .failed
                return
            }
            for touch in touches { ignore(touch, for: event) }
        } else if active.count == numberOfTouchesRequired {
            startTimer(minimumPressDuration)
        }
    }

    override func timeIsUp() { state = .began }

    open override func touchesMoved(_ touches: Set<Touch>, with event: Event) {
        if state != .possible {
            state = .changed
        } else if touches.contains(where: { $0.start.distance(to: $0.position) > allowableMovement }) {
            state = .failed
        }
    }

    open override func touchesEnded(_ touches: Set<Touch>, with event: Event) {
        state = state == .possible ? .failed : .ended
    }
}
