// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// The touches that are under way, made of the input of pointers.
@MainActor struct TouchTracker {
    private var touches: [Touch] = []
    /// The last touch that has ended, for counting taps.
    private var last: (button: ButtonMask, start: Point, time: RunLoop.Instant, count: Int)?

    /// How soon a touch has to follow another one to count as its second tap; our own choice, since UIKit's is not
    /// documented.
    static let tapInterval = Duration.milliseconds(350)
    /// How near it has to be, in points; our own choice.
    static let tapDistance = 1.0

    nonisolated init() {}

    /// The event of an input; nil if it belongs to no touch.
    ///
    /// - Parameters:
    ///   - input: The input.
    ///   - windows: What a touch that begins can hit.
    ///   - now: The present instant.
    mutating func event(for input: PointerInput, in windows: WindowStack, at now: RunLoop.Instant) -> Event? {
        for touch in touches { touch.phase = .stationary }
        guard let touch = touch(for: input, in: windows, now) else { return nil }
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
        for input: PointerInput, in windows: WindowStack, _ now: RunLoop.Instant
    ) -> Touch? {
        if let known = touches.first(where: { $0.identifier == input.identifier }) { return known }
        guard input.phase == .began, let window = windows.window(at: input.position) else { return nil }
        let hit = window.hitTest(window.convert(input.position, from: nil), with: nil)
        let touch = Touch(input, in: window, view: hit, time: now)
        if let last, last.button == input.button, last.time.duration(to: now) <= Self.tapInterval,
            last.start.distance(to: input.position) <= Self.tapDistance
        {
            touch.tapCount = last.count + 1
        }
        touch.recognizers = sequence(first: hit ?? window, next: { $0.superview }).flatMap(\.gestureRecognizers)
        touches.append(touch)
        return touch
    }

    /// The input that ends a touch whose end the device has lost: another one with its number begins.
    ///
    /// Some terminals lose the end of a button that goes up outside of their window.
    func end(lostBefore input: PointerInput) -> PointerInput? {
        touches.first { $0.identifier == input.identifier }.map {
            PointerInput(.cancelled, at: $0.position, identifier: $0.identifier)
        }
    }

    /// The inputs that end all touches.
    func inputs(ending phase: PointerInput.Phase) -> [PointerInput] {
        touches.map { PointerInput(phase, at: $0.position, identifier: $0.identifier) }
    }
}
