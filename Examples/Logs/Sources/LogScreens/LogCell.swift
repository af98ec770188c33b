// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import LogModel
internal import LoopUI

/// A line: its number, if asked for, and its text with the matches of the search.
final class LogCell: TableCell {
    /// What is in front of the text.
    var number = "" { didSet { if number != oldValue { setNeedsDisplay() } } }
    /// What is marked in the text.
    var pattern: Pattern? { didSet { if pattern != oldValue { setNeedsDisplay() } } }

    override func prepareForReuse() {
        super.prepareForReuse()
        number = ""
        pattern = nil
    }

    override func draw(in canvas: inout Canvas) {
        let style = currentStyle
        if isSelected || isHighlighted { canvas.fill(canvas.bounds, style: style) }
        var hint = theme.secondary
        hint.attributes.formUnion(style.attributes)
        var x = canvas.write(number, at: .zero, style: hint)
        var start = text.startIndex
        for match in pattern?.matches(in: text) ?? [] {
            x += canvas.write(text[start..<match.lowerBound], at: Point(x, 0), style: style)
            var marked = theme.accent
            // Seen on a marked row too.
            marked.attributes.formUnion(isSelected ? [.underline, .inverse] : .inverse)
            x += canvas.write(text[match], at: Point(x, 0), style: marked)
            start = match.upperBound
        }
        canvas.write(text[start...], at: Point(x, 0), style: style)
    }
}
