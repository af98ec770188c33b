// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A list of commands that opens over other views and closes when one of them is chosen.
///
/// The arrows, Home, End and first letters of items move the highlight; Enter and Space choose; Escape and a touch
/// outside of the menu close it. A finger that goes down on the list chooses the item on which it goes up.
///
/// ```swift
/// let more = Button("More") { button in
///     Menu([Menu.Item("Save") { document.save() }, Menu.Item("Delete") { document.delete() }]).open(below: button)
/// }
/// ```
@MainActor public final class Menu: Control {
    /// An item of a menu: one line.
    public struct Item {
        /// The text of the item.
        public var title: String
        /// The text at the right edge of the item: usually the key that does the same as the item.
        public var hint: String
        /// Whether the item can be chosen.
        public var isEnabled: Bool
        /// Whether a check mark is shown before the title.
        public var isChecked: Bool
        /// Called when the item is chosen, after the menu has closed.
        public var action: () -> Void

        /// Makes an item of a menu.
        public init(
            _ title: String, hint: String = "", isEnabled: Bool = true, isChecked: Bool = false,
            action: @escaping () -> Void
        ) {
            self.title = title
            self.hint = hint
            self.isEnabled = isEnabled
            self.isChecked = isChecked
            self.action = action
        }
    }

    /// The items of the menu.
    public let items: [Item]
    /// The highlighted item, which Enter chooses.
    public private(set) var highlightedIndex: Int? {
        didSet {
            if highlightedIndex == oldValue { return }
            setNeedsDisplay()
            window?.application?.commit.markFrame()
        }
    }
    private var firstShown = 0

    /// Makes a menu, which is closed at first.
    public init(_ items: [Item]) {
        self.items = items
        super.init()
        highlightedIndex = items.firstIndex(where: \.isEnabled)
    }

    // MARK: Opening

    /// Opens the menu below a view, or above the view if the menu does not fit below and there is more room above.
    ///
    /// - Precondition: the view is in a window.
    public func open(below view: View) { open(beside: view.convert(view.bounds, to: nil), in: view.window) }

    /// Opens the menu at a point of a view.
    ///
    /// - Precondition: the view is in a window.
    public func open(at point: Point, in view: View) {
        open(beside: Rect(origin: view.convert(point, to: nil), size: .zero), in: view.window)
    }

    private func open(beside anchor: Rect, in window: Window?) {
        guard let window else { preconditionFailure("A menu was opened at a view that is in no window.") }
        if isOpen { return }
        let overlay = Overlay(
            self, place: { [weak self] in self?.place(beside: anchor, in: $0) ?? .zero },
            escaped: { [weak self] in self?.close() }, touchedOutside: { [weak self] in self?.close() })
        backgroundColor = window.theme.background
        overlay.open(in: window)
        becomeFirstResponder()
    }

    /// Whether the menu is open.
    public var isOpen: Bool { superview is Overlay }

    /// Closes the menu without choosing an item.
    public func close() { (superview as? Overlay)?.close() }

    private func choose(_ index: Int?) {
        guard let index, items[index].isEnabled else { return }
        close()
        items[index].action()
        sendActions(for: .primaryAction)
    }

    private func place(beside anchor: Rect, in all: Size) -> Rect {
        let wanted = sizeThatFits(all)
        let (above, below) = (anchor.minY, all.height - anchor.maxY)
        let isBelow = wanted.height <= below || below >= above
        let height = min(wanted.height, max(min(3, all.height), isBelow ? below : above))
        let y = isBelow ? min(anchor.maxY, all.height - height) : max(0, anchor.minY - height)
        return Rect(max(0, min(anchor.minX, all.width - wanted.width)), y, wanted.width, height)
    }

    // MARK: Keys

    public override func handle(_ press: Press) -> Bool {
        guard press.modifiers.isEmpty else { return false }
        switch press.key {
        case .up: step(-1, from: highlightedIndex ?? 0)
        case .down: step(1, from: highlightedIndex ?? -1)
        case .home: step(1, from: -1)
        case .end: step(-1, from: items.count)
        case .enter, .character(" "): if press.phase == .began { choose(highlightedIndex) }
        case .character(let letter): jump(to: letter)
        default: return false
        }
        return true
    }

