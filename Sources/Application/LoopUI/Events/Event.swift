// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

/// An input event, which the application makes from raw input and sends to responders.
@MainActor public final class Event {
    /// The kind of an input event.
    public enum Kind: Sendable {
        /// Touches: fingers on the display, or buttons of the mouse.
        case touches
        /// Keys that go down, repeat or go up.
        case presses
        /// A turn of the wheel.
        case wheel
        /// Pasted text.
        case paste
    }

    /// The kind of an input event.
    public let kind: Kind
    /// When the event was handled, on the loop's own clock.
    public let time: RunLoop.Instant
    /// The modifier keys that were held.
    public let modifiers: KeyModifiers
    /// All touches that are under way, including touches that have not changed.
    public let touches: [Touch]
    /// The keys that changed.
    public var presses: [Press] { Array(pressSet) }
    /// The keys that changed, as the set that responders receive.
    let pressSet: Set<Press>
    /// The phase of all keys in `pressSet`; nil if the set is empty.
    let pressPhase: Press.Phase?
    /// The turn of the wheel; nil for an event of another kind.
    public let wheel: Wheel?
    /// The pasted text; nil for an event of another kind.
    public let pasted: Paste?

    init(
        _ kind: Kind, at time: RunLoop.Instant, modifiers: KeyModifiers = [], touches: [Touch] = [],
        presses: Set<Press> = [], in phase: Press.Phase? = nil, wheel: Wheel? = nil, pasted: Paste? = nil
    ) {
        self.kind = kind
        self.time = time
        self.modifiers = modifiers
        self.touches = touches
        pressSet = presses
        pressPhase = phase
        self.wheel = wheel
        self.pasted = pasted
    }

    /// The mouse buttons of this event's touches; empty for an event without touches.
    public var buttonMask: ButtonMask { ButtonMask(touches.map(\.button)) }

    /// Returns the touches of this event that have hit a view.
    public func touches(for view: View) -> [Touch] { touches.filter { $0.view === view } }

    /// Returns the touches that a recogniser receives.
    public func touches(for recognizer: GestureRecognizer) -> [Touch] {
        touches.filter { $0.recognizers.contains { $0 === recognizer } }
    }
}

/// A part of a pasted text.
public struct Paste: Hashable, Sendable {
    /// The text as it was pasted; control sequences in it are not executed.
    public let text: String
    /// Whether this is the last part of the pasted text.
    public let isLast: Bool
}

/// A turn of the wheel.
@MainActor public final class Wheel {
    /// The number of notches that the wheel was turned, to the right (`x`) and down (`y`).
    public let notches: Point
    /// The window that receives the turn.
    public let window: Window
    private let position: Point

    init(notches: Point, window: Window, position: Point) {
        self.notches = notches
        self.window = window
        self.position = position
    }

    /// Returns the position of the pointer in the coordinates of a view, or of the display if `view` is nil.
    public func location(in view: View?) -> Point { view?.convert(position, from: nil) ?? position }
}

/// A key that went down, repeats or went up.
///
/// The object stays the same while the key is held.
@MainActor public final class Press: Hashable {
    /// The phase of a press.
    public enum Phase: Sendable {
        /// The key went down.
        case began
        /// The key is held, and repeats.
        case repeated
        /// The key went up. On a display that does not report this, a press ends as soon as it has begun.
        case ended
        /// The program or its window has lost the keyboard, so that the end of the press will not be known.
        case cancelled
    }

    /// The key.
    public internal(set) var key: Key
    /// The modifier keys that are held at the same time.
    public internal(set) var modifiers: KeyModifiers = []
    /// The phase of the press: whether the key went down, repeats or went up.
    public internal(set) var phase = Phase.began

    init(_ key: Key) { self.key = key }

    /// The text that the key writes; nil for a key with a name, and while control, alt or command is held.
    public var text: String? {
        guard case .character(let character) = key, modifiers.isDisjoint(with: [.control, .alt, .command]) else {
            return nil
        }
        return String(character)
    }

    /// Whether both are the same object.
    public nonisolated static func == (left: Press, right: Press) -> Bool { left === right }

    /// Hashes the identity.
    public nonisolated func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
