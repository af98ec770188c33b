// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Covers the window while a sheet, an alert or a menu is open: touches do not reach what is below.
@MainActor final class Overlay: View {
    let content: View
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
        self.content = content
        self.place = place
        self.escaped = escaped
        self.touchedOutside = touchedOutside
        super.init()
    }

    /// Covers the window and takes the keys from what is below.
    func open(in window: Window) {
        lastResponder = window.firstResponder
        window.makeFirstResponder(nil)
        frame = Rect(size: window.frame.size)
        addSubview(content)
        window.addSubview(self)
        layoutIfNeeded()
    }

    /// Uncovers the window and gives the keys back.
    func close() {
        guard let window else { return }
        let hadKeys = window.overlays.last === self
        removeFromSuperview()
        content.removeFromSuperview()
        guard hadKeys else { return }
        let isThere = (lastResponder as? View).map { $0.window === window } ?? true
        window.makeFirstResponder(isThere ? lastResponder : nil)
    }

    override func layoutSubviews() {
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
        drawBox(around: content.frame.inset(by: Insets(all: -1)), style, in: &canvas)
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
