// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

/// A finger on the display, or a button of the mouse that is held, from beginning to end.
///
/// The object stays the same as long as the touch lasts. It keeps the view that it hit first.
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
        /// The touch was cancelled, by a gesture or by the display.
        case cancelled
    }

    /// The phase of the touch.
    public internal(set) var phase = Phase.began
    /// When the touch changed last, on the loop's own clock.
    public internal(set) var time: RunLoop.Instant
    /// How many touches came at this place, each soon after the one before; 1 for the first.
    public internal(set) var tapCount = 1
    /// Tells the fingers and buttons apart that are down at the same time.
    public let identifier: Int
    /// The button of the mouse; the primary one for a finger.
    public let button: ButtonMask
    /// The window that it hit.
    public let window: Window
    /// The view that it hit; nil once the touch has no view any more.
    public internal(set) var view: View?
    /// The recognisers that see it: of the view that it hit, then of the views above, at the time when it began.
    public internal(set) var recognizers: [GestureRecognizer] = []

    /// How often an input has changed it.
    var changes = 0
    /// In points of the display.
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

    /// Where it is, in the coordinates of a view; of the display if there is none.
    public func location(in view: View?) -> Point { view?.convert(position, from: nil) ?? position }

    /// Where it was before, in the coordinates of a view; of the display if there is none.
    public func previousLocation(in view: View?) -> Point {
        view?.convert(previousPosition, from: nil) ?? previousPosition
    }

    /// Whether both are the same object.
    public nonisolated static func == (left: Touch, right: Touch) -> Bool { left === right }

    /// Hashes the identity.
    public nonisolated func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension Set<Touch> {
    /// Whether they are touches of fingers or of the primary button, which controls and rows are for.
    @MainActor var arePrimary: Bool { allSatisfy { $0.button == .primary } }
}