    /// Highlights the next item that can be chosen; the first item follows the last.
    private func step(_ step: Int, from start: Int) {
        let count = items.count
        for distance in stride(from: 1, through: count, by: 1) {
            let index = ((start + step * distance) % count + count) % count
            if items[index].isEnabled {
                highlightedIndex = index
                return
            }
        }
    }

    private func jump(to letter: Character) {
        let start = (highlightedIndex ?? -1) + 1
        let order = items.indices.map { ($0 + start) % items.count }
        let found = order.first {
            items[$0].isEnabled && items[$0].title.first?.lowercased() == letter.lowercased()
        }
        if let found { highlightedIndex = found }
    }

    // MARK: Touches

    public override func wheelTurned(_ wheel: Wheel, with event: Event?) {
        if wheel.notches.y != 0 { step(wheel.notches.y > 0 ? 1 : -1, from: highlightedIndex ?? -1) }
    }

    public override func beginTracking(_ touch: Touch, with event: Event?) -> Bool {
        highlight(touch)
        return true
    }

    public override func continueTracking(_ touch: Touch, with event: Event?) { highlight(touch) }

    public override func endTracking(_ touch: Touch, with event: Event?) {
        if let index = index(of: touch) { choose(index) }
    }

    private func highlight(_ touch: Touch) { if let index = index(of: touch) { highlightedIndex = index } }

    private func index(of touch: Touch) -> Int? {
        let point = touch.location(in: self)
        guard bounds.inset(by: Insets(all: 1)).contains(point) else { return nil }
        let index = firstShown + Int(point.y) - 1
        return items.indices.contains(index) && items[index].isEnabled ? index : nil
    }

    // MARK: Looks

    private var marks: Int { items.contains(where: \.isChecked) ? 2 : 0 }

    public override func sizeThatFits(_ size: Size) -> Size {
        let width = items.map { $0.title.cellWidth + ($0.hint.isEmpty ? 0 : $0.hint.cellWidth + 2) }.max() ?? 0
        return Size(min(size.width, Double(width + marks + 4)), min(size.height, Double(items.count + 2)))
    }

    public override func draw(in canvas: inout Canvas) {
        drawBox(around: canvas.bounds, theme.border, in: &canvas)
        let rows = Int(canvas.size.height) - 2
        let inner = Int(canvas.size.width) - 4
        guard rows > 0, inner > 0 else { return }
        if let highlightedIndex { firstShown = min(highlightedIndex, max(firstShown, highlightedIndex - rows + 1)) }
        for (row, item) in items.dropFirst(firstShown).prefix(rows).enumerated() {
            let isMarked = firstShown + row == highlightedIndex
            let style = isMarked ? theme.focus : item.isEnabled ? theme.text : theme.disabled
            let y = Double(row + 1)
            canvas.fill(Rect(1, y, canvas.size.width - 2, 1), style: style)
            if item.isChecked { canvas.write(theme.usesUnicode ? "✓" : "*", at: Point(2, y), style: style) }
            let hint = TextLines.cut(item.hint, width: inner / 2, ellipsis: theme.ellipsis)
            let room = inner - marks - (hint.isEmpty ? 0 : hint.cellWidth + 1)
            let title = TextLines.cut(item.title, width: room, ellipsis: theme.ellipsis)
            canvas.write(title, at: Point(Double(2 + marks), y), style: style)
            canvas.write(hint, at: Point(canvas.size.width - 2 - Double(hint.cellWidth), y), style: style)
        }
    }

    /// The position of the cursor: on the highlighted item.
    public override var cursor: Point? { highlightedIndex.map { Point(2, Double($0 - firstShown + 1)) } }

    public override var accessibilityRole: String? { "menu" }
    public override var accessibilityValue: String? {
        highlightedIndex.map { "\(items[$0].title), \($0 + 1) of \(items.count)" }
    }
}
