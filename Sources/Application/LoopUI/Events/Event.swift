// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

/// What happened, for responders: made of raw input, and sent by the application.
@MainActor public final class Event {
    /// What kind of thing happened.
    public enum Kind: Sendable {
        /// Fingers, or buttons of the mouse.
        case touches
        /// Keys.
        case presses
        /// The wheel.
        case wheel
        /// Pasted text.
        case paste
    }

    /// What kind of thing happened.
    public let kind: Kind
    /// When it was handled, on the loop's own clock.
    public let time: RunLoop.Instant
    /// The keys that were held.
    public let modifiers: KeyModifiers
    /// All touches that are under way, also the touches that have not changed.
    public let touches: [Touch]
    /// The keys that changed.
    public var presses: [Press] { Array(pressSet) }
    /// The same, as responders get them.
    let pressSet: Set<Press>
    /// What all of these keys have done; nil if there are none.
    let pressPhase: Press.Phase?
    /// The turn of the wheel, if that is what happened.
    public let wheel: Wheel?
    /// The pasted text, if that is what happened.
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

    /// The buttons that the touches of this event came with; empty for an event without touches.
    public var buttonMask: ButtonMask { ButtonMask(touches.map(\.button)) }

    /// The touches that a view was hit by.
    public func touches(for view: View) -> [Touch] { touches.filter { $0.view === view } }

    /// The touches that a recogniser sees.
    public func touches(for recognizer: GestureRecognizer) -> [Touch] {
        touches.filter { $0.recognizers.contains { $0 === recognizer } }
    }
}

/// A part of a pasted text.
public struct Paste: Hashable, Sendable {
    /// The text, as it was; nothing in it was carried out.
    public let text: String
    /// Whether no part follows.
    public let isLast: Bool
}

/// A turn of the wheel.
@MainActor public final class Wheel {
    /// Notches to the right and down.
    public let notches: Point
    /// The window that it came to.
    public let window: Window
    private let position: Point

    init(notches: Point, window: Window, position: Point) {
        self.notches = notches
        self.window = window
        self.position = position
    }

    /// Where the pointer is, in the coordinates of a view; of the display if there is none.
    public func location(in view: View?) -> Point { view?.convert(position, from: nil) ?? position }
}

/// A key that went down, repeats or went up.
///
/// The object stays the same as long as the key is held.
@MainActor public final class Press: Hashable {
    /// What has happened to the key.
    public enum Phase: Sendable {
        /// It went down.
        case began
        /// It is held, and repeats.
        case repeated
        /// It went up. A display that does not report that ends the press at once.
        case ended
        /// Its end will not be known: the program or its window has lost the keys.
        case cancelled
    }

    /// Which key.
    public internal(set) var key: Key
    /// The other keys that are held beside it.
    public internal(set) var modifiers: KeyModifiers = []
    /// What has happened to it.
    public internal(set) var phase = Phase.began

    init(_ key: Key) { self.key = key }

    /// The text that the key writes; nil for keys with a name, and beside control, alt and command.
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
