// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The terminal's answer to a question about a colour, such as `11;rgb:1c1c/1c1c/1c1c`.
enum ColorReply {
    static func parse(_ text: String) -> Reply? {
        var fields = text.split(separator: ";", omittingEmptySubsequences: false)[...]
        let slot: RawTerminal.ColorSlot
        switch fields.popFirst() {
        case "4":
            guard let number = fields.popFirst().flatMap({ Int($0) }) else { return nil }
            slot = .palette(number)
        case "10": slot = .foreground
        case "11": slot = .background
        default: return nil
        }
        guard let value = fields.popFirst(), value.hasPrefix("rgb") else { return nil }
        let parts = value.drop { $0 != ":" }.dropFirst().split(separator: "/")
        guard parts.count >= 3, let red = part(parts[0]), let green = part(parts[1]), let blue = part(parts[2]) else {
            return nil
        }
        return .color(slot, red: red, green: green, blue: blue)
    }

    /// Returns the value of one to four hexadecimal digits, scaled to a byte.
    private static func part(_ digits: Substring) -> UInt8? {
        guard (1...4).contains(digits.count), let value = UInt32(digits, radix: 16) else { return nil }
        let most = UInt32(1) << UInt32(digits.count * 4) - 1
        return UInt8((value * 255 + most / 2) / most)
    }
}
