// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The view at the top: the application sends it events, and the display shows it.
@MainActor open class Window: View {
    /// The responder that keys come to first; the root controller's view if there is none.
    public private(set) weak var firstResponder: Responder?

    /// A window with that frame, in points of the display; when it is shown it becomes as large as the display.
    public override init(frame: Rect) {
        super.init(frame: frame)
        backgroundColor = .default
        clipsToBounds = true
    }

    open override var window: Window? { self }
    open override var next: Responder? { application }

    /// The controller whose view fills the window.
    public var rootViewController: ViewController? {
        didSet {
            if rootViewController === oldValue { return }
            oldValue?.dismissPresented()
            oldValue?.disappear()
            oldValue?.view.removeFromSuperview()
            guard let root = rootViewController else { return }
            insertSubview(root.view, at: 0)
            if isVisible { root.appear() }
        }
    }

    open override func layoutSubviews() {
        rootViewController?.view.frame = Rect(size: frame.size)
        for overlay in overlays { overlay.frame = Rect(size: frame.size) }
    }

    // MARK: First responder

    /// Gives the keys to a responder of this window; to none if `nil`.
    ///
    /// - Returns: Whether the one before has let go, and the new one has taken them.
    @discardableResult
    public func makeFirstResponder(_ responder: Responder?) -> Bool {
        let old = firstResponder
        if old === responder { return true }
        if let old, !old.canResignFirstResponder { return false }
        if let responder, !responder.canBecomeFirstResponder { return false }
        firstResponder = responder
        old?.firstResponderChanged(false)
        responder?.firstResponderChanged(true)
        application?.commit.markFrame()
        return true
    }

    // MARK: Events

    /// Sends an event to the views that it is for.
    ///
    /// Touches go to the recognisers of the view that was hit, and of the views above, first. Keys and pasted text go
    /// to the first responder, the wheel to the view under the pointer.
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

    /// The responder that keys come to first.
    private var keyTarget: Responder { firstResponder ?? frontOverlay?.content ?? rootViewController?.view ?? self }

    /// Tab and the arrows move the focus, if no responder before has used them.
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
