// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// Owns a view and the data behind it; has methods that are called when the view appears and disappears.
@MainActor open class ViewController: Responder, ViewOwner {
    /// The title of the controller; the root controller's title is shown as the title of the terminal or window.
    ///
    /// A sheet shows the title in its border.
    public var title: String? {
        didSet {
            if title == oldValue { return }
            loadedView?.window?.application?.commit.markFrame()
            overlay?.setNeedsLayout()
            overlay?.setNeedsDisplay()
            (parent as? NavigationController)?.titleChanged(of: self)
        }
    }

    /// The view, if it was made.
    private(set) var loadedView: View?
    private var isLoading = false
    private(set) var appearance = Appearance.hidden
    /// The controllers whose views are inside this controller's view.
    public private(set) var children: [ViewController] = []
    /// The controller that this one is a child of.
    public private(set) weak var parent: ViewController?

    /// The size that the view wants when it is presented, in points; the style chooses a width or height that is 0.
    ///
    /// A sheet takes all the room unless this size is set; an alert takes as little as the view wants, or as its subviews
    /// take. The sheet of this example is as high as its content:
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
    /// The overlay that contains the view while the controller is presented.
    weak var overlay: Overlay?
    /// Whether the presenting controller disappears while this controller is presented.
    var coversPresenter = false
    /// The call that waits for the end of the presentation.
    var modalSession: ModalSession?
    /// Whether the dismissal is under way.
    var isBeingDismissed = false

    public override init() { super.init() }

    open override var next: Responder? { loadedView?.superview }

    override var responderWindow: Window? { loadedView?.window }

    // MARK: View

    /// The controller's view, which is made when it is first read.
    ///
    /// If another view is set, it replaces the view before, with the same superview and frame.
    public var view: View {
        get {
            if loadedView == nil {
                require(
                    !isLoading,
                    "loadView() of \(self) reads the view that it is to make: it sets view before it reads it.")
                isLoading = true
                loadView()
                isLoading = false
                if loadedView != nil { viewDidLoad() }
            }
            guard let loadedView else { preconditionFailure("loadView() of \(self) has set no view.") }
            return loadedView
        }
        set {
            let old = loadedView
            if old === newValue { return }
            old?.owner = nil
            loadedView = newValue
            newValue.owner = self
            guard let old, let superview = old.superview,
                let index = superview.subviews.firstIndex(of: old)
            else { return }
            newValue.frame = old.frame
            superview.insertSubview(newValue, at: index)
            if old.superview === superview, old !== loadedView { old.removeFromSuperview() }
        }
    }

    /// Whether the view was made.
    public var isViewLoaded: Bool { loadedView != nil }

    /// Makes the view and sets `view`; makes a plain view unless overridden.
    open func loadView() { view = View() }

    /// Called when the view was made.
    open func viewDidLoad() {}
    /// Called when the view is about to be shown.
    open func viewWillAppear() {}
    /// Called when the view is shown; the user sees it with the next frame.
    open func viewDidAppear() {}
    /// Called when the view is about to disappear.
    open func viewWillDisappear() {}
    /// Called when the view has disappeared.
    open func viewDidDisappear() {}
    /// Called when the view is to update its constraints; calls ``View/updateConstraints()`` unless overridden.
    ///
    /// An override calls `super`.
    open func updateViewConstraints() { loadedView?.updateConstraints() }
    /// Called when the view is about to give its subviews their frames.
    open func viewWillLayoutSubviews() {}
    /// Called when the view has given its subviews their frames.
    open func viewDidLayoutSubviews() {}

    /// Called when the view is about to get another size, because the display has; an override calls `super`.
    ///
    /// The call comes before the size changes, for the window's root controller, the controllers inside it and the
    /// controllers that they present. The layout follows in the next commit. Corresponds to UIKit's
    /// `viewWillTransition(to:with:)`.
    ///
    /// - Parameter size: The size that the controller's view will have; for a sheet or an alert, the size of the window.
    open func viewWillTransition(to size: Size) {
        for child in children where child.parent === self {
            child.viewWillTransition(to: transitionSize(of: child, size))
        }
    }

    /// Returns the size that a child's view will have; this controller's size unless overridden.
    func transitionSize(of child: ViewController, _ size: Size) -> Size { size }

    /// Calls ``viewWillTransition(to:)`` of this controller and of all controllers that are presented in front of it.
    func announceTransition(to size: Size) {
        let all = Array(sequence(first: self, next: { $0.presentedViewController }))
        for controller in all where controller.isViewLoaded { controller.viewWillTransition(to: size) }
    }

    // UIKit's spellings, for overrides that nobody would call. Methods of an extension cannot be overridden, and so the
    // compiler would not name the remedy.

    /// UIKit's `viewWillAppear(_:)`, which is not available here.
    @available(*, unavailable, renamed: "viewWillAppear()")
    open func viewWillAppear(_ animated: Bool) {}
    /// UIKit's `viewDidAppear(_:)`, which is not available here.
    @available(*, unavailable, renamed: "viewDidAppear()")
    open func viewDidAppear(_ animated: Bool) {}
    /// UIKit's `viewWillDisappear(_:)`, which is not available here.
    @available(*, unavailable, renamed: "viewWillDisappear()")
    open func viewWillDisappear(_ animated: Bool) {}
    /// UIKit's `viewDidDisappear(_:)`, which is not available here.
    @available(*, unavailable, renamed: "viewDidDisappear()")
    open func viewDidDisappear(_ animated: Bool) {}

