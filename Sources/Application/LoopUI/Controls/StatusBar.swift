// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A line with text at the left, in the middle and at the right: a header at the upper edge, or a status bar at the lower one.
///
/// If the line is too narrow, the middle text first moves aside and is then left out; then the left text is cut.
@MainActor open class StatusBar: View {
    /// The text at the left edge.
    public var left: String { didSet { if left != oldValue { setNeedsDisplay() } } }
    /// The text in the middle.
    public var center: String { didSet { if center != oldValue { setNeedsDisplay() } } }
    /// The text at the right edge.
    public var right: String { didSet { if right != oldValue { setNeedsDisplay() } } }

    /// Makes a status bar with these texts.
    public init(left: String = "", center: String = "", right: String = "") {
        self.left = left
        self.center = center
        self.right = right
        super.init()
    }

    open override func sizeThatFits(_ size: Size) -> Size {
        let wanted = [left, center, right].filter { !$0.isEmpty }.reduce(0) { $0 + $1.cellWidth + 2 }
        return Size(min(size.width, Double(wanted)), 1)
    }

    open override func draw(in canvas: inout Canvas) {
        let (width, ellipsis) = (Int(canvas.size.width), theme.ellipsis)
        canvas.fill(Rect(0, 0, canvas.size.width, 1), style: theme.bar)
        func write(_ text: String, _ x: Int) { canvas.write(text, at: Point(Double(x), 0), style: theme.bar) }
        let atRight = TextLines.cut(right, width: width - 2, ellipsis: ellipsis)
        let start = width - 1 - atRight.cellWidth
        let atLeft = TextLines.cut(left, width: atRight.isEmpty ? width - 2 : start - 2, ellipsis: ellipsis)
        write(atLeft, 1)
        write(atRight, start)
        // Two cells lie between the texts.
        let (first, last) = (atLeft.cellWidth + 3, start - 2 - center.cellWidth)
        if first <= last { write(center, min(max(first, (width - center.cellWidth) / 2), last)) }
    }

    open override var accessibilityRole: String? { "status" }
    open override var accessibilityValue: String? {
        [left, center, right].filter { !$0.isEmpty }.joined(separator: ", ")
    }
}
