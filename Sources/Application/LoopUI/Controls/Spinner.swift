// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsKit

/// Shows that work of unknown duration is going on.
///
/// The spinner wakes the loop only while it spins in a window, and neither the spinner nor a view around it is hidden.
/// If the user wants no motion, the spinner shows a still sign and never wakes the loop.
@MainActor open class Spinner: View {
    /// Whether the spinner spins; false unless set.
    public var isAnimating = false {
        didSet {
            if isAnimating == oldValue { return }
            update()
            setNeedsDisplay()
        }
    }
    /// The text beside the spinner.
    public var title: String {
        didSet {
            if title == oldValue { return }
            setNeedsDisplay()
            invalidateIntrinsicContentSize()
        }
    }

    /// The number of signs that are shown in a second.
    static let rate = 10.0
    private var link: RunLoop.DisplayLink?
    private var step = 0

    /// Makes a spinner that does not spin yet.
    public init(_ title: String = "") {
        self.title = title
        super.init()
    }

    open override func didMoveToWindow() { update() }

    private func update() {
        let isStill = window?.application?.display.abilities.reducesMotion ?? true
        guard isAnimating, !isStill, isShown else {
            link?.invalidate()
            link = nil
            return
        }
        if link != nil { return }
        link = RunLoop.DisplayLink(framesPerSecond: Self.rate, in: [.common]) { [weak self] _ in self?.turn() }
    }

    private func turn() {
        step += 1
        // While it is hidden it is marked and not drawn; when it is seen again, drawing starts it again.
        setNeedsDisplay()
        update()
    }

    open override func sizeThatFits(_ size: Size) -> Size {
        Size(min(size.width, Double(title.isEmpty ? 1 : title.cellWidth + 2)), 1)
    }

    open override func draw(in canvas: inout Canvas) {
        update()
        if isAnimating {
            let signs: [Character] = theme.usesUnicode ? Array("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏") : Array("|/-\\")
            let still: Character = theme.usesUnicode ? "⠿" : "*"
            canvas.write(String(link == nil ? still : signs[step % signs.count]), at: .zero, style: theme.accent)
        }
        let shown = TextLines.cut(title, width: Int(canvas.size.width) - 2, ellipsis: theme.ellipsis)
        canvas.write(shown, at: Point(2, 0), style: theme.text)
    }

    open override var accessibilityRole: String? { "activity" }
    open override var accessibilityValue: String? { isAnimating ? "in progress" : "stopped" }
    open override var accessibilityLabel: String? {
        get { super.accessibilityLabel ?? (title.isEmpty ? nil : title) }
        set { super.accessibilityLabel = newValue }
    }
}
