// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The line above a navigation controller's content: the back button at the left, the title in the middle.
@MainActor public final class NavigationBar: View {
    /// The button that goes back to the previous controller; hidden if there is none.
    public let backButton = Button("")
    private var title = ""

    init() {
        super.init()
        backButton.isHidden = true
        addSubview(backButton)
    }

    /// Shows a title.
    ///
    /// - Parameters:
    ///   - title: The title of the controller that is shown.
    ///   - back: The title of the controller before; nil if there is none.
    func show(_ title: String, back: String?) {
        self.title = title
        if let back {
            let sign = theme.usesUnicode ? "‹" : "<"
            backButton.title = back.isEmpty ? "\(sign) Back" : "\(sign) \(back)"
        }
        backButton.isHidden = back == nil
        setNeedsLayout()
        setNeedsDisplay()
    }

    public override func layoutSubviews() {
        let width = backButton.sizeThatFits(Size((frame.width / 2).rounded(.down), 1)).width
        backButton.frame = Rect(0, 0, width, frame.height)
        setNeedsDisplay()
    }

    public override func draw(in canvas: inout Canvas) {
        canvas.fill(canvas.bounds, style: theme.bar)
        let first = backButton.isHidden ? 1 : Int(backButton.frame.maxX) + 1
        let shown = TextLines.cut(title, width: Int(canvas.size.width) - first - 1, ellipsis: theme.ellipsis)
        let middle = (Int(canvas.size.width) - shown.cellWidth) / 2
        canvas.write(shown, at: Point(Double(max(first, middle)), 0), style: theme.bar)
    }

    public override var accessibilityRole: String? { "navigation bar" }
    public override var accessibilityLabel: String? {
        get { super.accessibilityLabel ?? title }
        set { super.accessibilityLabel = newValue }
    }
}
