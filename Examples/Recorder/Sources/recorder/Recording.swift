// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsEvents

/// The file format of asciinema, version 2: a header, and then a line of JSON for each event.
enum Recording {
    enum Event: Equatable {
        case output(String)
        case resize(Child.Terminal.Size)
    }

    static func header(_ size: Child.Terminal.Size) -> String {
        #"{"version": 2, "width": \#(size.columns), "height": \#(size.rows)}"#
    }

    static func line(_ event: Event, after time: Duration) -> String {
        let (seconds, attoseconds) = time.components
        let micros = String(1_000_000 + attoseconds / 1_000_000_000_000).dropFirst()
        let (kind, data) =
            switch event {
            case .output(let text): ("o", text)
            case .resize(let size): ("r", "\(size.columns)x\(size.rows)")
            }
        return #"[\#(seconds).\#(micros), "\#(kind)", "\#(quoted(data))"]"#
    }

    /// Reads the time and the text of a line of output; `nil` for other events.
    static func output(of line: String) -> (time: Duration, text: String)? {
        let parts = line.split(separator: ",", maxSplits: 2)
        guard parts.count == 3, parts[1].contains("\"o\""), let seconds = Double(parts[0].drop { "[ ".contains($0) })
        else { return nil }
        guard let first = parts[2].firstIndex(of: "\""), let last = parts[2].lastIndex(of: "\""), first < last
        else { return nil }
        return (.seconds(seconds), unquoted(parts[2][parts[2].index(after: first)..<last]))
    }

    private static func quoted(_ text: String) -> String {
        var quoted = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\r": quoted += "\\r"
            case "\n": quoted += "\\n"
            case "\0"..<" ", "\u{7F}":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted
    }

    private static func unquoted(_ text: Substring) -> String {
        var (units, rest): ([UInt16], Substring.UTF16View) = ([], text.utf16)
        while let unit = rest.popFirst() {
            guard unit == UInt16(UInt8(ascii: "\\")), let escape = rest.popFirst() else {
                units.append(unit)
                continue
            }
            switch UInt8(truncatingIfNeeded: escape) {
            case UInt8(ascii: "n"): units.append(10)
            case UInt8(ascii: "r"): units.append(13)
            case UInt8(ascii: "t"): units.append(9)
            case UInt8(ascii: "b"): units.append(8)
            case UInt8(ascii: "f"): units.append(12)
            case UInt8(ascii: "u"):
                units.append(UInt16(String(decoding: rest.prefix(4), as: UTF16.self), radix: 16) ?? 0xFFFD)
                rest = rest.dropFirst(4)
            default: units.append(escape)
            }
        }
        return String(decoding: units, as: UTF16.self)
    }
}

/// Makes text of bytes that arrive in pieces: a character whose last bytes are missing waits for them.
struct TextOfBytes {
    private var rest: [UInt8] = []

    mutating func take(_ bytes: [UInt8]) -> String {
        rest += bytes
        var complete = rest.count
        // The first byte of a character is at most three before the last one that is here.
        if let first = rest.suffix(3).lastIndex(where: { $0 & 0xC0 != 0x80 }) {
            let length = rest[first] < 0xC0 ? 1 : rest[first] < 0xE0 ? 2 : rest[first] < 0xF0 ? 3 : 4
            if first + length > rest.count { complete = first }
        }
        defer { rest.removeFirst(complete) }
        return String(decoding: rest[..<complete], as: UTF8.self)
    }

    /// The bytes that have waited, repaired.
    mutating func end() -> String {
        defer { rest = [] }
        return String(decoding: rest, as: UTF8.self)
    }
}
