// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A key of a terminal.
enum Key: Equatable, Sendable {
    case character(Unicode.Scalar)
    /// A letter with Control held: `control("c")`.
    case control(Unicode.Scalar)
    case enter
    case tab
    case backspace
    case escape
    /// An arrow, a function key and the like: the bytes after the escape.
    case sequence(String)

    /// The key as a reader knows it.
    var name: String {
        switch self {
        case .character(" "): "space"
        case .character(let scalar): Format.visible(scalar)
        case .control(let scalar): "^" + String(scalar).uppercased()
        case .enter: "enter"
        case .tab: "tab"
        case .backspace: "backspace"
        case .escape: "esc"
        case .sequence("[A"), .sequence("OA"): "up"
        case .sequence("[B"), .sequence("OB"): "down"
        case .sequence("[C"), .sequence("OC"): "right"
        case .sequence("[D"), .sequence("OD"): "left"
        case .sequence(let bytes): "esc" + bytes.unicodeScalars.map(Format.visible).joined()
        }
    }
}

/// Turns a terminal's bytes into keys.
///
/// Pure; keeps what a read cut in two.
struct KeyDecoder: Sendable {
    private var pending: [UInt8] = []

    /// Takes the bytes of one read in and returns the keys they complete.
    ///
    /// An escape byte at the very end of a read is the key itself: a terminal sends a sequence in one write, and to
    /// wait for more would take a timer.
    mutating func take(_ bytes: some Sequence<UInt8>) -> [Key] {
        pending.append(contentsOf: bytes)
        var keys: [Key] = []
        var rest = pending[...]
        while let (key, length) = Self.first(of: rest) {
            if let key { keys.append(key) }
            rest = rest.dropFirst(length)
        }
        pending = Array(rest)
        return keys
    }

    /// The first key and its length in bytes, or nil where more bytes must come first.
    private static func first(of bytes: ArraySlice<UInt8>) -> (Key?, Int)? {
        guard let byte = bytes.first else { return nil }
        switch byte {
        case 0x1B: return escaped(bytes)
        case 0x0D, 0x0A: return (.enter, 1)
        case 0x09: return (.tab, 1)
        case 0x7F, 0x08: return (.backspace, 1)
        case 0x00: return (.control("@"), 1)
        case 0x01...0x1A: return (.control(Unicode.Scalar(byte + 0x60)), 1)
        case 0x1C...0x1F: return (.control(Unicode.Scalar(byte + 0x40)), 1)
        case 0x20...0x7E: return (.character(Unicode.Scalar(byte)), 1)
        default: return multibyte(bytes)
        }
    }

    private static func escaped(_ bytes: ArraySlice<UInt8>) -> (Key?, Int)? {
        guard let second = bytes.dropFirst().first else { return (.escape, 1) }
        if second == UInt8(ascii: "O") {
            guard bytes.count > 2 else { return nil }
            return (.sequence(text(bytes.dropFirst().prefix(2))), 3)
        }
        guard second == UInt8(ascii: "[") else { return (.escape, 1) }
        // CSI: parameters and intermediates, then one final byte.
        guard let end = bytes.dropFirst(2).firstIndex(where: { 0x40...0x7E ~= $0 || $0 == 0x1B }) else {
            return bytes.count < 32 ? nil : (nil, bytes.count)
        }
        let length = end - bytes.startIndex
        // An escape in the middle begins anew: what stood before it was no key.
        if bytes[end] == 0x1B { return (nil, length) }
        return (.sequence(text(bytes.dropFirst().prefix(length))), length + 1)
    }

    private static func multibyte(_ bytes: ArraySlice<UInt8>) -> (Key?, Int)? {
        guard let byte = bytes.first else { return nil }
        let length: Int
        switch byte {
        case 0xC2...0xDF: length = 2
        case 0xE0...0xEF: length = 3
        case 0xF0...0xF4: length = 4
        default: return (nil, 1)
        }
        let follow = bytes.dropFirst().prefix(length - 1)
        guard follow.allSatisfy({ 0x80...0xBF ~= $0 }) else { return (nil, 1) }
        guard follow.count == length - 1 else { return nil }
        guard let scalar = text(bytes.prefix(length)).unicodeScalars.first else { return (nil, length) }
        return (.character(scalar), length)
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}
