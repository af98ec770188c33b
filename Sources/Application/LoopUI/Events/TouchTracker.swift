// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// The touches that are under way, made of the input of pointers.
@MainActor struct TouchTracker {
    private var touches: [Touch] = []
    /// The last touch that has ended, for counting taps.
    private var last: (button: ButtonMask, start: Point, time: RunLoop.Instant, count: Int)?

    /// The longest time from the end of a touch to the beginning of the next that counts as its second tap; our own
    /// choice, since UIKit's value is not documented.
    static let tapInterval = Duration.milliseconds(350)
    /// The longest distance between two touches that count as two taps, in points; our own choice.
    static let tapDistance = 1.0

    nonisolated init() {}

    /// Whether an input begins a new touch, for which a hit test is needed.
    func begins(_ input: PointerInput) -> Bool {
        input.phase == .began && !touches.contains { $0.identifier == input.identifier }
    }

    /// Returns the event for an input; nil if the input belongs to no touch.
    ///
    /// - Parameters:
    ///   - input: The input.
    ///   - hit: The window and the view that a touch that begins has hit.
    ///   - now: The present instant.
    mutating func event(
        for input: PointerInput, hit: (window: Window, view: View?)? = nil, at now: RunLoop.Instant
    ) -> Event? {
        for touch in touches { touch.phase = .stationary }
        guard let touch = touch(for: input, hit, now) else { return nil }
        touch.changes &+= 1
        touch.previousPosition = touch.position
        touch.position = input.position
        touch.time = now
        touch.phase =
            switch input.phase {
            case .began: .began
            case .moved: .moved
            case .ended: .ended
            case .cancelled: .cancelled
            }
        let event = Event(.touches, at: now, modifiers: input.modifiers, touches: touches)
        if touch.phase == .ended || touch.phase == .cancelled {
            touches.removeAll { $0 === touch }
            last = touch.phase == .ended ? (touch.button, touch.start, now, touch.tapCount) : nil
        }
        return event
    }

    private mutating func touch(
        for input: PointerInput, _ hit: (window: Window, view: View?)?, _ now: RunLoop.Instant
    ) -> Touch? {
        if let known = touches.first(where: { $0.identifier == input.identifier }) { return known }
        guard input.phase == .began, let (window, view) = hit else { return nil }
        let touch = Touch(input, in: window, view: view, time: now)
        if let last, last.button == input.button, last.time.duration(to: now) <= Self.tapInterval,
            last.start.distance(to: input.position) <= Self.tapDistance
        {
            touch.tapCount = last.count + 1
        }
        touch.recognizers = sequence(first: view ?? window, next: { $0.superview }).flatMap(\.gestureRecognizers)
        touches.append(touch)
        return touch
    }

    /// Returns the input that cancels the touch under way with the same identifier, if there is one.
    ///
    /// If a touch begins with the identifier of a touch under way, the device has lost the end of the earlier touch.
    ///
    /// Some terminals do not report that a button went up outside of their window.
    func end(lostBefore input: PointerInput) -> PointerInput? {
        touches.first { $0.identifier == input.identifier }.map {
            PointerInput(.cancelled, at: $0.position, identifier: $0.identifier)
        }
    }

    /// Returns the inputs that end all touches that are under way.
    func inputs(ending phase: PointerInput.Phase) -> [PointerInput] {
        touches.map { PointerInput(phase, at: $0.position, identifier: $0.identifier) }
    }
}
