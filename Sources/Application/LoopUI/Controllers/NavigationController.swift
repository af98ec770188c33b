// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// Shows the last controller of a stack, below a bar with its title and a back button.
///
/// The user goes back by the bar's button, by a drag from the left edge, or by the escape key.
///
/// ```swift
/// let navigation = NavigationController(rootViewController: controller)
/// controller.navigationController?.push(ViewController())
/// navigation.pop()
/// ```
///
/// The calls come in UIKit's order. On a push, `viewWillDisappear` of the old controller, `viewWillAppear` of the new
/// controller and the delegate's `willShow` are called; after the animation, `viewDidDisappear` of the old controller,
/// `viewDidAppear` of the new controller and `didShow`. A pop has the same order.
@MainActor open class NavigationController: ViewController, GestureRecognizerDelegate {
    /// The controllers on the stack; the last one is shown.
    public private(set) var viewControllers: [ViewController] = []
    /// The controller that is shown, or is about to be.
    public var topViewController: ViewController? { viewControllers.last }
    /// The delegate, which is called before and after a controller is shown.
    public weak var delegate: (any NavigationControllerDelegate)?
    /// The bar with the title and the back button.
    public let navigationBar = NavigationBar()
    /// Whether the bar is hidden; false unless set.
    public var isNavigationBarHidden = false {
        didSet {
            navigationBar.isHidden = isNavigationBarHidden
            loadedView?.setNeedsLayout()
        }
    }
    /// Recognises the drag from the left edge that goes back.
    public let interactivePopGestureRecognizer = PanGestureRecognizer()
    /// The distance from the left edge within which a drag that goes back begins, in points.
    static let edgeWidth = 3.0
    /// The duration of the animation of a push or a pop.
    static let duration = Duration.milliseconds(250)

    /// The view that contains the views of the controllers.
    let content = View()
    private var transition: NavigationTransition?
    /// The views that were first responder when their controllers were covered, by controller.
    private var responders: [ObjectIdentifier: WeakResponder] = [:]

    private struct WeakResponder {
        weak var responder: Responder?
    }

    /// Makes a stack of one controller.
    ///
    /// - Precondition: the controller has no parent, is not presented, and is not a navigation controller.
    public init(rootViewController: ViewController) {
        super.init()
        content.clipsToBounds = true
        navigationBar.backButton.addAction { [weak self] _ in self?.pop() }
        interactivePopGestureRecognizer.delegate = self
        interactivePopGestureRecognizer.addAction { [weak self] _ in self?.swiped() }
        adopt(rootViewController)
        viewControllers = [rootViewController]
        stackChanged()
    }

    open override func loadView() {
        let view = NavigationView(self)
        view.addSubview(content)
        view.addSubview(navigationBar)
        view.addGestureRecognizer(interactivePopGestureRecognizer)
        self.view = view
        showTopView()
    }

    // MARK: The stack

    /// Puts a controller on the stack, and shows it.
    ///
    /// Corresponds to UIKit's `pushViewController(_:animated:)`.
    ///
    /// - Parameters:
    ///   - controller: The controller.
    ///   - animated: Whether the controller's view moves in from the right.
    /// - Precondition: the controller has no parent, is not presented, and is not a navigation controller.
    public func push(_ controller: ViewController, animated: Bool = true) {
        finishTransition()
        let old = topViewController
        adopt(controller)
        viewControllers.append(controller)
        go(from: old, to: controller, removing: [], isBack: false, animated: animated)
    }

    /// Removes the last controller from the stack, and shows the one before; nothing happens if there is only one.
    ///
    /// Corresponds to UIKit's `popViewController(animated:)`.
    ///
    /// - Returns: The controller that was removed; nil if there was only one.
    @discardableResult
    public func pop(animated: Bool = true) -> ViewController? {
        finishTransition()
        guard viewControllers.count > 1 else { return nil }
        return remove(from: viewControllers.count - 1, animated: animated).last
    }

