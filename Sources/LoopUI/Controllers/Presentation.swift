// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// How a controller is presented over another one.
public enum PresentationStyle: Hashable, Sendable {
    /// It fills the window; what is below disappears.
    case fullScreen
    /// It stands on the lower edge, inside a border, above what can still be seen.
    case sheet
    /// It stands in the middle, as small as it can be.
    case alert
}

extension ViewController {
    /// Shows a controller over this one until it is dismissed; meanwhile keys and touches reach it alone.
    ///
    /// The controller comes in front of all that is presented already. The life cycle calls of both alternate:
    /// if the style is ``PresentationStyle/fullScreen``, this one is about to disappear, the other appears, and this one
    /// has disappeared. Other styles leave this one where it is. The focus goes to the first view that can have it, and
    /// comes back at the end. The escape key dismisses what is not ``PresentationStyle/fullScreen``, unless
    /// ``isModalInPresentation`` is set.
    ///
    /// Corresponds to UIKit's `present(_:animated:completion:)`.
    ///
    /// - Parameters:
    ///   - controller: The controller to show.
    ///   - style: How it is shown; without one, an ``AlertController`` as an alert, and any other controller as a sheet.
    /// - Precondition: this controller's view is in a window, and the other one is not presented yet.
    public func present(_ controller: ViewController, style: PresentationStyle? = nil) {
        let style = style ?? (controller is AlertController ? .alert : .sheet)
        guard let window = view.window else {
            preconditionFailure("\(self) cannot present: its view is in no window. Present from viewDidAppear() on.")
        }
        precondition(
            controller.presentingViewController == nil && controller.view.window == nil,
            "\(controller) cannot be presented: it is shown already.")
        let presenter = frontmost
        presenter.presentedViewController = controller
        controller.presentingViewController = presenter
        let overlay = Overlay(
            controller.view, place: { [unowned controller] in controller.place(in: $0, style) },
            escaped: { [weak controller] in if style != .fullScreen { controller?.escapePresentation() } })
        overlay.hasBorder = style == .sheet
        let isCovered = style == .fullScreen
        if isCovered {
            overlay.backgroundColor = view.theme.background
            presenter.beginDisappearing()
        } else if controller.view.backgroundColor == .clear {
            controller.view.backgroundColor = view.theme.background
        }
        controller.beginAppearing()
        overlay.open(in: window)
        if window.firstResponder == nil { window.focusNext() }
        controller.finishAppearing()
        if isCovered { presenter.finishDisappearing() }
    }

    /// Ends a presentation: of the controller that this one has presented, or else of this one.
    ///
    /// Whatever is presented in front of it goes too. Nothing happens if there is no presentation.
    public func dismiss() {
        if presentedViewController != nil {
            dismissPresented()
        } else {
            presentingViewController?.dismissPresented()
        }
    }

    func dismissPresented() {
        guard let presented = presentedViewController else { return }
        presented.dismissPresented()
        presented.beginDisappearing()
        beginAppearing()
        (presented.view.superview as? Overlay)?.close()
        presentedViewController = nil
        presented.presentingViewController = nil
        finishAppearing()
        presented.finishDisappearing()
    }

    /// The controller in front of all others of this window.
    private var frontmost: ViewController {
        let root = sequence(first: self, next: { $0.parent }).reduce(self) { $1 }
        return sequence(first: root, next: { $0.presentedViewController }).reduce(root) { $1 }
    }

    private func place(in all: Size, _ style: PresentationStyle) -> Rect {
        switch style {
        case .fullScreen:
            return Rect(size: all)
        case .sheet:
            // A border around it, and a part of what is below, stay in sight where there is room for them.
            let aside = all.width > 20 ? 3.0 : 1
            let size = presentedSize(in: Size(max(1, all.width - 2 * aside), max(1, all.height - 3)))
            let x = ((all.width - size.width) / 2).rounded(.down)
            return Rect(x, all.height - size.height - 1, size.width, size.height)
        case .alert:
            let size = presentedSize(in: all)
            let (x, y) = ((all.width - size.width) / 2, (all.height - size.height) / 2)
            return Rect(x.rounded(.down), y.rounded(.down), size.width, size.height)
        }
    }
}
