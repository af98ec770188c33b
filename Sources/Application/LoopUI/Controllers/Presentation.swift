// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// How a controller is presented over another one.
public enum PresentationStyle: Hashable, Sendable {
    /// The controller fills the window, and hides the views below.
    case fullScreen
    /// The controller is at the lower edge, inside a border with its title; the views that it does not cover stay visible.
    case sheet
    /// The controller is in the middle, as small as it can be, inside a border with its title.
    case alert
}

extension ViewController {
    /// Shows a controller over this one until it is dismissed; meanwhile keys and touches reach it alone.
    ///
    /// The controller is shown in front of all controllers that are presented already. If the style is
    /// ``PresentationStyle/fullScreen``, the controller in front until then disappears, and the life cycle calls of both
    /// alternate: `viewWillDisappear` of the old one, `viewWillAppear` and `viewDidAppear` of the new one,
    /// `viewDidDisappear` of the old one. With other styles no controller disappears. The focus moves to the first view
    /// that can have it, and returns at the end. Unless the style is ``PresentationStyle/fullScreen`` or the new controller's
    /// ``isModalInPresentation`` is set, the escape key dismisses the controller.
    ///
    /// Both controllers are kept until the end. If this controller is being dismissed, the new one is presented over the
    /// controller below it.
    ///
    /// Corresponds to UIKit's `present(_:animated:completion:)`.
    ///
    /// - Parameters:
    ///   - controller: The controller to show.
    ///   - style: The style; if nil, an ``AlertController`` is shown as an alert, and any other controller as a sheet.
    /// - Precondition: this controller's view is in a window, and the other one is not shown yet: it is neither presented
    ///   nor a child, its view is in no window, and it does not present this one.
    public func present(_ controller: ViewController, style: PresentationStyle? = nil) {
        let style = style ?? (controller is AlertController ? .alert : .sheet)
        guard view.window != nil else {
            preconditionFailure("\(self) cannot present: its view is in no window. Present from viewDidAppear() on.")
        }
        require(
            controller.canBePresented(over: frontmost),
            """
            \(controller) cannot be presented: it is shown already, is a child, or presents this one. \
            Dismiss it, remove it from its parent, or present another.
            """)
        // The first look at the view calls the program, which may take the window away, or present the controller
        // itself.
        let content = controller.view
        let presenter = frontmost
        guard let window = view.window, controller.canBePresented(over: presenter) else { return }
        let overlay = Overlay(
            controller, over: presenter, place: { controller.place(in: $0, style) },
            escaped: { if style != .fullScreen { controller.escapePresentation() } })
        // An alert draws its own, with its title inside.
        overlay.hasBorder = style != .fullScreen && !(controller is AlertController)
        presenter.presentedViewController = controller
        controller.presentingViewController = presenter
        controller.overlay = overlay
        controller.coversPresenter = style == .fullScreen
        if style == .fullScreen {
            overlay.backgroundColor = view.theme.background
        } else if content.backgroundColor == .clear {
            content.backgroundColor = view.theme.background
        }
        /// Calls a part of the presentation, unless a call of the program has dismissed the controller meanwhile.
        func step(_ body: () -> Void) { if controller.overlay === overlay, !controller.isBeingDismissed { body() } }
        if style == .fullScreen { presenter.beginDisappearing() }
        step { controller.beginAppearing() }
        step { overlay.open(in: window) }
        step { if window.firstResponder == nil { window.focusNext() } }
        step { controller.finishAppearing() }
        step { if style == .fullScreen { presenter.finishDisappearing() } }
    }

    /// Dismisses the controller that this one has presented, or, if there is none, this controller.
    ///
    /// Controllers that are presented in front of the dismissed one are dismissed too. Nothing happens if there is no
    /// presentation, or if the dismissal is under way.
    public func dismiss() { if presentedViewController == nil { endPresentation() } else { dismissPresented() } }

    func dismissPresented() { presentedViewController?.endPresentation() }

    private var isPresented: Bool { overlay != nil || presentingViewController != nil }

    /// Whether this controller is shown nowhere, and is not below `presenter` in a chain of presentations.
    ///
    /// The view of the chain's first controller may have been removed from its window: the chain would become a ring.
    func canBePresented(over presenter: ViewController) -> Bool {
        !isPresented && parent == nil && loadedView?.window == nil
            && !sequence(first: presenter, next: { $0.presentingViewController }).contains { $0 === self }
    }

    /// Ends the presentation of this controller, after the presentations in front of it.
    func endPresentation() {
        guard isPresented else { return }
        let all = sequence(first: self, next: { $0.presentedViewController }).prefix { !$0.isBeingDismissed }
        let going = Array(all)
        // All of them first: what one of them presents in its last calls is presented by a controller that stays.
        for controller in going { controller.isBeingDismissed = true }
        for controller in going.reversed() { controller.leave() }
    }

    private func leave() {
        let (presenter, overlay) = (presentingViewController, overlay)
        beginDisappearing()
        if coversPresenter { presenter?.beginAppearing() }
        overlay?.close()
        if let presenter, presenter.presentedViewController === self { presenter.presentedViewController = nil }
        presentingViewController = nil
        self.overlay = nil
        isBeingDismissed = false
        if coversPresenter { presenter?.finishAppearing() }
        finishDisappearing()
        modalSession?.end()
        modalSession = nil
    }

    /// The controller in front of all others of this window, without those that are being dismissed.
    var frontmost: ViewController {
        var front = sequence(first: self, next: { $0.parent }).reduce(self) { $1 }
        while front.isBeingDismissed, let presenter = front.presentingViewController { front = presenter }
        while let next = front.presentedViewController, !next.isBeingDismissed { front = next }
        return front
    }

    private func place(in all: Size, _ style: PresentationStyle) -> Rect {
        switch style {
        case .fullScreen:
            return Rect(size: all)
        case .sheet:
            // A border around it, and a part of what is below, stay in sight where there is room for them.
            let aside = all.width > 20 ? 3.0 : 1
            let size = presentedSize(in: Size(max(1, all.width - 2 * aside), max(1, all.height - 3)), style)
            let x = ((all.width - size.width) / 2).rounded(.down)
            return Rect(x, all.height - size.height - 1, size.width, size.height)
        case .alert:
            let edges = overlay?.hasBorder == true ? 2.0 : 0
            let size = presentedSize(in: Size(max(1, all.width - edges), max(1, all.height - edges)), style)
            let (x, y) = ((all.width - size.width) / 2, (all.height - size.height) / 2)
            return Rect(x.rounded(.down), y.rounded(.down), size.width, size.height)
        }
    }
}
