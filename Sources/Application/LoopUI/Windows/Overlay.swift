// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A view that covers the window while a sheet, an alert or a menu is open: touches do not reach the views below.
///
/// While it is open, it keeps the presented and the presenting controller alive.
@MainActor final class Overlay: View {
    private let ownContent: View?
    /// The controller that is presented; nil for a menu.
    private let presented: ViewController?
    /// The controller that has presented the other one; nil for a menu.
    private let presenter: ViewController?
    /// Whether a border is drawn around the content, just outside of it.
    var hasBorder = false { didSet { setNeedsDisplay() } }
    private let place: (Size) -> Rect
    private let touchedOutside: () -> Void
    private let escaped: () -> Void
    /// The responder that becomes the first responder again when the overlay is closed.
    private weak var lastResponder: Responder?

    /// Makes an overlay with a view inside.
    ///
    /// - Parameters:
    ///   - content: The view of the menu that is open.
    ///   - place: Returns the frame of the content in an overlay of a size.
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

    /// Makes an overlay with a controller's view inside.
    ///
    /// - Parameters:
    ///   - controller: The controller that is presented.
    ///   - presenter: The controller that presents it.
    ///   - place: Returns the frame of the content in an overlay of a size.
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

    /// The view of the sheet, the alert or the menu.
    var content: View {
        guard let content = presented?.view ?? ownContent else { preconditionFailure("An overlay has no content.") }
        return content
    }

    /// Whether the content is still inside; the program may have taken it out.
    var hasContent: Bool { content.superview === self }

    /// Covers the window and takes the keys from the first responder below.
    func open(in window: Window) {
        lastResponder = window.firstResponder
        window.takeKeys()
        frame = Rect(size: window.frame.size)
        addSubview(content)
        window.addSubview(self)
        // The calls of the content may have given the keys to a view that is covered now.
        window.takeUnreachableKeys(from: window)
        window.keyTargetChanged()
        layoutIfNeeded()
    }

    /// Removes the overlay from the window and makes the earlier first responder the first responder again.
    func close() {
        let (window, hadKeys) = (window, window?.frontOverlay === self)
        removeFromSuperview()
        if hasContent { content.removeFromSuperview() }
        window?.keyTargetChanged()
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

    /// The title in the border; nil if there is none.
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
    /// The overlays that cover the window, the frontmost last.
    var overlays: [Overlay] { subviews.compactMap { $0 as? Overlay } }

    /// The frontmost overlay, if there is one.
    ///
    /// Read for each key.
    var frontOverlay: Overlay? {
        for view in subviews.reversed() { if let overlay = view as? Overlay { return overlay } }
        return nil
    }
}
