// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

/// A finger on the display, or a button of the mouse that is held, from beginning to end.
///
/// The object stays the same until the touch ends. It keeps the view that it hit first.
@MainActor public final class Touch: Hashable {
    /// The phase of a touch.
    public enum Phase: Sendable {
        /// The touch has begun.
        case began
        /// The touch has moved.
        case moved
        /// The touch has not changed since the event before.
        case stationary
        /// The touch has ended.
        case ended
        /// A gesture or the display has cancelled the touch.
        case cancelled
    }

    /// The phase of the touch.
    public internal(set) var phase = Phase.began
    /// When the touch changed last, on the loop's own clock.
    public internal(set) var time: RunLoop.Instant
    /// The number of touches at this position in quick succession, this touch included; 1 for the first.
    public internal(set) var tapCount = 1
    /// Distinguishes this touch from the other fingers and buttons that are down at the same time.
    public let identifier: Int
    /// The button of the mouse; the primary one for a finger.
    public let button: ButtonMask
    /// The window that the touch has hit.
    public let window: Window
    /// The view that the touch has hit; nil if it has hit none, or after the view has left the window or the window was
    /// closed.
    public internal(set) var view: View?
    /// The recognisers that see the touch: first the recognisers of the view that it has hit, then the recognisers of the
    /// views around that view, as they were when the touch began.
    public internal(set) var recognizers: [GestureRecognizer] = []

    /// The number of inputs that have changed the touch.
    var changes = 0
    /// The present position, in points of the display.
    var position: Point
    var previousPosition: Point
    let start: Point

    init(_ input: PointerInput, in window: Window, view: View?, time: RunLoop.Instant) {
        identifier = input.identifier
        button = input.button
        self.window = window
        self.view = view
        self.time = time
        position = input.position
        previousPosition = input.position
        start = input.position
    }

    /// Returns the position of the touch in the coordinates of a view, or of the display if `view` is nil.
    public func location(in view: View?) -> Point { view?.convert(position, from: nil) ?? position }

    /// Returns the previous position of the touch in the coordinates of a view, or of the display if `view` is nil.
    public func previousLocation(in view: View?) -> Point {
        view?.convert(previousPosition, from: nil) ?? previousPosition
    }

    /// Whether both are the same object.
    public nonisolated static func == (left: Touch, right: Touch) -> Bool { left === right }

    /// Hashes the identity.
    public nonisolated func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension Set<Touch> {
    /// Whether all touches of the set come from fingers or from the primary button; controls and rows handle no others.
    @MainActor var arePrimary: Bool { allSatisfy { $0.button == .primary } }
}
