// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension RawTerminal {
    /// An event of a terminal.
    public enum Event: Hashable, Sendable {
        /// A key. Typed text arrives as one event for each character.
        case key(KeyPress)
        /// A part of a pasted text of at most 64 KiB, with ``Options/paste``; `isLast` is true for the last part.
        ///
        /// Lines end with a line feed. Escape sequences in a pasted text are text.
        case paste(String, isLast: Bool)
        /// A button, a move or the wheel of the mouse, with ``Options/mouse``.
        case mouse(Mouse)
        /// The terminal has got the focus (true), or lost it (false), with ``Options/focus``.
        case focus(Bool)
        /// The terminal has another size, or was set up again after a stop or another program.
        ///
        /// What the program has drawn may be gone. The new size can equal the previous one, if the terminal
        /// had a different size in between.
        case resized(Size)
        /// The terminal's answer to a question.
        case reply(Reply)
        /// The terminal is gone; no other event follows.
        case hungUp
    }

    /// The size of a terminal, in cells.
    public struct Size: Hashable, Sendable {
        /// The number of columns.
        public let columns: Int
        /// The number of rows.
        public let rows: Int

        /// Makes a size.
        public init(columns: Int, rows: Int) { (self.columns, self.rows) = (columns, rows) }
    }

    /// A key that went down, or up.
    public struct KeyPress: Hashable, Sendable {
        /// The change that the terminal reports.
        public enum Phase: Hashable, Sendable {
            /// The key has gone down. Without ``Options/keyReleases`` there is no other phase.
            case began
            /// The key is held, and repeats.
            case repeated
            /// The key has gone up.
            case ended
        }

        /// The key.
        public let key: Key
        /// The modifier keys that were held.
        public let modifiers: Modifiers
        /// The change that the terminal reports.
        public let phase: Phase

        /// Makes a key press.
        public init(_ key: Key, modifiers: Modifiers = [], phase: Phase = .began) {
            (self.key, self.modifiers, self.phase) = (key, modifiers, phase)
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
        /// A key that has no case of its own, by the number that the kitty protocol gives it.
        case other(Int)
    }

    /// The modifier keys that are held with another key or with the mouse.
    public struct Modifiers: OptionSet, Hashable, Sendable {
        /// The bits, as in the sequences of xterm.
        public let rawValue: UInt8

        /// Makes the set of modifier keys with these bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The shift key; not set if it has changed the character of the other key.
        public static var shift: Modifiers { Modifiers(rawValue: 1) }
        /// The alt key.
        public static var alt: Modifiers { Modifiers(rawValue: 2) }
        /// The control key.
        public static var control: Modifiers { Modifiers(rawValue: 4) }
        /// The command key, also called the Windows or super key.
        public static var command: Modifiers { Modifiers(rawValue: 8) }
    }

    /// A report of the mouse.
    public struct Mouse: Hashable, Sendable {
        /// The change that the terminal reports.
        public enum Action: Hashable, Sendable {
            /// A button has gone down.
            case pressed
            /// The mouse has moved while a button is held.
            case moved
            /// A button has gone up.
            case released
            /// The wheel has turned by one notch: to the right and down for numbers above 0.
            case wheel(columns: Int, rows: Int)
        }

        /// The change that the terminal reports.
        public let action: Action
        /// The number of the button: 0 left, 1 middle, 2 right, 7 and above for others; 0 for the wheel.
        public let button: Int
        /// The column of the cell under the pointer, from 0.
        public let column: Int
        /// The row of the cell under the pointer, from 0.
        public let row: Int
        /// The modifier keys that were held.
        public let modifiers: Modifiers

        /// Makes a report.
        public init(_ action: Action, button: Int = 0, column: Int, row: Int, modifiers: Modifiers = []) {
            (self.action, self.button, self.column, self.row) = (action, button, column, row)
            self.modifiers = modifiers
        }
    }

    /// An answer of a terminal to a question, which ``RawTerminal/ask(_:)`` asks.
    public enum Reply: Hashable, Sendable {
        /// The kind and the features of the device, to `CSI c`, which every terminal answers, after its answers to
        /// earlier questions.
        case deviceAttributes([Int])
        /// The number and the state of a private mode, by DECRPM: 0 unknown, 1 set, 2 not set, 3 always set, 4 never
        /// set.
        case mode(Int, state: Int)
        /// The flags of the kitty protocol, which say how keys are reported.
        case keyboardFlags(Int)
        /// The position of the cursor, from 0.
        case cursor(column: Int, row: Int)
        /// A colour of the terminal.
        case color(ColorSlot, red: UInt8, green: UInt8, blue: UInt8)
        /// A setting, by DECRQSS: the parameters and the final byte of the sequence that sets it.
        case setting(String)
        /// The size of a cell, in pixels.
        case cellSize(width: Int, height: Int)
        /// An answer of the kitty protocol about a picture, after the letter G: the picture's name, and OK or an error.
        case graphics(String)
    }

    /// The colour of the terminal in a reply.
    public enum ColorSlot: Hashable, Sendable {
        /// A colour of the palette, by its number.
        case palette(Int)
        /// The colour of letters.
        case foreground
        /// The colour behind letters.
        case background
    }
}

extension RawTerminal.Event {
    var isReply: Bool { if case .reply = self { true } else { false } }
}

// The library's own code says these often.
typealias Event = RawTerminal.Event
typealias Key = RawTerminal.Key
typealias KeyPress = RawTerminal.KeyPress
typealias Modifiers = RawTerminal.Modifiers
typealias Mouse = RawTerminal.Mouse
typealias Reply = RawTerminal.Reply
typealias Size = RawTerminal.Size
