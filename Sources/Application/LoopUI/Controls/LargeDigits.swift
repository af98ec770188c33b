// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Shows a number or a time in digits that are three cells wide and three cells high.
///
/// Digits, `:`, `.`, `,`, `-`, `+`, `%` and the space have large forms; another character takes the place of a space. A
/// display without block characters, and one that is read line by line, shows the text as it is.
@MainActor open class LargeDigits: View {
    /// The text.
    public var text: String {
        didSet {
            if text == oldValue { return }
            setNeedsDisplay()
            if text.count != oldValue.count { invalidateIntrinsicContentSize() }
        }
    }
    /// The alignment of the digits in the view.
    public var alignment = TextAlignment.left { didSet { if alignment != oldValue { setNeedsDisplay() } } }
    /// The style of the digits; the theme's accent unless set.
    public var style: Style? { didSet { if style != oldValue { setNeedsDisplay() } } }

    /// Makes a view that shows this text.
    public init(_ text: String = "", style: Style? = nil) {
        self.text = text
        self.style = style
        super.init()
    }

    private var isPlain: Bool { isLinear || !theme.usesUnicode }

    /// Cells of the large text: three for each character, and one between two.
    private var width: Int { isPlain ? text.cellWidth : max(0, 4 * text.count - 1) }

    open override func sizeThatFits(_ size: Size) -> Size {
        Size(min(size.width, Double(width)), min(size.height, isPlain ? 1 : 3))
    }

    open override func draw(in canvas: inout Canvas) {
        let style = style ?? theme.accent
        var x = alignment.start(of: width, in: Int(canvas.size.width))
        if isPlain {
            canvas.write(text, at: Point(x, 0), style: style)
            return
        }
        for character in text {
            let rows = Self.forms[character] ?? []
            for (y, row) in rows.enumerated() { canvas.write(row, at: Point(x, Double(y)), style: style) }
            x += 4
        }
    }

    open override var accessibilityLabel: String? {
        get { super.accessibilityLabel ?? text }
        set { super.accessibilityLabel = newValue }
    }

    /// Five rows of points in three rows of cells, with half blocks.
    private static let forms: [Character: [String]] = [
        "0": ["█▀█", "█ █", "▀▀▀"], "1": ["▀█ ", " █ ", "▀▀▀"], "2": ["▀▀█", "█▀▀", "▀▀▀"], "3": ["▀▀█", "▀▀█", "▀▀▀"],
        "4": ["█ █", "▀▀█", "  ▀"], "5": ["█▀▀", "▀▀█", "▀▀▀"], "6": ["█▀▀", "█▀█", "▀▀▀"], "7": ["▀▀█", "  █", "  ▀"],
        "8": ["█▀█", "█▀█", "▀▀▀"], "9": ["█▀█", "▀▀█", "▀▀▀"], ":": [" ▄ ", " ▄ ", "   "], ".": ["   ", "   ", " ▀ "],
        ",": ["   ", " ▄ ", " ▀ "], "-": ["   ", "▀▀▀", "   "], "+": [" ▄ ", "▀█▀", "   "], "%": ["▀ █", "▄▀ ", "▀ ▀"],
    ]
}
