// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// Offers a few choices side by side, of which one is selected.
///
/// While the control has the focus, the left and right arrows change the selection.
@MainActor open class SegmentedControl: Control {
    /// The choices.
    public var segments: [String] {
        didSet {
            if segments == oldValue { return }
            selectedIndex = selectedIndex.flatMap { segments.indices.contains($0) ? $0 : nil }
            setNeedsDisplay()
            invalidateIntrinsicContentSize()
        }
    }

    /// The index of the selected choice; nil if none is selected.
    ///
    /// Setting the index calls no action.
    ///
    /// - Precondition: the index is nil, or the index of a choice.
    public var selectedIndex: Int? {
        didSet {
            require(
                selectedIndex.map { segments.indices.contains($0) } ?? true,
                "There is no segment \(selectedIndex ?? 0): \(segments.count) segments are there. Select one of them, or nil."
            )
            if selectedIndex != oldValue { setNeedsDisplay() }
        }
    }

    /// Makes a control for these choices, of which the first is selected.
    ///
    /// - Parameters:
    ///   - segments: The choices.
    ///   - action: Called when the user has selected another choice; receives the control.
    public init(_ segments: [String], action: ((SegmentedControl) -> Void)? = nil) {
        self.segments = segments
        selectedIndex = segments.isEmpty ? nil : 0
        super.init()
        if let action { addAction(for: .valueChanged, action) }
    }

    // MARK: Selecting

    private func select(_ index: Int) {
        guard segments.indices.contains(index), index != selectedIndex else { return }
        selectedIndex = index
        sendActions(for: [.valueChanged, .primaryAction])
    }

    open override func endTracking(_ touch: Touch, with event: Event?) {
        guard contains(touch) else { return }
        let x = touch.location(in: self).x
        if let index = ranges(in: frame.width.wholeCells).firstIndex(where: { Double($0.upperBound) > x }) {
            select(index)
        }
    }

    open override func handle(_ press: Press) -> Bool {
        guard press.modifiers.isEmpty, press.key == .left || press.key == .right else { return super.handle(press) }
        let next = (selectedIndex ?? -1) + (press.key == .right ? 1 : -1)
        // At its ends the arrows move the focus.
        guard segments.indices.contains(next) else { return false }
        select(next)
        return true
    }

    // MARK: Looks

    /// The columns of each segment: as many as its title needs if there is room for all, and otherwise about the same
    /// number for each.
    private func ranges(in width: Int) -> [Range<Int>] {
        let wanted = segments.map { $0.cellWidth + 2 }
        let isRoomy = wanted.reduce(0, +) <= width
        let ends = segments.indices.map { index in
            isRoomy ? wanted[...index].reduce(0, +) : width * (index + 1) / segments.count
        }
        return zip([0] + ends, ends).map { $0..<$1 }
    }

    open override func sizeThatFits(_ size: Size) -> Size {
        Size(min(size.width, Double(segments.reduce(0) { $0 + $1.cellWidth + 2 })), 1)
    }

    open override func draw(in canvas: inout Canvas) {
        for (index, range) in ranges(in: Int(canvas.size.width)).enumerated() {
            let isSelected = index == selectedIndex
            let style = isSelected ? style(theme.selection) : isEnabled ? theme.text : theme.disabled
            canvas.fill(Rect(Double(range.lowerBound), 0, Double(range.count), 1), style: style)
            let title = TextLines.cut(segments[index], width: range.count - 2, ellipsis: theme.ellipsis)
            let start = Double(range.lowerBound)
            canvas.write(title, at: Point(start + 1, 0), style: style, width: Double(max(0, range.count - 1)))
            guard isSelected, range.count > 2 else { continue }
            canvas.write("[", at: Point(start, 0), style: style)
            canvas.write("]", at: Point(Double(range.upperBound - 1), 0), style: style)
        }
    }

    open override var cursor: Point? {
        guard let selectedIndex else { return .zero }
        return Point(Double(ranges(in: frame.width.wholeCells)[selectedIndex].lowerBound), 0)
    }

    open override var accessibilityRole: String? { "choice" }
    open override var accessibilityValue: String? {
        selectedIndex.map { "\(segments[$0]), \($0 + 1) of \(segments.count)" }
    }
}
