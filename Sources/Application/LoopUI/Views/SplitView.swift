// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A view that shows two views with a divider between them, which the user moves with a drag or the arrow keys.
@MainActor open class SplitView: View {
    /// The direction in which the views follow each other.
    public var axis: StackView.Axis {
        didSet {
            if axis == oldValue { return }
            setNeedsLayout()
            divider.setNeedsDisplay()
        }
    }
    /// The view at the left or upper edge.
    public let first: View
    /// The view at the right or lower edge.
    public let second: View
    /// The divider between the views, which sends ``Control/Events/valueChanged`` when the user has moved it.
    public var divider: Control { bar }
    /// The first view's part of the room, from 0 to 1, which stays the same when the split view gets another size.
    ///
    /// A number below 0 counts as 0, and a number above 1 as 1.
    public var ratio: Double { didSet { if ratio != oldValue { setNeedsLayout() } } }
    /// The smallest length of each view in points, if there is room for both; a number that is not positive counts as
    /// 0.
    public var minimumLength = 3.0 { didSet { if minimumLength != oldValue { setNeedsLayout() } } }
    private let bar = Divider()

    /// Makes a split view that shows two views.
    public init(_ axis: StackView.Axis = .horizontal, _ first: View, _ second: View, ratio: Double = 0.5) {
        self.axis = axis
        self.first = first
        self.second = second
        self.ratio = ratio
        super.init()
        clipsToBounds = true
        first.clipsToBounds = true
        second.clipsToBounds = true
        addSubview(first)
        addSubview(bar)
        addSubview(second)
        bar.split = self
    }

    private var room: Double { max(0, (axis == .horizontal ? frame.width : frame.height).length - 1) }

    /// The length of the first view, in points.
    private var length: Double {
        let least = min(max(0, minimumLength.length), (room / 2).rounded(.down))
        return min(room - least, max(least, (room * min(1, max(0, ratio))).rounded()))
    }

    /// Moves the divider so that the first view has a length in points, or the nearest that leaves both views
    /// ``minimumLength``.
    fileprivate func moveDivider(to length: Double) {
        guard room > 0 else { return }
        let old = self.length
        ratio = min(1, max(0, length / room))
        if self.length == old { return }
        bar.sendActions(for: .valueChanged)
    }

    fileprivate func moveDivider(by step: Double) { moveDivider(to: length + step) }

    open override func layoutSubviews() {
        let (length, size) = (length, frame.size.limited)
        let (width, height) = (size.width, size.height)
        switch axis {
        case .horizontal:
            first.frame = Rect(0, 0, length, height)
            bar.frame = Rect(length, 0, 1, height)
            second.frame = Rect(length + 1, 0, width - length - 1, height)
        case .vertical:
            first.frame = Rect(0, 0, width, length)
            bar.frame = Rect(0, length, width, 1)
            second.frame = Rect(0, length + 1, width, height - length - 1)
        }
    }

    open override func sizeThatFits(_ size: Size) -> Size {
        let (one, two) = (first.sizeThatFits(size), second.sizeThatFits(size))
        let wanted =
            axis == .horizontal
            ? Size(one.width + 1 + two.width, max(one.height, two.height))
            : Size(max(one.width, two.width), one.height + 1 + two.height)
        return Size(min(size.width, wanted.width), min(size.height, wanted.height))
    }

    fileprivate var share: String { room > 0 ? "\(Int((100 * length / room).rounded()))%" : "0%" }
}

private final class Divider: Control {
    weak var split: SplitView?

    private var isUpright: Bool { split?.axis == .horizontal }

    override func continueTracking(_ touch: Touch, with event: Event?) {
        let place = touch.location(in: split)
        split?.moveDivider(to: (isUpright ? place.x : place.y).rounded(.down))
    }

    override func endTracking(_ touch: Touch, with event: Event?) {}

    override func handle(_ press: Press) -> Bool {
        guard press.modifiers.isEmpty else { return false }
        switch press.key {
        case .left where isUpright, .up where !isUpright: split?.moveDivider(by: -1)
        case .right where isUpright, .down where !isUpright: split?.moveDivider(by: 1)
        case .home: split?.moveDivider(to: 0)
        case .end: split?.moveDivider(to: .greatestFiniteMagnitude)
        default: return false
        }
        return true
    }

    override func draw(in canvas: inout Canvas) {
        let sign: Character =
            theme.usesUnicode ? (isUpright ? "│" : "─") : (isUpright ? "|" : "-")
        canvas.fill(canvas.bounds, with: sign, style: style(theme.border))
    }

    override var accessibilityRole: String? { "divider" }
    override var accessibilityValue: String? { split?.share }
}
