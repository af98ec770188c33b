// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The horizontal position of text in the width that is available.
public enum TextAlignment: Hashable, Sendable {
    /// At the left edge.
    case left
    /// In the middle.
    case center
    /// At the right edge.
    case right

    /// Returns the column at which a text of `width` cells begins in a line of `room` cells.
    func start(of width: Int, in room: Int) -> Double {
        switch self {
        case .left: 0
        case .center: Double(max(0, (room - width) / 2))
        case .right: Double(max(0, room - width))
        }
    }
}

/// Shows text.
///
/// Lines break between words, and inside words that are too long. Text that does not fit ends with an ellipsis.
@MainActor open class Label: View {
    /// The text; line breaks in it are kept.
    public var text: String { didSet { if text != oldValue { changed() } } }
    /// The maximum number of lines; 0 for as many as the text needs.
    public var numberOfLines: Int { didSet { if numberOfLines != oldValue { changed() } } }
    /// The alignment of each line.
    public var alignment = TextAlignment.left { didSet { if alignment != oldValue { setNeedsDisplay() } } }
    /// The style of the text; the theme's style for text unless set.
    ///
    /// With a ``Style/link``, the display opens the link's address when the user asks for it.
    public var style: Style? {
        didSet {
            if style == oldValue { return }
            link = style?.link
            setNeedsDisplay()
        }
    }
    /// Keeps the link of the style.
    private var link: Link?

    /// Makes a label of at most `lines` lines; 0 for as many as the text needs.
    public init(_ text: String = "", lines: Int = 1, style: Style? = nil) {
        self.text = text
        numberOfLines = lines
        self.style = style
        link = style?.link
        super.init()
    }

    private func changed() {
        setNeedsDisplay()
        invalidateIntrinsicContentSize()
    }

    private func lines(width: Double, height: Double) -> [String] {
        let cells = Int(min(1e6, max(0, width.rounded())))
        let room = Int(min(1e6, max(1, height.rounded())))
        if numberOfLines == 1 {
            let line = text.prefix { !$0.isNewline }
            let shown = line.endIndex == text.endIndex ? text : line + theme.ellipsis
            return [TextLines.cut(shown, width: cells, ellipsis: theme.ellipsis)]
        }
        let limit = numberOfLines > 0 ? min(numberOfLines, room) : room
        return TextLines.wrap(text, width: cells, limit: limit, ellipsis: theme.ellipsis)
    }

    open override func sizeThatFits(_ size: Size) -> Size {
        if text.isEmpty { return Size(0, 1) }
        let lines = lines(width: size.width, height: size.height)
        return Size(min(size.width, Double(lines.map(\.cellWidth).max() ?? 0)), Double(lines.count))
    }

    open override func draw(in canvas: inout Canvas) {
        let style = style ?? theme.text
        for (row, line) in lines(width: canvas.size.width, height: canvas.size.height).enumerated() {
            let x = alignment.start(of: line.cellWidth, in: Int(canvas.size.width))
            canvas.write(line, at: Point(x, Double(row)), style: style)
        }
    }

    open override var accessibilityLabel: String? {
        get { super.accessibilityLabel ?? text }
        set { super.accessibilityLabel = newValue }
    }
}
