// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// Gives touches to recognisers and views, and decides between them before the loop sleeps.
///
/// While events are handled, recognisers receive touches and ask for states, and views receive the touches that no
/// recogniser withholds. The observer then decides, cancels touches in views, calls the actions, and resets recognisers
/// whose touches have ended, in this order.
@MainActor final class GestureArbiter {
    private let loop: RunLoop
    private var observer: RunLoop.Observer?
    /// The recognisers that have seen a touch since their last reset, in the order of their first touches.
    private var engaged: [GestureRecognizer] = []
    /// The touches that have not ended, or whose end their view has not received yet.
    private var deliveries: [TouchDelivery] = []
    /// Called when no decision is due.
    var whenDecided: (() -> Void)?

    init(_ loop: RunLoop) {
        self.loop = loop
        let observer = RunLoop.Observer(.beforeWaiting, order: 0, label: "gestures") { [weak self] _, _ in
            self?.update()
        }
        loop.add(observer, in: .common)
        self.observer = observer
    }

    func invalidate() {
        observer?.invalidate()
        for recognizer in engaged { recognizer.stopTimer() }
    }

    /// Whether a decision is still due in this turn.
    private(set) var isPending = false
    private var isDeciding = false

    /// Whether no touch is known and nothing is to be decided.
    var isIdle: Bool { engaged.isEmpty && deliveries.isEmpty && !isPending }

    /// Takes a recogniser into the decisions until its touches have ended.
    func engage(_ recognizer: GestureRecognizer) {
        if recognizer.whenMarked != nil { return }
        recognizer.whenMarked = { [weak self] in self?.isPending = true }
        engaged.append(recognizer)
    }

    // MARK: Delivery

    /// Sends the touches of an event to their recognisers, and to their views.
    func deliver(_ event: Event, in window: Window) {
        for touch in event.touches where touch.window === window && touch.phase != .stationary {
            if touch.phase == .began {
                // The delegates are called before the list is changed.
                let delivery = TouchDelivery(touch, recognizers: admit(touch))
                deliveries.append(delivery)
            }
            guard let delivery = deliveries.first(where: { $0.touch === touch }) else { continue }
            // One of them may have another one ignore the touch.
            for recognizer in touch.recognizers where touch.recognizers.contains(where: { $0 === recognizer }) {
                recognizer.receive(touch, event)
            }
            failWhatIsOver()
            // What is in a final state may be possible again.
            if touch.phase == .ended || touch.phase == .cancelled { isPending = isPending || !engaged.isEmpty }
            // A finger that joins a gesture is not the view's.
            if touch.recognizers.contains(where: { $0.progress.decided.isRecognized && $0.cancelsTouchesInView }) {
                delivery.cancel()
            }
            delivery.add(event)
        }
        withdrawLostTouches()
        release()
    }

    /// Removes the recognisers from a new touch that are not to see it; returns all recognisers that the touch had
    /// before.
    private func admit(_ touch: Touch) -> [GestureRecognizer] {
        let candidates = touch.recognizers
        touch.recognizers = candidates.filter {
            $0.isEnabled && $0.progress.takesTouches && $0.buttonMaskRequired.contains(touch.button)
                && $0.delegate?.gestureRecognizer($0, shouldReceive: touch) ?? true
        }
        touch.recognizers.forEach(engage)
        return candidates
    }

    /// Sets the recognisers to `failed` that are still `possible`, whose touches have ended, and that expect no more
    /// touches.
    private func failWhatIsOver() {
        for recognizer in engaged
        where recognizer.active.isEmpty && recognizer.state == .possible && recognizer.progress.wishes.isEmpty
            && !recognizer.expectsMoreTouches
        {
            recognizer.state = .failed
        }
    }

    /// Sends views all that no recogniser withholds, and removes the deliveries that are complete.
    private func release() {
        for delivery in deliveries { delivery.release() }
        deliveries.removeAll(where: \.isOver)
    }

    /// Takes touches away from views and recognisers that have left the window, or whose window was closed.
    private func withdrawLostTouches() {
        func isLost(_ view: View?, _ window: Window) -> Bool { view?.window !== window || !window.isVisible }
        for delivery in deliveries {
            guard let view = delivery.touch.view, isLost(view, delivery.touch.window) else { continue }
            delivery.cancel()
            delivery.touch.view = nil
        }
        for recognizer in engaged where !recognizer.progress.decided.isFinal {
            if let window = recognizer.seen.first?.window, isLost(recognizer.view, window) { recognizer.giveUp() }
        }
    }

    // MARK: The observer

    private func update() {
        // A delegate that runs the loop while it is asked has not answered yet.
        if isIdle || isDeciding { return }
        withdrawLostTouches()
        guard isPending else { return }
        isPending = false
        failWhatIsOver()
        isDeciding = true
        let begun = GestureDecision(engaged).decide()
        isDeciding = false
        for recognizer in begun where recognizer.cancelsTouchesInView {
            for delivery in deliveries where recognizer.hasSeen(delivery.touch) { delivery.cancel() }
        }
        release()
        callActions()
        resetWhatIsOver()
        release()
        // An action has changed something: a further turn looks at it.
        if isPending { loop.wakeUp() } else { whenDecided?() }
    }

    private func callActions() {
        for recognizer in engaged where recognizer.progress.decided != .possible {
            let (states, round) = (recognizer.progress.wishes, recognizer.round)
            recognizer.progress.wishes = []
            for state in states {
                recognizer.progress = .decided(state, wishes: [])
                recognizer.callActions()
                // The action has disabled or removed the recogniser: what comes now is the end. Or it has run the loop,
                // and the end has come already.
                if !recognizer.progress.wishes.isEmpty || recognizer.round != round { break }
            }
        }
    }

    private func resetWhatIsOver() {
        for recognizer in engaged
        where recognizer.whenMarked != nil && recognizer.progress.decided.isFinal
            && !deliveries.contains(where: { $0.holds(recognizer) })
        {
            engaged.removeAll { $0 === recognizer }
            recognizer.resetToPossible()
        }
    }
}