    /// Removes all controllers except the first from the stack.
    ///
    /// - Returns: The controllers that were removed.
    @discardableResult
    public func popToRoot(animated: Bool = true) -> [ViewController] {
        finishTransition()
        return remove(from: 1, animated: animated)
    }

    /// Removes all controllers above a controller from the stack.
    ///
    /// - Returns: The controllers that were removed.
    /// - Precondition: the controller is on the stack.
    @discardableResult
    public func pop(to controller: ViewController, animated: Bool = true) -> [ViewController] {
        finishTransition()
        guard let index = viewControllers.firstIndex(where: { $0 === controller }) else {
            preconditionFailure("\(controller) is not on the stack of \(self): pop to one of its viewControllers.")
        }
        return remove(from: index + 1, animated: animated)
    }

    private func remove(from index: Int, animated: Bool) -> [ViewController] {
        guard index < viewControllers.count else { return [] }
        let old = topViewController
        let removed = Array(viewControllers[index...])
        viewControllers.removeSubrange(index...)
        go(from: old, to: viewControllers[index - 1], removing: removed, isBack: true, animated: animated)
        return removed
    }

    private func adopt(_ controller: ViewController) {
        require(
            controller.parent == nil && controller.presentingViewController == nil,
            "\(controller) cannot be put on a navigation stack: it is shown elsewhere. Take it out there before.")
        require(
            !(controller is NavigationController), "A navigation controller cannot be put on the stack of another one.")
        addChild(controller)
    }

    // MARK: Appearance

    /// Whether a child appears and disappears with this controller: the top controller does, except during a transition,
    /// which makes the calls itself.
    override func forwardsAppearance(to child: ViewController) -> Bool {
        child === topViewController && child.parent === self && transition == nil
    }

    override func beginDisappearing() {
        finishTransition()
        super.beginDisappearing()
    }

    /// Whether the user sees this controller, or is about to.
    private var isSeen: Bool { appearance == .shown || appearance == .appearing }

    private func go(
        from old: ViewController?, to new: ViewController, removing removed: [ViewController], isBack: Bool,
        animated: Bool
    ) {
        let transition = NavigationTransition(old, new, removed, isBack: isBack)
        self.transition = transition
        stackChanged()
        begin(transition)
        // The calls of the controllers may have begun another transition, or ended this one.
        guard self.transition === transition else { return }
        guard animated, appearance == .shown else { return finishTransition() }
        place(transition, progress: 0)
        animate(transition, to: 1) { [weak self] in if self?.transition === transition { self?.finishTransition() } }
    }

    /// Calls the controllers and the delegate at the beginning of a transition, and adds the new controller's view.
    private func begin(_ transition: NavigationTransition) {
        guard isViewLoaded else { return }
        keepResponder(of: transition.old)
        if isSeen { transition.old?.beginDisappearing() }
        if isSeen, self.transition === transition { transition.new.beginAppearing() }
        guard self.transition === transition else { return }
        delegate?.navigationController(self, willShow: transition.new)
        guard self.transition === transition else { return }
        for controller in [transition.old, transition.new] {
            if let view = controller?.view, view.backgroundColor == .clear {
                view.backgroundColor = self.view.theme.background
            }
        }
        let view = transition.new.view
        content.insertSubview(view, at: transition.isBack ? 0 : content.subviews.count)
        view.frame = Rect(size: content.frame.size)
        if let window = content.window, let old = transition.old?.loadedView { window.takeKeys(from: old) }
    }

    /// Ends a transition under way at once, with the outcome that it goes to.
    private func finishTransition() {
        guard let transition else { return }
        switch transition.outcome {
        case .completed: completeTransition(transition)
        case .reverted: revertTransition(transition)
        }
    }

    /// Ends a transition: the new controller is shown.
    private func completeTransition(_ transition: NavigationTransition) {
        self.transition = nil
        for controller in transition.removed { responders[ObjectIdentifier(controller)] = nil }
        showTopView()
        if isViewLoaded { transition.old?.finishDisappearing() }
        for controller in transition.removed where controller.parent === self { removeChild(controller) }
        guard isViewLoaded, transition.new === topViewController, self.transition == nil else { return }
        // The second half comes with this controller's own, if that is still to come.
        if appearance == .shown { transition.new.finishAppearing() }
        giveKeys(to: transition.new)
        delegate?.navigationController(self, didShow: transition.new)
    }

