// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Covers the window while a sheet, an alert or a menu is open: touches do not reach what is below.
///
/// It keeps all that it needs as long as it is open: the controllers of both sides too.
@MainActor final class Overlay: View {
    private let ownContent: View?
    /// The controller that is presented; nil for a menu.
    private let presented: ViewController?
    /// The controller that has presented it.
    private let presenter: ViewController?
    /// Whether a border stands around the content, just outside of it.
    var hasBorder = false { didSet { setNeedsDisplay() } }
    private let place: (Size) -> Rect
    private let touchedOutside: () -> Void
    private let escaped: () -> Void
    /// Gets the keys back at the end.
    private weak var lastResponder: Responder?

    /// An overlay with a view inside.
    ///
    /// - Parameters:
    ///   - content: What is open.
    ///   - place: The frame of the content in an overlay of that size.
    ///   - escaped: Called for the escape key, if the content has not used it.
    ///   - touchedOutside: Called when a touch begins beside the content.
    init(
        _ content: View, place: @escaping (Size) -> Rect, escaped: @escaping () -> Void,
        touchedOutside: @escaping () -> Void = {}
    ) {
        ownContent = content
        (presented, presenter) = (nil, nil)
        self.place = place
        self.escaped = escaped
        self.touchedOutside = touchedOutside
        super.init()
    }

    /// An overlay with a controller's view inside.
    ///
    /// - Parameters:
    ///   - controller: The controller that is presented.
    ///   - presenter: The controller that presents it.
    ///   - place: The frame of the content in an overlay of that size.
    ///   - escaped: Called for the escape key, if the content has not used it.
    init(
        _ controller: ViewController, over presenter: ViewController, place: @escaping (Size) -> Rect,
        escaped: @escaping () -> Void
    ) {
        ownContent = nil
        (presented, self.presenter) = (controller, presenter)
        self.place = place
        self.escaped = escaped
        touchedOutside = {}
        super.init()
    }

    /// What is open.
    var content: View {
        guard let content = presented?.view ?? ownContent else { preconditionFailure("An overlay has no content.") }
        return content
    }

    /// Whether the content is still inside; the program may have taken it out.
    var hasContent: Bool { content.superview === self }

    /// Covers the window and takes the keys from what is below.
    func open(in window: Window) {
        lastResponder = window.firstResponder
        window.takeKeys()
        frame = Rect(size: window.frame.size)
        addSubview(content)
        window.addSubview(self)
        // The calls of the content may have given the keys to a view that is covered now.
        window.takeUnreachableKeys(from: window)
        layoutIfNeeded()
    }

    /// Uncovers the window and gives the keys back.
    func close() {
        let (window, hadKeys) = (window, window?.frontOverlay === self)
        removeFromSuperview()
        if hasContent { content.removeFromSuperview() }
        // The calls of these views may have given the keys to others, or opened something else.
        guard let window, hadKeys, window.firstResponder == nil, let lastResponder else { return }
        window.makeFirstResponder(lastResponder)
    }

    override func layoutSubviews() {
        guard hasContent else { return }
        let content = content
        let old = content.frame
        let placed = place(frame.size)
        // A line that is read has nothing beside the content.
        content.frame = isLinear ? Rect(0, placed.origin.y, frame.size.width, placed.size.height) : placed
        if hasBorder, content.frame != old { setNeedsDisplay() }
    }

    override func draw(in canvas: inout Canvas) {
        guard hasBorder else { return }
        var style = theme.border
        style.background = theme.background
        let box = content.frame.inset(by: Insets(all: -1))
        drawBox(around: box, style, in: &canvas)
        guard let title, box.minY >= 0 else { return }
        let shown = TextLines.cut(title, width: content.frame.width.wholeCells - 4, ellipsis: theme.ellipsis)
        if shown.isEmpty { return }
        let bold = Style(.default, on: theme.background, .bold)
        // Where lines are read, the title has one of its own.
        if isLinear { canvas.fill(Rect(0, box.minY, canvas.size.width, 1), style: style) }
        canvas.write(" \(shown) ", at: Point(isLinear ? 0 : box.minX + 2, box.minY), style: bold)
    }

    /// The title that stands in the border.
    private var title: String? {
        guard hasBorder, let title = presented?.title, !title.isEmpty else { return nil }
        return title
    }

    override var accessibilityLabel: String? {
        get { super.accessibilityLabel ?? title }
        set { super.accessibilityLabel = newValue }
    }

    override func touchesBegan(_ touches: Set<Touch>, with event: Event?) {
        if touches.contains(where: { !content.frame.contains($0.location(in: self)) }) { touchedOutside() }
    }
    override func touchesMoved(_ touches: Set<Touch>, with event: Event?) {}
    override func touchesEnded(_ touches: Set<Touch>, with event: Event?) {}
    override func touchesCancelled(_ touches: Set<Touch>, with event: Event?) {}
    override func wheelTurned(_ wheel: Wheel, with event: Event?) {}

    override func pressesBegan(_ presses: Set<Press>, with event: Event?) {
        let unused = presses.filter { $0.key != .escape || !$0.modifiers.isEmpty }
        if unused.count < presses.count { escaped() }
        if !unused.isEmpty { super.pressesBegan(unused, with: event) }
    }
}

extension Window {
    /// What covers the window, the frontmost last.
    var overlays: [Overlay] { subviews.compactMap { $0 as? Overlay } }

    /// What is in front of all else, if that covers the window.
    ///
    /// Asked for with each key.
    var frontOverlay: Overlay? {
        for view in subviews.reversed() { if let overlay = view as? Overlay { return overlay } }
        return nil
    }
}
