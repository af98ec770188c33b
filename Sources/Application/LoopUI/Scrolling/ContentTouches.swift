// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Sees the touches of a scroll view first, and keeps them from the views inside for a while: until it is clear that no
/// scrolling is meant, the finger goes up, or 150 ms have passed.
///
/// While the recogniser is `possible`, the views do not receive the touches. If it fails, they receive the touches that
/// were kept; if it is recognised, they never receive them.
final class ContentTouches: GestureRecognizer {
    /// How long touches are kept at most; UIKit uses this delay, which is observed and not documented.
    static let delay = Duration.milliseconds(150)

    /// Whether views inside have got the touches.
    private(set) var areDelivered = false
    /// Whether the touches are not for the views: they have stopped the content, or were refused.
    private var areKept = false
    private var event: Event?

    private var scrollView: ScrollView? { view as? ScrollView }

    /// The view that the touches are for.
    var content: View? { seen.first?.view }

    required init() {
        super.init()
        delaysTouchesBegan = true
    }

    /// Whether a finger is down.
    var isTracking: Bool { !active.isEmpty }

    override func touchesBegan(_ touches: Set<Touch>, with event: Event) {
        guard let scrollView, active.count == touches.count else { return }
        self.event = event
        if scrollView.stopAtTouch() {
            areKept = true
            // Nor are they taps of what is inside.
            for touch in touches {
                for other in touch.recognizers where other.view !== view && other.view?.isInside(scrollView) == true {
                    other.ignore(touch, for: event)
                }
            }
        } else if scrollView.delaysContentTouches {
            startTimer(Self.delay)
        } else {
            deliver()
        }
    }

    override func timeIsUp() { if state == .possible { deliver() } }

    /// Delivers a short touch to the views when it ends.
    override func touchesEnded(_ touches: Set<Touch>, with event: Event) {
        guard state == .possible, active.count == touches.count else { return }
        if !areKept { deliver() }
        if areKept { state = .ended }
    }

    private func deliver() {
        stopTimer()
        guard let scrollView, let touch = active.first, let event else { return }
        let content = touch.view ?? scrollView
        areKept = content !== scrollView && !scrollView.touchesShouldBegin(Set(active), with: event, in: content)
        if areKept { return }
        areDelivered = true
        state = .failed
    }

    /// Prevents no gestures: a touch that the views do not receive can still be a gesture.
    override func canPrevent(_ other: GestureRecognizer) -> Bool { false }

    override func reset() {
        areDelivered = false
        areKept = false
        event = nil
    }
}
