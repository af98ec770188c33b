// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// An input of a display, as the device has reported it.
public enum RawInput: Hashable, Sendable {
    /// A finger, or a button of the mouse.
    case pointer(PointerInput)
    /// The wheel of the mouse, or two fingers on a pad.
    case wheel(WheelInput)
    /// A key.
    case key(KeyInput)
    /// A part of a text that is pasted; `isLast` is true for the last part.
    case paste(String, isLast: Bool)
    /// The display has got the focus (true), or lost it (false).
    case focus(Bool)
    /// The display has another size.
    case resized(Size)
    /// The user wants the program to stop for now, as Ctrl-Z does.
    case suspend
    /// The program continues after a stop.
    case resumed
    /// The program is to end, because of the signal if there is one.
    case terminate(signal: CInt?)

    /// Whether the system has sent the input, and not the user.
    var isOfSystem: Bool {
        switch self {
        case .resized, .suspend, .resumed, .terminate: true
        case .pointer, .wheel, .key, .paste, .focus: false
        }
    }
}

/// A finger, or a button of the mouse.
public struct PointerInput: Hashable, Sendable {
    /// The change that the display reports.
    public enum Phase: Hashable, Sendable {
        /// The finger or button has gone down.
        case began
        /// The finger or button has moved.
        case moved
        /// The finger or button has gone up.
        case ended
        /// The touch or key is no longer followed, and its end will not be reported.
        case cancelled
    }

    /// The number of the finger or button, different for all that are down at the same time.
    public var identifier: Int
    /// The button of the mouse; the primary one for a finger.
    public var button: ButtonMask
    /// The change that the display reports.
    public var phase: Phase
    /// The position of the pointer, in points of the display.
    public var position: Point
    /// The modifier keys that were held.
    public var modifiers: KeyModifiers

    /// Makes the input of a finger, or of the primary button.
    public init(_ phase: Phase, at position: Point, identifier: Int = 0, modifiers: KeyModifiers = []) {
        self.identifier = identifier
        button = .primary
        self.phase = phase
        self.position = position
        self.modifiers = modifiers
    }

    /// Makes the input of a button of the mouse.
    ///
    /// - Parameters:
    ///   - phase: The change that the display reports.
    ///   - position: The position of the pointer, in points of the display.
    ///   - number: The number of the button, as terminals and the X server count: 0 left, 1 middle, 2 right. A number
    ///     below counts as 0, and one above 31 as 31.
    ///   - modifiers: The modifier keys that were held.
    public init(_ phase: Phase, at position: Point, button number: Int, modifiers: KeyModifiers = []) {
        self.init(phase, at: position, identifier: number, modifiers: modifiers)
        // The X server has up to 255.
        button = .button(number == 1 ? 3 : number == 2 ? 2 : max(0, min(number, 31)) + 1)
    }
}

/// Buttons of the mouse.
///
/// Corresponds to UIKit's `UIEvent.ButtonMask`.
public struct ButtonMask: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt32

    /// Makes the set of buttons with these bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The button that selects and drags, usually the left one; a finger counts as this one.
    public static var primary: ButtonMask { button(1) }
    /// The button that asks for a menu: usually the right one.
    public static var secondary: ButtonMask { button(2) }

    /// Returns the button with a number: 1 is the primary button, 2 the secondary one, and 3 usually the middle one.
    ///
    /// - Precondition: `number` is between 1 and 32.
    public static func button(_ number: Int) -> ButtonMask {
        require((1...32).contains(number), "There is no mouse button \(number): give a number from 1 to 32.")
        return ButtonMask(rawValue: 1 << (number - 1))
    }
}

/// A turn of the wheel.
public struct WheelInput: Hashable, Sendable {
    /// The position of the pointer, in points of the display.
    public var position: Point
    /// The number of notches to the right and down.
    public var notches: Point
    /// The modifier keys that were held.
    public var modifiers: KeyModifiers

    /// Makes the input of a wheel.
    public init(_ notches: Point, at position: Point, modifiers: KeyModifiers = []) {
        self.position = position
        self.notches = notches
        self.modifiers = modifiers
    }
}

/// A key that went down, or up.
public struct KeyInput: Hashable, Sendable {
    /// The change that the display reports.
    public enum Phase: Hashable, Sendable {
        /// The key has gone down. Most terminals report nothing else.
        case began
        /// The key is held, and repeats.
        case repeated
        /// The key has gone up.
        case ended
    }

    /// The key.
    public var key: Key
    /// The modifier keys that were held.
    public var modifiers: KeyModifiers
    /// The change that the display reports.
    public var phase: Phase

    /// Makes the input of a key.
    public init(_ key: Key, modifiers: KeyModifiers = [], phase: Phase = .began) {
        self.key = key
        self.modifiers = modifiers
        self.phase = phase
    }
}

/// A key, by the character that it writes or by its name.
public enum Key: Hashable, Sendable {
    /// A key that writes a character; with the shift key, the character that the two keys write.
    case character(Character)
    /// The key that ends a line.
    case enter
    /// The tabulator.
    case tab
    /// The escape key.
    case escape
    /// The key that deletes to the left.
    case backspace
    /// The key that deletes to the right.
    case delete
    /// The insert key.
    case insert
    /// The upward arrow.
    case up
    /// The downward arrow.
    case down
    /// The arrow to the left.
    case left
    /// The arrow to the right.
    case right
    /// The key that goes to the beginning.
    case home
    /// The key that goes to the end.
    case end
    /// The key that goes a page up.
    case pageUp
    /// The key that goes a page down.
    case pageDown
    /// A function key, from 1.
    case function(Int)
    /// A key that has no case of its own, by the number that the display gives it.
    case other(Int)
}

/// The modifier keys that are held with another key.
public struct KeyModifiers: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt8

    /// Makes the set of modifier keys with these bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The shift key; not set if it has changed the character of the other key.
    public static var shift: KeyModifiers { KeyModifiers(rawValue: 1) }
    /// The alt key.
    public static var alt: KeyModifiers { KeyModifiers(rawValue: 2) }
    /// The control key.
    public static var control: KeyModifiers { KeyModifiers(rawValue: 4) }
    /// The command key, also called the Windows or super key.
    public static var command: KeyModifiers { KeyModifiers(rawValue: 8) }
}
