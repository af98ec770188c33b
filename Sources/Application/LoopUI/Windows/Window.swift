// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A view at the top of a tree of views: the application sends it events, and the display shows it.
@MainActor open class Window: View {
    /// The responder that receives keys first; if this is nil, the content of the frontmost sheet, alert or menu
    /// receives them, or else the root controller's view.
    public private(set) weak var firstResponder: Responder?

    /// Makes a window with this frame, in points of the display; when the window is shown, it becomes as large as the
    /// display.
    public override init(frame: Rect) {
        super.init(frame: frame)
        backgroundColor = .default
        clipsToBounds = true
    }

    open override var window: Window? { self }
    open override var next: Responder? { application }

    /// The controller whose view fills the window.
    var rootOwner: (any ViewOwner)? {
        didSet {
            if rootOwner === oldValue { return }
            if let oldValue { leave(oldValue) }
            // The calls of the one that goes may have set another one, or the same again.
            guard let root = rootOwner else { return }
            let view = root.view
            guard root === rootOwner else { return }
            insertSubview(view, at: 0)
            keyTargetChanged()
            if isVisible, root === rootOwner { root.appear() }
        }
    }

    private func leave(_ owner: any ViewOwner) {
        owner.dismissPresented()
        owner.disappear()
        if let view = owner.loadedView, view.superview === self, owner !== rootOwner { view.removeFromSuperview() }
    }

    open override func layoutSubviews() {
        rootOwner?.view.frame = Rect(size: frame.size)
        for overlay in overlays { overlay.frame = Rect(size: frame.size) }
    }

    // MARK: First responder

    /// Makes a responder of this window the first responder, or none if `responder` is nil.
    ///
    /// A view that is hidden, in another window, or covered by a sheet, an alert or a menu cannot become the first
    /// responder.
    ///
    /// - Returns: Whether `responder` is the first responder now; false if the earlier one does not resign or the new
    ///   one does not accept.
    @discardableResult
    public func makeFirstResponder(_ responder: Responder?) -> Bool {
        let old = firstResponder
        if old === responder { return true }
        if let old, !old.canResignFirstResponder { return false }
        if let responder, !responder.canBecomeFirstResponder { return false }
        // The program has answered both, and may have moved the keys or the view meanwhile.
        if firstResponder !== old { return firstResponder === responder }
        if let responder, !isReachable(responder) { return false }
        giveKeys(to: responder)
        return firstResponder === responder
    }

    /// The responder whose last call of `firstResponderChanged` was with true.
    private weak var toldResponder: Responder?

    private func giveKeys(to responder: Responder?) {
        let old = firstResponder
        firstResponder = responder
        application?.commit.markFrame()
        keyTargetChanged()
        if let old, old === toldResponder {
            toldResponder = nil
            old.firstResponderChanged(false)
        }
        // The call may have moved the keys on.
        if let responder, responder === firstResponder, responder !== toldResponder {
            toldResponder = responder
            responder.firstResponderChanged(true)
        }
    }

    /// Whether a responder may receive keys: its view is shown in this window and not covered by an overlay.
    private func isReachable(_ responder: Responder) -> Bool {
        guard responder is View || responder is any ViewOwner else { return true }
        guard let view = Self.view(of: responder), view.window === self, view.isShown else { return false }
        return frontOverlay.map(view.isInside) ?? true
    }

    /// Returns the view that a responder is, or the loaded view of the controller that it is; nil for others.
    private static func view(of responder: Responder?) -> View? {
        responder as? View ?? (responder as? any ViewOwner)?.loadedView
    }

    /// Removes the first responder, without asking it, if it is inside a view that is removed or hidden.
    func takeKeys(from view: View) {
        if let holder = Self.view(of: firstResponder), holder.isInside(view) { giveKeys(to: nil) }
    }

    /// Removes the first responder if it is inside a view that has moved and may no longer receive keys.
    func takeUnreachableKeys(from view: View) {
        guard let responder = firstResponder, let holder = Self.view(of: responder) else { return }
        if holder.isInside(view), !isReachable(responder) { giveKeys(to: nil) }
    }

    /// Removes the first responder, without asking it, before an overlay covers it.
    func takeKeys() { giveKeys(to: nil) }

    // MARK: Events

    /// Sends an event to the recognisers and responders that are to receive it.
    ///
    /// Touches are sent first to the recognisers of the view that was hit and of the views around it. Keys and pasted
    /// text are sent to the first responder, turns of the wheel to the view under the pointer.
    open func sendEvent(_ event: Event) {
        switch event.kind {
        case .touches: application?.gestures.deliver(event, in: self)
        case .presses: sendPresses(event)
        case .wheel:
            guard let wheel = event.wheel else { return }
            (hitTest(wheel.location(in: self), with: event) ?? self).wheelTurned(wheel, with: event)
        case .paste:
            if let pasted = event.pasted { keyTarget.pasted(pasted, with: event) }
        }
    }

    /// The responder to which keys are sent first.
    var keyTarget: Responder {
        if let firstResponder { return firstResponder }
        if let frontOverlay { return frontOverlay.hasContent ? frontOverlay.content : frontOverlay }
        return rootOwner?.view ?? self
    }

    /// The views that show which keys the responders use.
    private var keyHints: [WeakView] = []

    func addKeyHints(_ view: View) {
        keyHints.removeAll { $0.view == nil || $0.view === view }
        keyHints.append(WeakView(view: view))
    }

    /// Called when keys may be sent to another responder.
    func keyTargetChanged() {
        for hints in keyHints where hints.view?.window === self { hints.view?.setNeedsDisplay() }
    }

    /// Moves the focus for Tab and the arrows if no responder earlier in the chain has used them.
    open override func pressesBegan(_ presses: Set<Press>, with event: Event?) {
        let unused = presses.filter { !moveFocus(for: $0) }
        if !unused.isEmpty { super.pressesBegan(unused, with: event) }
    }

    private func sendPresses(_ event: Event) {
        guard let phase = event.pressPhase else { return }
        switch phase {
        case .began, .repeated: keyTarget.pressesBegan(event.pressSet, with: event)
        case .ended: keyTarget.pressesEnded(event.pressSet, with: event)
        case .cancelled: keyTarget.pressesCancelled(event.pressSet, with: event)
        }
    }
}

/// A weak reference to a view.
private struct WeakView {
    weak var view: View?
}
