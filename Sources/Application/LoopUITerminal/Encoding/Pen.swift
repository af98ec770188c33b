// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import LoopUI

/// The style that the next letter would have on the terminal.
struct Pen {
    private var style = Style(on: .default)
    /// The last style that was asked for, and the nearest style that the terminal can show.
    private var lastAsked: (style: Style, shown: Style)?

    /// Whether a cell would have its style if it was written now.
    func shows(_ cell: Cell, _ colors: DisplayAbilities.Colors) -> Bool {
        wanted(Self.reduced(cell.style, colors), cell.glyph) == style
    }

    /// Appends the shortest sequence after which a cell is written in its style.
    mutating func set(_ cell: Cell, _ colors: DisplayAbilities.Colors, into bytes: inout [UInt8]) {
        if lastAsked?.style != cell.style { lastAsked = (cell.style, Self.reduced(cell.style, colors)) }
        guard let shown = lastAsked?.shown else { return }
        let new = wanted(shown, cell.glyph)
        if new == style { return }
        let (fresh, change) = (
            Self.parameters(from: Style(on: .default), to: new), Self.parameters(from: style, to: new)
        )
        style = new
        bytes += [0x1B, 0x5B]
        if change.count <= fresh.count + (fresh.isEmpty ? 0 : 2) {
            bytes += change
        } else if !fresh.isEmpty {
            bytes += [0x30, 0x3B] + fresh
        }
        bytes.append(UInt8(ascii: "m"))
    }

    /// Returns the style that is needed for a glyph: for a blank without lines only the background changes.
    private func wanted(_ new: Style, _ glyph: Glyph) -> Style {
        guard glyph == .space, new.attributes.isDisjoint(with: [.underline, .inverse, .strikethrough]),
            style.attributes.isDisjoint(with: [.underline, .inverse, .strikethrough])
        else { return new }
        var result = style
        result.background = new.background
        return result
    }

    private static func reduced(_ style: Style, _ colors: DisplayAbilities.Colors) -> Style {
        Style(
            Palette.reduce(style.foreground, to: colors), on: Palette.reduce(style.background, to: colors),
            style.attributes)
    }

    private static let codes: [(attribute: Style.Attributes, on: Int, off: Int)] = [
        (.bold, 1, 22), (.dim, 2, 22), (.italic, 3, 23), (.underline, 4, 24), (.inverse, 7, 27),
        (.strikethrough, 9, 29),
    ]

    /// Returns the parameters of the sequence that changes one style into another.
    private static func parameters(from old: Style, to new: Style) -> [UInt8] {
        var numbers: [Int] = []
        var kept = old.attributes
        for code in codes where kept.contains(code.attribute) && !new.attributes.contains(code.attribute) {
            if numbers.last != code.off { numbers.append(code.off) }
            // Bold and dim end together.
            kept.subtract(code.off == 22 ? [.bold, .dim] : code.attribute)
        }
        for code in codes where new.attributes.contains(code.attribute) && !kept.contains(code.attribute) {
            numbers.append(code.on)
        }
        if new.foreground != old.foreground { numbers += color(new.foreground, 30) }
        if new.background != old.background { numbers += color(new.background, 40) }
        var bytes: [UInt8] = []
        for (index, number) in numbers.enumerated() {
            if index > 0 { bytes.append(0x3B) }
            Cursor.number(number, into: &bytes)
        }
        return bytes
    }

    private static func color(_ color: Color, _ base: Int) -> [Int] {
        switch color.kind {
        case .default, .clear: [base + 9]
        case .palette(let index) where index < 8: [base + Int(index)]
        case .palette(let index) where index < 16: [base + 60 + Int(index) - 8]
        case .palette(let index): [base + 8, 5, Int(index)]
        case .rgb(let red, let green, let blue): [base + 8, 2, Int(red), Int(green), Int(blue)]
        }
    }
}