    /// Ends a transition that the user has given up: the old controller is shown again.
    private func revertTransition(_ transition: NavigationTransition) {
        guard let old = transition.old else { return }
        // A call below may end the transition again, and then does the rest.
        if !transition.isReverting {
            transition.isReverting = true
            viewControllers += transition.removed
            stackChanged()
            if isSeen { transition.new.beginDisappearing() }
            if isSeen, self.transition === transition { old.beginAppearing() }
            guard self.transition === transition else { return }
        }
        self.transition = nil
        showTopView()
        transition.new.finishDisappearing()
        if appearance == .shown, old === topViewController { old.finishAppearing() }
        giveKeys(to: old)
    }

    /// Makes the top controller's view the only one in ``content``.
    private func showTopView() {
        guard isViewLoaded, let view = topViewController?.view else { return }
        for other in content.subviews where other !== view { other.removeFromSuperview() }
        if view.superview !== content { content.addSubview(view) }
        view.frame = Rect(size: content.frame.size)
    }

    private func stackChanged() {
        title = topViewController?.title
        navigationBar.show(
            title ?? "", back: viewControllers.count > 1 ? viewControllers[viewControllers.count - 2].title ?? "" : nil)
    }

    func titleChanged(of controller: ViewController) {
        if viewControllers.suffix(2).contains(controller) { stackChanged() }
    }

    // MARK: Keys

    private func keepResponder(of controller: ViewController?) {
        guard let controller, let view = controller.loadedView, let responder = content.window?.firstResponder as? View,
            responder.isInside(view)
        else { return }
        responders[ObjectIdentifier(controller)] = WeakResponder(responder: responder)
    }

    private func giveKeys(to controller: ViewController) {
        guard let window = content.window, window.firstResponder == nil else { return }
        let kept = responders.removeValue(forKey: ObjectIdentifier(controller))?.responder
        if let kept, window.makeFirstResponder(kept) { return }
        window.focusNext()
    }

    /// Goes back when the escape key is pressed, unless an earlier responder has used the key.
    open override func pressesBegan(_ presses: Set<Press>, with event: Event?) {
        let isBack = presses.contains { $0.key == .escape && $0.modifiers.isEmpty }
        if isBack, viewControllers.count > 1 { pop() } else { super.pressesBegan(presses, with: event) }
    }

    // MARK: Movement

    private func place(_ transition: NavigationTransition, progress: Double) {
        let all = Rect(size: content.frame.size)
        // The view that is behind moves a third of the way, as UIKit's does.
        let (front, back) = transition.isBack ? (progress, (progress - 1) / 3) : (1 - progress, -progress / 3)
        let (upper, lower) = transition.isBack ? (transition.old, transition.new) : (transition.new, transition.old)
        upper?.view.frame = all.moved(by: Point((all.width * front).rounded(), 0))
        lower?.view.frame = all.moved(by: Point((all.width * back).rounded(), 0))
    }

    private func animate(_ transition: NavigationTransition, to progress: Double, completion: @escaping () -> Void) {
        View.animate(
            withDuration: Self.duration, animations: { place(transition, progress: progress) },
            completion: { _ in completion() })
    }

    /// Whether a gesture may begin: the drag that goes back must begin at the left edge, with another controller below
    /// the top one.
    open func gestureRecognizerShouldBegin(_ recognizer: GestureRecognizer) -> Bool {
        guard recognizer === interactivePopGestureRecognizer else { return true }
        let way = interactivePopGestureRecognizer.translation(in: view)
        let start = recognizer.location(in: view) - way
        return viewControllers.count > 1 && transition == nil && appearance == .shown && start.x < Self.edgeWidth
            && way.x > abs(way.y)
    }