    /// Whether the controller stays presented when the user presses the escape key; false unless set.
    ///
    /// An ``AlertController`` ignores it: there, escape chooses the cancel action.
    public var isModalInPresentation = false

    /// Called when the user wants to leave the presentation; dismisses the controller unless ``isModalInPresentation`` is
    /// set.
    func escapePresentation() { if !isModalInPresentation { dismiss() } }

    /// Returns the size of the presented view, at most the available size.
    func presentedSize(in available: Size, _ style: PresentationStyle) -> Size {
        let (wanted, all) = (preferredContentSize, available)
        // Below a title there is room for all of it.
        let least = style == .alert ? view.leastSize(in: all) : all
        let title = style == .alert ? Double((title ?? "").cellWidth + 4) : 0
        return Size(
            min(all.width, wanted.width > 0 ? wanted.width : max(least.width, title)),
            min(all.height, wanted.height > 0 ? wanted.height : least.height))
    }

    // MARK: Children

    /// Makes another controller a child; the caller adds the child's view.
    ///
    /// - Precondition: the child is not this controller, and does not contain it; controllers are nested at most 500
    ///   levels deep.
    public func addChild(_ child: ViewController) {
        let above = Array(sequence(first: self, next: { $0.parent }))
        require(
            !above.contains { $0 === child }, "A controller was added to itself, or to a controller inside it.")
        require(
            above.count + child.countLevels() <= View.maxLevels,
            "More than \(View.maxLevels) controllers would contain each other: add controllers beside each other instead."
        )
        let old = child.parent
        old?.children.removeAll { $0 === child }
        children.append(child)
        child.parent = self
        if old != nil { child.disappear() }
        // The calls of the child may have moved it on.
        guard child.parent === self else { return }
        guard forwardsAppearance(to: child) else { return }
        if appearance == .shown { child.appear() }
        // The second half comes with this controller's own.
        if appearance == .appearing { child.beginAppearing() }
    }

    /// Returns the number of levels of controllers, from this one inwards.
    private func countLevels() -> Int {
        var (count, level) = (0, [self])
        while !level.isEmpty {
            count += 1
            level = level.flatMap(\.children)
        }
        return count
    }

    /// Removes a child; the caller removes the child's view.
    public func removeChild(_ child: ViewController) {
        guard let index = children.firstIndex(where: { $0 === child }) else { return }
        children.remove(at: index)
        child.parent = nil
        child.disappear()
    }

    /// Whether a child appears and disappears together with this controller; true unless overridden.
    func forwardsAppearance(to child: ViewController) -> Bool { child.parent === self }

    func appear() {
        beginAppearing()
        finishAppearing()
    }

    func disappear() {
        beginDisappearing()
        finishDisappearing()
    }

    // Two steps each, since the calls of two controllers alternate when one covers the other. Each call may change what
    // the controller is about to do: an appearance that was begun can be turned round, as UIKit's can.

    enum Appearance: Equatable {
        case hidden
        /// The view is being made in order to appear: the program has received no call of the appearance yet.
        case loading(endsShown: Bool)
        case appearing
        case shown
        case disappearing
    }

    func beginAppearing() {
        guard appearance == .hidden || appearance == .disappearing else { return }
        var endsShown = false
        if !isViewLoaded {
            // The program's code runs here, and may cover this controller, remove it, or end the transition.
            appearance = .loading(endsShown: false)
            _ = view
            guard case .loading(let ends) = appearance else { return }
            endsShown = ends
        }
        appearance = .appearing
        viewWillAppear()
        for child in children where appearance == .appearing && forwardsAppearance(to: child) { child.beginAppearing() }
        if endsShown { finishAppearing() }
    }

    func finishAppearing() {
        if case .loading = appearance { appearance = .loading(endsShown: true) }
        guard appearance == .appearing else { return }
        appearance = .shown
        for child in children where appearance == .shown && forwardsAppearance(to: child) { child.finishAppearing() }
        if appearance == .shown { viewDidAppear() }
    }

    func beginDisappearing() {
        if case .loading = appearance { appearance = .hidden }
        guard appearance == .shown || appearance == .appearing else { return }
        appearance = .disappearing
        viewWillDisappear()
        for child in children where appearance == .disappearing && forwardsAppearance(to: child) {
            child.beginDisappearing()
        }
    }

    func finishDisappearing() {
        guard appearance == .disappearing else { return }
        appearance = .hidden
        for child in children where appearance == .hidden && forwardsAppearance(to: child) {
            child.finishDisappearing()
        }
        if appearance == .hidden { viewDidDisappear() }
    }
}

extension View {
    /// The controller whose root view this is; nil if there is none.
    public var controller: ViewController? { owner as? ViewController }
}

extension Window {
    /// The controller whose view fills the window.
    public var rootViewController: ViewController? {
        get { rootOwner as? ViewController }
        set { rootOwner = newValue }
    }
}
