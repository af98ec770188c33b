// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A view that the user works with, by touch and by keys.
///
/// A touch gives the control the focus; a touch with a button other than the primary one is passed along the chain of
/// responders. While the control has the focus, Enter and Space do the same as a tap.
@MainActor open class Control: View {
    /// The events of a control.
    public struct Events: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt16

        /// Makes the events with these bits.
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// A touch has begun on the control.
        public static var touchDown: Events { Events(rawValue: 1) }
        /// A touch has ended on the control, or Enter or Space has done the same.
        public static var touchUpInside: Events { Events(rawValue: 2) }
        /// A touch that began on the control has ended outside of it.
        public static var touchUpOutside: Events { Events(rawValue: 4) }
        /// A touch was cancelled.
        public static var touchCancel: Events { Events(rawValue: 8) }
        /// The user has changed the control's value.
        public static var valueChanged: Events { Events(rawValue: 16) }
        /// The user has changed the control's text.
        public static var editingChanged: Events { Events(rawValue: 32) }
        /// The user has carried out the main action of the control: a button was tapped, a text was entered.
        public static var primaryAction: Events { Events(rawValue: 64) }
    }

    private var actions: [(events: Events, body: () -> Void)] = []
    private var trackedTouch: Touch?

    // MARK: State

    /// Whether the control can be used; true unless set.
    public var isEnabled = true {
        didSet {
            if isEnabled == oldValue { return }
            if !isEnabled { giveUp() }
            setNeedsDisplay()
        }
    }

    /// Whether a touch that began on the control is on it now.
    public var isHighlighted = false { didSet { if isHighlighted != oldValue { setNeedsDisplay() } } }

    /// Whether the control is selected; each type of control defines the meaning.
    public var isSelected = false { didSet { if isSelected != oldValue { setNeedsDisplay() } } }

    /// Whether the control is following a touch.
    public var isTracking: Bool { trackedTouch != nil }

    private func giveUp() {
        if isTracking {
            trackedTouch = nil
            isHighlighted = false
            cancelTracking()
            sendActions(for: .touchCancel)
        }
        // The next control gets the keys, so that a user without a mouse is not lost.
        if isFirstResponder, window?.focusNext() != true { resignFirstResponder() }
    }

    // MARK: Actions

    func keep(_ events: Events, _ body: @escaping () -> Void) { actions.append((events, body)) }

    /// Removes the actions that were added for any of these events.
    public func removeActions(for events: Events) { actions.removeAll { !$0.events.isDisjoint(with: events) } }

    /// Calls the actions that were added for any of these events, in the order in which they were added.
    public func sendActions(for events: Events) {
        for action in actions where !action.events.isDisjoint(with: events) { action.body() }
    }

    /// Acts as if the control was tapped: sends ``Events/touchUpInside``, then calls ``Control/activate()``; does
    /// nothing if the control is disabled.
    public func tap() {
        guard isEnabled else { return }
        sendActions(for: .touchUpInside)
        if isEnabled { activate() }
    }

    /// Carries out the main action of the control: sends ``Events/primaryAction`` unless overridden.
    open func activate() { sendActions(for: .primaryAction) }

    // MARK: Touches

    override var keepsTouches: Bool { true }

    /// Called when a touch has begun on the control.
    ///
    /// - Returns: Whether the control follows the touch; true unless overridden.
    open func beginTracking(_ touch: Touch, with event: Event?) -> Bool { true }

    /// Called when the touch has moved; does nothing unless overridden.
    open func continueTracking(_ touch: Touch, with event: Event?) {}

    /// Called when the touch has ended; unless overridden, calls ``Control/activate()`` if the touch is on the control.
    open func endTracking(_ touch: Touch, with event: Event?) { if contains(touch) { activate() } }

    /// Called when the touch was cancelled or the control was disabled; does nothing unless overridden.
    open func cancelTracking() {}

    /// Whether a touch is on the control now.
    public func contains(_ touch: Touch) -> Bool { point(inside: touch.location(in: self), with: nil) }

    open override func touchesBegan(_ touches: Set<Touch>, with event: Event?) {
        guard touches.arePrimary else { return super.touchesBegan(touches, with: event) }
        guard isEnabled, !isTracking, let touch = touches.first else { return }
        if canBecomeFirstResponder { becomeFirstResponder() }
        // Each call may have disabled the control, or begun to follow the touch.
        guard isEnabled, !isTracking, beginTracking(touch, with: event), isEnabled, !isTracking else { return }
        trackedTouch = touch
        isHighlighted = true
        sendActions(for: .touchDown)
    }

    open override func touchesMoved(_ touches: Set<Touch>, with event: Event?) {
        guard touches.arePrimary else { return super.touchesMoved(touches, with: event) }
        guard let touch = trackedTouch, touches.contains(touch) else { return }
        isHighlighted = contains(touch)
        continueTracking(touch, with: event)
    }

    open override func touchesEnded(_ touches: Set<Touch>, with event: Event?) {
        guard touches.arePrimary else { return super.touchesEnded(touches, with: event) }
        guard let touch = trackedTouch, touches.contains(touch) else { return }
        trackedTouch = nil
        isHighlighted = false
        sendActions(for: contains(touch) ? .touchUpInside : .touchUpOutside)
        // An action that disables the control takes the touch away.
        if isEnabled { endTracking(touch, with: event) } else { cancelTracking() }
    }

    open override func touchesCancelled(_ touches: Set<Touch>, with event: Event?) {
        guard touches.arePrimary else { return super.touchesCancelled(touches, with: event) }
        guard let touch = trackedTouch, touches.contains(touch) else { return }
        trackedTouch = nil
        isHighlighted = false
        cancelTracking()
        sendActions(for: .touchCancel)
    }

    // MARK: Focus and keys

    open override var canBecomeFirstResponder: Bool { isEnabled }

    open override func firstResponderChanged(_ isFirst: Bool) { setNeedsDisplay() }

    /// Handles a key that has gone down or repeats; unless overridden, Enter and Space tap the control.
    ///
    /// - Returns: Whether the key was used; other keys are passed along the chain of responders.
    open func handle(_ press: Press) -> Bool {
        guard press.modifiers.isEmpty, press.key == .enter || press.key == .character(" ") else { return false }
        // A key that is held taps once.
        if press.phase == .began { tap() }
        return true
    }

    open override func pressesBegan(_ presses: Set<Press>, with event: Event?) {
        let unused = presses.filter { !(isEnabled && handle($0)) }
        if !unused.isEmpty { super.pressesBegan(unused, with: event) }
    }

    /// The control's first cell, where users with a screen reader look.
    open override var cursor: Point? { .zero }

    /// Returns the style for the present state of a control that usually has the style `usual`.
    public func style(_ usual: Style) -> Style {
        if !isEnabled { return theme.disabled }
        if isHighlighted { return theme.highlight }
        return isFirstResponder ? theme.focus : usual
    }
}

/// A type that sends actions; ``Control`` is the only one.
@MainActor public protocol ActionSender: Control {}

extension Control: ActionSender {}

extension ActionSender {
    /// Calls a closure when something happens to the control.
    ///
    /// - Parameters:
    ///   - events: The events for which the closure is called.
    ///   - body: Receives the control.
    public func addAction(for events: Control.Events = .primaryAction, _ body: @escaping (Self) -> Void) {
        keep(events) { [weak self] in if let self { body(self) } }
    }
}
