// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Shows how much of something is done.
@MainActor open class ProgressView: View {
    /// The part that is done, from 0 to 1; other values are limited to this range.
    public var progress: Double {
        get { storedProgress }
        set {
            let new = newValue.isNaN ? 0 : min(1, max(0, newValue))
            if new == storedProgress { return }
            storedProgress = new
            setNeedsDisplay()
        }
    }
    private var storedProgress = 0.0

    /// Whether a view of ten cells or more shows the percentage at its end; true unless set.
    public var showsPercentage = true { didSet { if showsPercentage != oldValue { setNeedsDisplay() } } }

    /// Makes a bar that is filled up to `progress`, from 0 to 1.
    public init(progress: Double = 0) {
        super.init()
        self.progress = progress
    }

    open override func sizeThatFits(_ size: Size) -> Size { Size(min(size.width, 24), 1) }

    private var percentage: String { "\(Int((progress * 100).rounded(.down)))%" }

    open override func draw(in canvas: inout Canvas) {
        let isTold = showsPercentage && canvas.size.width >= 10
        let room = Int(canvas.size.width) - (isTold ? 5 : 0)
        let eighths = Int((Double(room * 8) * progress).rounded(.down))
        let (filled, part) = (Double(eighths / 8), eighths % 8)
        canvas.fill(Rect(0, 0, Double(room), 1), with: theme.usesUnicode ? "░" : "-", style: theme.secondary)
        canvas.fill(Rect(0, 0, filled, 1), with: theme.usesUnicode ? "█" : "#", style: theme.accent)
        if theme.usesUnicode, part > 0 {
            let signs: [Character] = ["▏", "▎", "▍", "▌", "▋", "▊", "▉"]
            canvas.write(String(signs[part - 1]), at: Point(filled, 0), style: theme.accent)
        }
        guard isTold else { return }
        canvas.write(percentage, at: Point(canvas.size.width - Double(percentage.count), 0), style: theme.text)
    }

    open override var accessibilityRole: String? { "progress" }
    open override var accessibilityValue: String? { percentage }
}
