// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// One report of the mouse.
struct MouseReport {
    /// The button in bits 0, 1, 6 and 7; plus 4 for shift, 8 for alt, 16 for control and 32 for a move.
    let code: Int
    let isRelease: Bool
    let column: Int
    let row: Int

    /// The event of the report; `nil` for a move without a button and for a release of the wheel.
    var mouse: Mouse? {
        var modifiers: Modifiers = []
        if code & 4 != 0 { modifiers.insert(.shift) }
        if code & 8 != 0 { modifiers.insert(.alt) }
        if code & 16 != 0 { modifiers.insert(.control) }
        let low = code & 3
        if code & 64 != 0 {
            if isRelease { return nil }
            let notches = [(0, -1), (0, 1), (-1, 0), (1, 0)][low]
            return Mouse(
                .wheel(columns: notches.0, rows: notches.1), column: column, row: row, modifiers: modifiers)
        }
        let isExtra = code & 128 != 0
        if low == 3, !isExtra { return nil }
        // The wheel has the numbers 3 to 6.
        let button = isExtra ? 7 + low : low
        let action: Mouse.Action = isRelease ? .released : code & 32 != 0 ? .moved : .pressed
        return Mouse(action, button: button, column: column, row: row, modifiers: modifiers)
    }
}

/// The reports of a terminal that does not know the SGR form: three bytes each, without the button in a release.
struct OldMouse {
    private var bytes: [UInt8] = []
    private var lastButton: Int?

    mutating func begin() { bytes = [] }

    /// Adds a byte, and returns the event of the report when it has three bytes; `nil` while bytes are missing.
    mutating func take(_ byte: UInt8) -> Event?? {
        bytes.append(byte)
        if bytes.count < 3 { return nil }
        let (code, x, y) = (Int(bytes[0]) - 32, Int(bytes[1]) - 33, Int(bytes[2]) - 33)
        guard code >= 0 else { return .some(nil) }
        let (column, row) = (max(0, x), max(0, y))
        let isRelease = code & 0b1110_0011 == 3
        if isRelease, let button = lastButton {
            lastButton = nil
            let report = MouseReport(code: code & ~3 | button, isRelease: true, column: column, row: row)
            return .some(report.mouse.map { .mouse($0) })
        }
        let mouse = MouseReport(code: code, isRelease: false, column: column, row: row).mouse
        if mouse?.action == .pressed { lastButton = code & 3 }
        return .some(mouse.map { .mouse($0) })
    }
}
