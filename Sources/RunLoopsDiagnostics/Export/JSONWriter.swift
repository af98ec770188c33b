// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Text in JSON, written piece by piece.
struct JSONWriter {
    private(set) var text = ""
    private var needsComma = false

    mutating func open(_ bracket: Character) {
        if needsComma { text += "," }
        text.append(bracket)
        needsComma = false
    }

    mutating func close(_ bracket: Character) {
        text.append(bracket)
        needsComma = true
    }

    mutating func name(_ name: StaticString) {
        if needsComma { text += "," }
        text += "\"\(name)\":"
        needsComma = false
    }

    mutating func value(_ string: String) {
        if needsComma { text += "," }
        text += Self.quoted(string)
        needsComma = true
    }

    mutating func value(_ number: Int64) {
        if needsComma { text += "," }
        text += String(number)
        needsComma = true
    }

    /// Nanoseconds as microseconds, the unit of trace events.
    mutating func microseconds(_ nanoseconds: Int64) {
        if needsComma { text += "," }
        let magnitude = nanoseconds.magnitude
        let fraction = String(magnitude % 1000)
        text += (nanoseconds < 0 ? "-" : "") + String(magnitude / 1000) + "."
        text += String(repeating: "0", count: 3 - fraction.count) + fraction
        needsComma = true
    }

    mutating func newLine() { text += "\n" }

    /// A string as JSON has it; `<` is escaped too, so that it can stand inside a page.
    static func quoted(_ string: String) -> String {
        var result = "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "<": result += "\\u003c"
            case _ where scalar.value < 0x20 || scalar.value == 0x2028 || scalar.value == 0x2029:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
