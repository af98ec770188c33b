// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A whole control sequence, and its meaning as an event.
struct ControlSequence {
    enum Meaning {
        case keys([KeyPress])
        case event(Event)
        case pasteBegins
        case nothing
    }

    let prefix: UInt8
    let intermediate: UInt8
    let final: UInt8
    let parameters: Parameters

    var meaning: Meaning {
        switch (prefix, intermediate) {
        case (0, 0): plain
        case (UInt8(ascii: "<"), 0): mouse
        case (UInt8(ascii: "?"), 0): answer
        case (UInt8(ascii: "?"), UInt8(ascii: "$")) where final == UInt8(ascii: "y"):
            .event(.reply(.mode(parameters[0] ?? 0, state: parameters[1] ?? 0)))
        default: .nothing
        }
    }

    private var plain: Meaning {
        switch final {
        case UInt8(ascii: "~"): tilde
        case UInt8(ascii: "u"): Keys.kitty(parameters).map { .keys($0) } ?? .nothing
        case UInt8(ascii: "I"): .event(.focus(true))
        case UInt8(ascii: "O"): .event(.focus(false))
        case UInt8(ascii: "t"): size
        case UInt8(ascii: "R") where (parameters[0] ?? 1) > 1: cursor
        case UInt8(ascii: "$"), UInt8(ascii: "^"), UInt8(ascii: "@"): rxvt
        default: Keys.letter(final).map { key(from: $0) } ?? .nothing
        }
    }

    /// Returns a key with the modifiers and the phase in the second parameter.
    private func key(from known: (Key, Modifiers)) -> Meaning {
        let modifiers = known.1.union(Keys.modifiers(parameters[1]))
        return .keys([KeyPress(known.0, modifiers: modifiers, phase: Keys.phase(parameters[1, 1]))])
    }

    private var tilde: Meaning {
        switch parameters[0] ?? 0 {
        case 200: return .pasteBegins
        case 27:
            // xterm's modifyOtherKeys.
            guard let scalar = Unicode.Scalar(UInt32(parameters[2] ?? 0)) else { return .nothing }
            return .keys([KeyPress(Keys.named(scalar), modifiers: Keys.modifiers(parameters[1]))])
        case let number: return Keys.numbered(number).map { key(from: ($0, [])) } ?? .nothing
        }
    }

    /// The meaning of a sequence of rxvt, in which the last byte encodes the modifiers.
    private var rxvt: Meaning {
        guard let key = Keys.numbered(parameters[0] ?? 0) else { return .nothing }
        let modifiers: Modifiers =
            switch final {
            case UInt8(ascii: "$"): .shift
            case UInt8(ascii: "^"): .control
            default: [.shift, .control]
            }
        return .keys([KeyPress(key, modifiers: modifiers)])
    }

    private var mouse: Meaning {
        let isRelease = final == UInt8(ascii: "m")
        guard isRelease || final == UInt8(ascii: "M"), let code = parameters[0] else { return .nothing }
        let (column, row) = (max(1, parameters[1] ?? 1) - 1, max(1, parameters[2] ?? 1) - 1)
        let report = MouseReport(code: code, isRelease: isRelease, column: column, row: row)
        return report.mouse.map { .event(.mouse($0)) } ?? .nothing
    }

    private var answer: Meaning {
        switch final {
        case UInt8(ascii: "c"): .event(.reply(.deviceAttributes(parameters.firsts)))
        case UInt8(ascii: "u"): .event(.reply(.keyboardFlags(parameters[0] ?? 0)))
        case UInt8(ascii: "R"): cursor
        default: .nothing
        }
    }

    private var cursor: Meaning {
        .event(.reply(.cursor(column: max(1, parameters[1] ?? 1) - 1, row: max(1, parameters[0] ?? 1) - 1)))
    }

    /// The meaning of a report of the terminal's new size or of a cell's size, in which the height precedes the width.
    private var size: Meaning {
        if parameters[0] == 6, let height = parameters[1], let width = parameters[2], height > 0, width > 0 {
            return .event(.reply(.cellSize(width: width, height: height)))
        }
        guard parameters[0] == 48, let rows = parameters[1], let columns = parameters[2], rows > 0, columns > 0 else {
            return .nothing
        }
        return .event(.resized(Size(columns: columns, rows: rows)))
    }
}