    private func swiped() {
        let recognizer = interactivePopGestureRecognizer
        switch recognizer.state {
        case .began:
            guard transition == nil, viewControllers.count > 1, let old = viewControllers.popLast() else { return }
            let transition = NavigationTransition(old, viewControllers[viewControllers.count - 1], [old], isBack: true)
            transition.isInteractive = true
            // As long as the user has not gone far enough: other code that ends the transition ends the drag.
            transition.outcome = .reverted
            self.transition = transition
            stackChanged()
            begin(transition)
            follow()
        case .changed: follow()
        case .ended:
            follow()
            let isFar = progress > 0.5 || recognizer.velocity(in: view).x > content.frame.width
            endSwipe(goesBack: isFar)
        case .cancelled: endSwipe(goesBack: false)
        case .possible, .failed: break
        }
    }

    private var progress: Double {
        let width = max(1, content.frame.width)
        return min(1, max(0, interactivePopGestureRecognizer.translation(in: view).x / width))
    }

    private func follow() {
        guard let transition, transition.isInteractive else { return }
        place(transition, progress: progress)
    }

    private func endSwipe(goesBack: Bool) {
        guard let transition, transition.isInteractive else { return }
        transition.isInteractive = false
        transition.outcome = goesBack ? .completed : .reverted
        animate(transition, to: goesBack ? 1 : 0) { [weak self] in
            if self?.transition === transition { self?.finishTransition() }
        }
    }

    // MARK: Size

    override func transitionSize(of child: ViewController, _ size: Size) -> Size {
        Size(size.width, max(0, size.height - (isNavigationBarHidden ? 0 : 1)))
    }

    fileprivate func layOut(in size: Size) {
        let height = isNavigationBarHidden ? 0.0 : 1
        navigationBar.frame = Rect(0, 0, size.width, height)
        content.frame = Rect(0, height, size.width, max(0, size.height - height))
        if let transition, transition.isInteractive { return follow() }
        topViewController?.loadedView?.frame = Rect(size: content.frame.size)
    }
}

extension ViewController {
    /// The navigation controller whose stack contains this controller or one of its parents; nil if there is none.
    public var navigationController: NavigationController? {
        sequence(first: self, next: { $0.parent }).dropFirst().lazy.compactMap { $0 as? NavigationController }.first
    }
}

/// The methods that a navigation controller calls before and after it shows a controller; all are optional.
@MainActor public protocol NavigationControllerDelegate: AnyObject {
    /// Called when a controller is about to be shown.
    func navigationController(_ navigationController: NavigationController, willShow controller: ViewController)
    /// Called when a controller is shown.
    func navigationController(_ navigationController: NavigationController, didShow controller: ViewController)
}

extension NavigationControllerDelegate {
    /// Does nothing.
    public func navigationController(_ navigationController: NavigationController, willShow controller: ViewController)
    {}
    /// Does nothing.
    public func navigationController(_ navigationController: NavigationController, didShow controller: ViewController) {
    }
}

/// A push or a pop under way.
@MainActor private final class NavigationTransition {
    let old: ViewController?
    let new: ViewController
    /// The controllers that have left the stack.
    let removed: [ViewController]
    let isBack: Bool
    /// Whether a finger moves the views.
    var isInteractive = false
    /// How the transition ends, whoever ends it.
    var outcome = Outcome.completed
    /// Whether the removed controllers are on the stack again.
    var isReverting = false

    enum Outcome {
        /// The new controller is shown.
        case completed
        /// The old controller is shown again.
        case reverted
    }

    init(_ old: ViewController?, _ new: ViewController, _ removed: [ViewController], isBack: Bool) {
        self.old = old
        self.new = new
        self.removed = removed
        self.isBack = isBack
    }
}

/// The view of a navigation controller.
@MainActor private final class NavigationView: View {
    private weak var navigation: NavigationController?

    init(_ navigation: NavigationController) {
        self.navigation = navigation
        super.init()
    }
    override func layoutSubviews() { navigation?.layOut(in: frame.size) }
}
