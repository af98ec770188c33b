// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Owns a view and what is behind it; its methods are called when the view appears and disappears.
@MainActor open class ViewController: Responder {
    /// What the controller shows, in words: the title of the terminal or window, for the root controller.
    public var title: String? { didSet { loadedView?.window?.application?.commit.markFrame() } }

    private var loadedView: View?
    private var appearance = Appearance.hidden
    /// The controllers whose views are inside this one's.
    public private(set) var children: [ViewController] = []
    /// The controller that this one is a child of.
    public private(set) weak var parent: ViewController?

    /// The size that the view wants when it is presented; the style decides where it is 0.
    ///
    /// A sheet takes all the room unless this is set. The sheet of this controller is as high as its content:
    ///
    /// ```swift
    /// let form = ViewController()
    /// let wanted = form.view.sizeThatFits(Size(width: 40, height: 20))
    /// form.preferredContentSize = Size(width: 40, height: wanted.height)
    /// ```
    public var preferredContentSize = Size.zero {
        didSet { if preferredContentSize != oldValue { loadedView?.superview?.setNeedsLayout() } }
    }
    /// The controller that this one has presented.
    public internal(set) var presentedViewController: ViewController?
    /// The controller that has presented this one.
    public internal(set) weak var presentingViewController: ViewController?

    public override init() { super.init() }

    open override var next: Responder? { loadedView?.superview }

    override var responderWindow: Window? { loadedView?.window }

    // MARK: View

    /// The view; the first look makes it.
    ///
    /// Another view comes to the place of the one before.
    public var view: View {
        get {
            if loadedView == nil {
                loadView()
                if loadedView != nil { viewDidLoad() }
            }
            guard let loadedView else { preconditionFailure("loadView() of \(self) has set no view.") }
            return loadedView
        }
        set {
            let old = loadedView
            if old === newValue { return }
            old?.controller = nil
            loadedView = newValue
            newValue.controller = self
            guard let old, let superview = old.superview,
                let index = superview.subviews.firstIndex(of: old)
            else { return }
            newValue.frame = old.frame
            superview.insertSubview(newValue, at: index)
            old.removeFromSuperview()
        }
    }

    /// Whether the view was made.
    public var isViewLoaded: Bool { loadedView != nil }

    /// Makes the view and sets `view`; a plain one unless overridden.
    open func loadView() { view = View() }

    /// The view was made.
    open func viewDidLoad() {}
    /// The view is about to be shown.
    open func viewWillAppear() {}
    /// The view is shown: with the next frame the user sees it.
    open func viewDidAppear() {}
    /// The view is about to go.
    open func viewWillDisappear() {}
    /// The view has gone.
    open func viewDidDisappear() {}
    /// The view is about to give its subviews their frames.
    open func viewWillLayoutSubviews() {}
    /// The view has given its subviews their frames.
    open func viewDidLayoutSubviews() {}

    // UIKit's spellings, for overrides that nobody would call. Methods of an extension cannot be overridden, and so the
    // compiler would not name the remedy.

    /// UIKit's `viewWillAppear(_:)`.
    @available(*, unavailable, renamed: "viewWillAppear()")
    open func viewWillAppear(_ animated: Bool) {}
    /// UIKit's `viewDidAppear(_:)`.
    @available(*, unavailable, renamed: "viewDidAppear()")
    open func viewDidAppear(_ animated: Bool) {}
    /// UIKit's `viewWillDisappear(_:)`.
    @available(*, unavailable, renamed: "viewWillDisappear()")
    open func viewWillDisappear(_ animated: Bool) {}
    /// UIKit's `viewDidDisappear(_:)`.
    @available(*, unavailable, renamed: "viewDidDisappear()")
    open func viewDidDisappear(_ animated: Bool) {}

    /// Whether the escape key leaves it presented; false unless set.
    public var isModalInPresentation = false

    /// The user wants to leave the presentation.
    func escapePresentation() { if !isModalInPresentation { dismiss() } }

    /// The size of the presented view, of the size that there is.
    func presentedSize(in available: Size) -> Size {
        let (wanted, all) = (preferredContentSize, available)
        return Size(
            wanted.width > 0 ? min(wanted.width, all.width) : all.width,
            wanted.height > 0 ? min(wanted.height, all.height) : all.height)
    }

    // MARK: Children

    /// Makes another controller a child; its view is to be added by the caller.
    public func addChild(_ child: ViewController) {
        child.parent?.removeChild(child)
        children.append(child)
        child.parent = self
        if appearance == .shown { child.appear() }
        // The second half comes with this controller's own.
        if appearance == .appearing { child.beginAppearing() }
    }

    /// Lets a child go; its view is to be removed by the caller.
    public func removeChild(_ child: ViewController) {
        guard let index = children.firstIndex(where: { $0 === child }) else { return }
        children.remove(at: index)
        child.parent = nil
        child.disappear()
    }

    func appear() {
        beginAppearing()
        finishAppearing()
    }

    func disappear() {
        beginDisappearing()
        finishDisappearing()
    }

    // Two steps each, since the calls of two controllers alternate when one covers the other.

    private enum Appearance {
        case hidden
        case appearing
        case shown
        case disappearing
    }

    func beginAppearing() {
        guard appearance == .hidden else { return }
        appearance = .appearing
        _ = view
        viewWillAppear()
        for child in children { child.beginAppearing() }
    }

    func finishAppearing() {
        guard appearance == .appearing else { return }
        appearance = .shown
        for child in children { child.finishAppearing() }
        viewDidAppear()
    }

    func beginDisappearing() {
        guard appearance == .shown else { return }
        appearance = .disappearing
        viewWillDisappear()
        for child in children { child.beginDisappearing() }
    }

    func finishDisappearing() {
        guard appearance == .disappearing else { return }
        appearance = .hidden
        for child in children { child.finishDisappearing() }
        viewDidDisappear()
    }
}
