// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A control that is on or off; a tap changes its state.
@MainActor open class Switch: Control {
    /// The text beside the switch.
    public var title: String {
        didSet {
            if title == oldValue { return }
            setNeedsDisplay()
            invalidateIntrinsicContentSize()
        }
    }
    /// Whether the switch is on; setting this calls no action.
    public var isOn: Bool { didSet { if isOn != oldValue { setNeedsDisplay() } } }

    /// Makes a switch with a text beside it.
    ///
    /// - Parameters:
    ///   - title: The text beside the switch.
    ///   - isOn: Whether the switch is on.
    ///   - action: Called when the user has changed the switch; receives the switch.
    public init(_ title: String = "", isOn: Bool = false, action: ((Switch) -> Void)? = nil) {
        self.title = title
        self.isOn = isOn
        super.init()
        if let action { addAction(for: .valueChanged, action) }
    }

    /// Changes the switch as the user does: sends ``Control/Events/valueChanged`` and ``Control/Events/primaryAction``.
    open override func activate() {
        isOn.toggle()
        sendActions(for: [.valueChanged, .primaryAction])
    }

    open override func sizeThatFits(_ size: Size) -> Size {
        Size(min(size.width, Double(title.isEmpty ? 3 : title.cellWidth + 4)), 1)
    }

    open override func draw(in canvas: inout Canvas) {
        let width = Int(canvas.size.width)
        canvas.write(isOn ? "[x]" : "[ ]", at: .zero, style: style(isOn ? theme.accent : theme.text))
        let shown = TextLines.cut(title, width: width - 4, ellipsis: theme.ellipsis)
        canvas.write(shown, at: Point(4, 0), style: style(theme.text))
    }

    // Between the brackets, where the sign stands.
    open override var cursor: Point? { Point(1, 0) }

    open override var accessibilityRole: String? { "switch" }
    open override var accessibilityValue: String? { isOn ? "on" : "off" }
    open override var accessibilityLabel: String? {
        get { super.accessibilityLabel ?? (title.isEmpty ? nil : title) }
        set { super.accessibilityLabel = newValue }
    }
}
