// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The keys for the bytes that terminals send.
enum Keys {
    /// Returns the key of a control character that is not part of a sequence.
    static func control(_ byte: UInt8) -> (Key, Modifiers) {
        switch byte {
        case 0x00: (.character(" "), .control)
        case 0x08, 0x7F: (.backspace, [])
        case 0x09: (.tab, [])
        case 0x0D: (.enter, [])
        // Ctrl with a letter; a small letter, because the byte is the same with shift.
        case 0x01...0x1A: (.character(Character(Unicode.Scalar(byte + 0x60))), .control)
        default: (.character(Character(Unicode.Scalar(byte + 0x40))), .control)
        }
    }

    /// Returns the key of a letter at the end of a control sequence.
    static func letter(_ final: UInt8) -> (Key, Modifiers)? {
        switch final {
        case UInt8(ascii: "A"): (.up, [])
        case UInt8(ascii: "B"): (.down, [])
        case UInt8(ascii: "C"): (.right, [])
        case UInt8(ascii: "D"): (.left, [])
        case UInt8(ascii: "F"): (.end, [])
        case UInt8(ascii: "H"): (.home, [])
        case UInt8(ascii: "P"), UInt8(ascii: "Q"), UInt8(ascii: "R"), UInt8(ascii: "S"):
            (.function(Int(final) - 0x4F), [])
        case UInt8(ascii: "Z"): (.tab, .shift)
        // rxvt
        case UInt8(ascii: "a"): (.up, .shift)
        case UInt8(ascii: "b"): (.down, .shift)
        case UInt8(ascii: "c"): (.right, .shift)
        case UInt8(ascii: "d"): (.left, .shift)
        default: nil
        }
    }

    /// Returns the key of the byte after escape and O; for the keypad, the character that the key writes.
    static func functional(_ byte: UInt8) -> (Key, Modifiers)? {
        switch byte {
        case UInt8(ascii: "a"): (.up, .control)
        case UInt8(ascii: "b"): (.down, .control)
        case UInt8(ascii: "c"): (.right, .control)
        case UInt8(ascii: "d"): (.left, .control)
        case UInt8(ascii: "M"): (.enter, [])
        case UInt8(ascii: "I"): (.tab, [])
        case UInt8(ascii: "X"): (.character("="), [])
        case UInt8(ascii: "j")...UInt8(ascii: "y"): (.character(Character(Unicode.Scalar(byte - 0x40))), [])
        default: letter(byte)
        }
    }

    /// Returns the key of a number that precedes a tilde at the end of a control sequence.
    static func numbered(_ number: Int) -> Key? {
        switch number {
        case 1, 7: .home
        case 2: .insert
        case 3: .delete
        case 4, 8: .end
        case 5: .pageUp
        case 6: .pageDown
        case 11...15: .function(number - 10)
        case 17...21: .function(number - 11)
        case 23...26: .function(number - 12)
        case 28, 29: .function(number - 13)
        case 31...34: .function(number - 14)
        default: nil
        }
    }

    /// Returns the modifiers in a parameter, which is one more than the raw value of ``RawTerminal/Modifiers``.
    static func modifiers(_ parameter: Int?) -> Modifiers {
        Modifiers(rawValue: UInt8(truncatingIfNeeded: max(1, parameter ?? 1) - 1) & 15)
    }

    static func phase(_ parameter: Int?) -> KeyPress.Phase {
        switch parameter {
        case 2: .repeated
        case 3: .ended
        default: .began
        }
    }

    /// Returns the key of a character; some characters are keys with names.
    static func named(_ scalar: Unicode.Scalar) -> Key {
        switch scalar.value {
        case 0x08, 0x7F: .backspace
        case 0x09: .tab
        case 0x0D: .enter
        case 0x1B: .escape
        default: .character(Character(scalar))
        }
    }

    /// Returns the keys of a sequence of the kitty protocol, which has the code of the key, modifiers and phase, and
    /// the key's text.
    static func kitty(_ parameters: Parameters) -> [KeyPress]? {
        guard var code = parameters[0], !isModifier(code) else { return nil }
        let modifiers = modifiers(parameters[1])
        // With control and alt a key means what stands there on a Latin keyboard, as in menus: Ctrl-C is found on all.
        if code > 0x7F, !modifiers.isDisjoint(with: [.control, .alt, .command]), let latin = parameters[0, 2] {
            code = latin
        }
        let phase = phase(parameters[1, 1])
        let text = parameters[group: 2].compactMap { $0.flatMap { Unicode.Scalar(UInt32($0)) } }
            .filter { $0.value >= 0x20 && $0.value != 0x7F }
        let key = functionalCode(code) ?? Unicode.Scalar(UInt32(code)).map(named) ?? .other(code)
        guard case .character(let plain) = key else { return [KeyPress(key, modifiers: modifiers, phase: phase)] }
        if text.isEmpty { return code == 0 ? nil : [KeyPress(key, modifiers: modifiers, phase: phase)] }
        return text.map { scalar in
            // Shift made another character of the key, and is in that character.
            let isChanged = Character(scalar) != plain
            return KeyPress(
                .character(Character(scalar)), modifiers: isChanged ? modifiers.subtracting(.shift) : modifiers,
                phase: phase)
        }
    }

    /// Whether a code is a modifier key or a lock, which is only reported with the keys that it modifies, as in all
    /// other terminals.
    private static func isModifier(_ code: Int) -> Bool {
        (57358...57360).contains(code) || (57441...57454).contains(code)
    }

    /// Returns the key to which the kitty protocol gives a code in Unicode's private use area; nil for other codes.
    private static func functionalCode(_ code: Int) -> Key? {
        switch code {
        case 57376...57398: .function(code - 57363)
        case 57399...57408: .character(Character(Unicode.Scalar(UInt8(code - 57399 + 0x30))))
        case 57409...57413: .character([".", "/", "*", "-", "+"][code - 57409])
        case 57414: .enter
        case 57415: .character("=")
        case 57416: .character(",")
        case 57417...57426:
            ([.left, .right, .up, .down, .pageUp, .pageDown, .home, .end, .insert, .delete] as [Key])[code - 57417]
        case 57344...63743: .other(code)
        default: nil
        }
    }
}
