// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// What a view has got of a touch, and what is withheld from it.
@MainActor final class TouchDelivery {
    /// A part of a touch as it was when it came.
    private struct Part {
        let phase: Touch.Phase
        let position: Point
        let previousPosition: Point
        let event: Event
    }

    let touch: Touch
    /// All recognisers of the view that was hit and of those above, also those that do not see the touch.
    private let recognizers: [GestureRecognizer]
    private var withheld: [Part] = []
    /// Whether the view has got the beginning.
    private var hasBegun = false
    /// Whether the view gets no more of it.
    private var isCancelled = false
    private var lastEvent: Event?

    init(_ touch: Touch, recognizers: [GestureRecognizer]) {
        self.touch = touch
        self.recognizers = recognizers
    }

    private var hasEnded: Bool { touch.phase == .ended || touch.phase == .cancelled }

    /// Whether nothing is left to do.
    var isOver: Bool { hasEnded && (isCancelled || withheld.isEmpty) }

    /// Whether a recogniser has to stay in its final state for this touch.
    func holds(_ recognizer: GestureRecognizer) -> Bool { !hasEnded && recognizers.contains { $0 === recognizer } }

    /// Puts what has happened to the touch behind what is withheld; moves become one.
    func add(_ event: Event) {
        lastEvent = event
        if isCancelled { return }
        // What the display takes away is not delayed: it undoes what the view knows.
        if touch.phase == .cancelled { return cancel() }
        var previous = touch.previousPosition
        if touch.phase == .moved, let last = withheld.last, last.phase == .moved {
            previous = last.previousPosition
            withheld.removeLast()
        }
        withheld.append(Part(phase: touch.phase, position: touch.position, previousPosition: previous, event: event))
    }

    /// Gives the view all that no recogniser withholds.
    func release() {
        while !isCancelled, let next = withheld.first, !isWithheld(next.phase) {
            withheld.removeFirst()
            send(next.phase, next)
        }
    }

    private func isWithheld(_ phase: Touch.Phase) -> Bool {
        touch.recognizers.contains { recognizer in
            guard recognizer.hasSeen(touch), recognizer.settled == .possible else { return false }
            // What has made a gesture is not the view's, if the gesture begins.
            if recognizer.isToBeDecided, recognizer.cancelsTouchesInView { return true }
            return switch phase {
            case .began: recognizer.delaysTouchesBegan
            case .ended: recognizer.delaysTouchesEnded
            default: false
            }
        }
    }

    /// Takes the touch away from the view for good.
    func cancel() {
        if isCancelled { return }
        isCancelled = true
        withheld = []
        guard hasBegun, let lastEvent else { return }
        send(
            .cancelled,
            Part(
                phase: .cancelled, position: touch.position, previousPosition: touch.previousPosition,
                event: lastEvent))
    }

    /// Calls the view with the touch as it was then; the recognisers' view of it is not changed.
    private func send(_ phase: Touch.Phase, _ part: Part) {
        guard let view = touch.view else { return }
        let (now, changes) = ((touch.phase, touch.position, touch.previousPosition), touch.changes)
        // The view may run the loop, and the touch be somewhere else by then.
        defer { if touch.changes == changes { (touch.phase, touch.position, touch.previousPosition) = now } }
        (touch.phase, touch.position, touch.previousPosition) = (phase, part.position, part.previousPosition)
        switch phase {
        case .began:
            hasBegun = true
            view.touchesBegan([touch], with: part.event)
        case .moved: view.touchesMoved([touch], with: part.event)
        case .ended: view.touchesEnded([touch], with: part.event)
        case .cancelled: view.touchesCancelled([touch], with: part.event)
        case .stationary: break
        }
    }
}
