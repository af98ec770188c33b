// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Delivers a touch to its view: records what the view has received, and keeps what recognisers withhold from the view.
@MainActor final class TouchDelivery {
    /// A change of a touch, with the touch's phase and positions at that time.
    private struct Part {
        let phase: Touch.Phase
        let position: Point
        let previousPosition: Point
        let event: Event
    }

    let touch: Touch
    /// All recognisers of the view that was hit and of the views around it, including recognisers that do not see the
    /// touch.
    private let recognizers: [GestureRecognizer]
    private var withheld: [Part] = []
    /// Whether the view has received the beginning of the touch.
    private var hasBegun = false
    /// Whether the view receives no more of the touch.
    private var isCancelled = false
    private var lastEvent: Event?

    init(_ touch: Touch, recognizers: [GestureRecognizer]) {
        self.touch = touch
        self.recognizers = recognizers
    }

    private var hasEnded: Bool { touch.phase == .ended || touch.phase == .cancelled }

    /// Whether the touch has ended and nothing is withheld.
    var isOver: Bool { hasEnded && (isCancelled || withheld.isEmpty) }

    /// Whether a recogniser has to stay in its final state for this touch.
    func holds(_ recognizer: GestureRecognizer) -> Bool { !hasEnded && recognizers.contains { $0 === recognizer } }

    /// Appends the touch's last change to the withheld ones; several moves in a row are merged into one.
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

    /// Sends the view the withheld changes, in order, up to the first that a recogniser still withholds.
    func release() {
        while !isCancelled, let next = withheld.first, !isWithheld(next.phase) {
            withheld.removeFirst()
            send(next.phase, next)
        }
    }

    private func isWithheld(_ phase: Touch.Phase) -> Bool {
        touch.recognizers.contains { recognizer in
            guard recognizer.hasSeen(touch), recognizer.progress.decided == .possible else { return false }
            // What has made a gesture is not the view's, if the gesture begins.
            if recognizer.progress.isToBeDecided, recognizer.cancelsTouchesInView { return true }
            return switch phase {
            case .began: recognizer.delaysTouchesBegan
            case .ended: recognizer.delaysTouchesEnded
            default: false
            }
        }
    }

    /// Cancels the touch for the view, which receives no more of it.
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

    /// Calls the view with the touch as it was at an earlier change; afterwards the touch has its present values again.
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
