// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A view that shows a row of a table while the row is in view; afterwards it may show another row.
///
/// A plain cell shows a text. A subclass draws something else, or has views inside.
@MainActor open class TableCell: View {
    /// Makes an empty cell; the table sets its frame.
    public init() { super.init(frame: .zero) }

    /// The text that a plain cell shows, in one line.
    public var text = "" { didSet { if text != oldValue { setNeedsDisplay() } } }

    /// The texts that a plain cell shows in the columns of its table, instead of ``text``; none unless set.
    public var texts: [String] = [] { didSet { if texts != oldValue { setNeedsDisplay() } } }

    /// The style of the text while the row is not selected.
    public var textStyle = Style.plain { didSet { if textStyle != oldValue { setNeedsDisplay() } } }

    /// Whether the row is the selected row of its table.
    public internal(set) var isSelected = false { didSet { if isSelected != oldValue { setNeedsDisplay() } } }

    /// Whether a finger is on the row.
    public internal(set) var isHighlighted = false { didSet { if isHighlighted != oldValue { setNeedsDisplay() } } }

    /// The kind under which this cell is reused when its row has left the view; nil if it is not reused.
    var reuseIdentifier: String?

    /// Called before the cell shows another row; an override calls `super`.
    open func prepareForReuse() {
        text = ""
        texts = []
        textStyle = .plain
    }

    /// The style of the row in its present state: if the row is selected or a finger is on it, its colours are
    /// exchanged.
    public var currentStyle: Style {
        var style = textStyle
        if isSelected || isHighlighted { style.attributes.formSymmetricDifference(.inverse) }
        return style
    }

    override var isDrawingContainer: Bool { true }
    override func beginsAsyncDrawing() { (superview as? TableView)?.wantRowsAhead() }

    open override var accessibilityRole: String? { "row" }

    open override var accessibilityValue: String? {
        let words = texts.isEmpty ? text : texts.filter { !$0.isEmpty }.joined(separator: ", ")
        return isSelected ? "\(words), selected" : words
    }

    /// Draws the text.
    open override func draw(in canvas: inout Canvas) {
        let style = currentStyle
        if style.attributes.contains(.inverse) || style.background != .clear {
            canvas.fill(canvas.bounds, style: style)
        }
        if let table = superview as? TableView, !table.columns.isEmpty, !texts.isEmpty {
            table.draw(texts, style: style, in: &canvas)
        } else {
            canvas.write(text, at: .zero, style: style)
        }
    }
}
