// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Calls a closure when it is tapped.
///
/// ```swift
/// let button = Button("Save") { _ in document.save() }
/// ```
@MainActor open class Button: Control {
    /// The role of a button, which decides the button's style.
    public enum Role: Hashable, Sendable {
        /// The action is an ordinary one.
        case normal
        /// The action cannot be undone.
        case destructive
    }

    /// The text of the button.
    public var title: String {
        didSet {
            if title == oldValue { return }
            setNeedsDisplay()
            invalidateIntrinsicContentSize()
        }
    }
    /// The role of the button.
    public var role = Role.normal { didSet { if role != oldValue { setNeedsDisplay() } } }

    /// Makes a button with a title and an action.
    ///
    /// - Parameters:
    ///   - title: The text of the button.
    ///   - action: Called when the button is tapped; receives the button.
    public init(_ title: String, action: ((Button) -> Void)? = nil) {
        self.title = title
        super.init()
        if let action { addAction(action) }
    }

    open override func sizeThatFits(_ size: Size) -> Size { Size(min(size.width, Double(title.cellWidth + 4)), 1) }

    open override func draw(in canvas: inout Canvas) {
        let (width, row) = (Int(canvas.size.width), ((canvas.size.height - 1) / 2).rounded(.down))
        let usual = role == .destructive ? theme.destructive : isSelected ? theme.selection : theme.text
        let style = style(usual)
        canvas.fill(Rect(0, row, canvas.size.width, 1), style: style)
        // The brackets give way to the title where there is no room for both.
        let hasBrackets = width > 4
        let shown = TextLines.cut(title, width: hasBrackets ? width - 4 : width, ellipsis: theme.ellipsis)
        let start = TextAlignment.center.start(of: shown.cellWidth, in: width)
        canvas.write(shown, at: Point(start, row), style: style)
        guard hasBrackets else { return }
        canvas.write("[", at: Point(0, row), style: style)
        canvas.write("]", at: Point(canvas.size.width - 1, row), style: style)
    }

    open override var cursor: Point? { Point(0, ((frame.height - 1) / 2).rounded(.down)) }

    open override var accessibilityRole: String? { "button" }
    open override var accessibilityLabel: String? {
        get { super.accessibilityLabel ?? title }
        set { super.accessibilityLabel = newValue }
    }
}
