// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// What people bring from UIKit, and what it is called here. None of it can be called: the compiler names the remedy, and
// corrects the call where only names differ. Completion and documentation leave all of it out.

/// UIKit's `UITableViewCell`, which is not available here.
@available(*, unavailable, renamed: "TableCell")
public typealias TableViewCell = TableCell

extension Application {
    /// UIKit's `UIApplication.shared`, which is not available here.
    @available(*, unavailable, renamed: "current")
    public static var shared: Application { isNotCalled() }

    /// UIKit's `presentLocalNotificationNow(_:)`, which is not available here.
    @available(*, unavailable, renamed: "presentNotification(_:)")
    public func presentLocalNotificationNow(_ text: String) { isNotCalled() }
}

extension ViewController {
    /// UIKit's `present(_:animated:completion:)`, which is not available here.
    @available(*, unavailable, message: "Use present(_:style:).")
    public func present(_ controller: ViewController, animated: Bool, completion: (() -> Void)? = nil) { isNotCalled() }

    /// UIKit's `dismiss(animated:completion:)`, which is not available here.
    @available(*, unavailable, renamed: "dismiss()")
    public func dismiss(animated: Bool, completion: (() -> Void)? = nil) { isNotCalled() }

    /// UIKit's `removeFromParent()`, which is not available here.
    @available(*, unavailable, message: "Call removeChild(_:) of the parent.")
    public func removeFromParent() { isNotCalled() }
}

extension NavigationController {
    /// UIKit's `pushViewController(_:animated:)`, which is not available here.
    @available(*, unavailable, renamed: "push(_:animated:)")
    public func pushViewController(_ controller: ViewController, animated: Bool) { isNotCalled() }

    /// UIKit's `popViewController(animated:)`, which is not available here.
    @available(*, unavailable, renamed: "pop(animated:)")
    public func popViewController(animated: Bool) -> ViewController? { isNotCalled() }

    /// UIKit's `popToRootViewController(animated:)`, which is not available here.
    @available(*, unavailable, renamed: "popToRoot(animated:)")
    public func popToRootViewController(animated: Bool) -> [ViewController]? { isNotCalled() }
}

extension View {
    /// UIKit's `translatesAutoresizingMaskIntoConstraints`, which is not available here.
    @available(
        *, unavailable, message: "There are no constraints. Use a StackView, or give frames in layoutSubviews()."
    )
    public var translatesAutoresizingMaskIntoConstraints: Bool {
        get { isNotCalled() }
        set { isNotCalled() }
    }

    /// UIKit's `insertSubview(_:aboveSubview:)`, which is not available here.
    @available(*, unavailable, message: "Use insertSubview(_:at:).")
    public func insertSubview(_ view: View, aboveSubview other: View) { isNotCalled() }

    /// UIKit's `insertSubview(_:belowSubview:)`, which is not available here.
    @available(*, unavailable, message: "Use insertSubview(_:at:).")
    public func insertSubview(_ view: View, belowSubview other: View) { isNotCalled() }

    /// UIKit's `animate(withDuration:animations:completion:)`, which is not available here.
    @available(*, unavailable, message: "Give a Duration: View.animate(withDuration: .milliseconds(300)) { … }.")
    public static func animate(
        withDuration duration: Double, delay: Double = 0, options: AnimationOptions = [],
        animations: @escaping () -> Void, completion: ((Bool) -> Void)? = nil
    ) { isNotCalled() }
}

extension StackView {
    /// UIKit's `UIStackView(arrangedSubviews:)`, which is not available here.
    @available(
        *, unavailable, message: "Use StackView(.horizontal, [first, second]). Without an axis, a stack is vertical."
    )
    public convenience init(arrangedSubviews views: [View]) { isNotCalled() }
}

extension KeyCommand {
    /// UIKit's `UIKeyCommand(input:modifierFlags:action:)`, which is not available here.
    @available(*, unavailable, message: "Use KeyCommand(.character(\"q\"), modifiers: .control) { … }.")
    public init<Action>(input: String, modifierFlags: KeyModifiers, action: Action) { isNotCalled() }
}

extension GestureRecognizer {
    /// UIKit's `init(target:action:)`, which is not available here.
    @available(*, unavailable, message: "Use a closure, which receives the recogniser: TapGestureRecognizer { … }.")
    public convenience init<Target, Action>(target: Target, action: Action) { isNotCalled() }
}

// MARK: Controls

extension Control {
    /// UIKit's `addTarget(_:action:for:)`, which is not available here.
    @available(*, unavailable, message: "Use addAction(for:) with a closure, which receives the control.")
    public func addTarget<Target, Action>(_ target: Target, action: Action, for events: Events) { isNotCalled() }
}

extension Control.Events {
    /// UIKit's `editingDidEndOnExit`, which is not available here.
    @available(*, unavailable, renamed: "primaryAction")
    public static var editingDidEndOnExit: Control.Events { isNotCalled() }
}

extension Button {
    /// UIKit's `setTitle(_:for:)`, which is not available here.
    @available(*, unavailable, message: "Set title.")
    public func setTitle(_ title: String?, for state: Role) { isNotCalled() }
}

extension Label {
    /// UIKit's `textAlignment`, which is not available here.
    @available(*, unavailable, renamed: "alignment")
    public var textAlignment: TextAlignment {
        get { isNotCalled() }
        set { isNotCalled() }
    }

    /// UIKit's `textColor`, which is not available here.
    @available(*, unavailable, message: "Set style: Style(color).")
    public var textColor: Color {
        get { isNotCalled() }
        set { isNotCalled() }
    }
}

extension TextField {
    /// UIKit's `isSecureTextEntry`, which is not available here.
    @available(*, unavailable, renamed: "isSecure")
    public var isSecureTextEntry: Bool {
        get { isNotCalled() }
        set { isNotCalled() }
    }
}

extension Switch {
    /// UIKit's `setOn(_:animated:)`, which is not available here.
    @available(*, unavailable, message: "Set isOn.")
    public func setOn(_ isOn: Bool, animated: Bool) { isNotCalled() }
}

extension SegmentedControl {
    /// UIKit's `selectedSegmentIndex`, which is not available here.
    @available(*, unavailable, renamed: "selectedIndex")
    public var selectedSegmentIndex: Int {
        get { isNotCalled() }
        set { isNotCalled() }
    }
}

extension ProgressView {
    /// UIKit's `setProgress(_:animated:)`, which is not available here.
    @available(*, unavailable, message: "Set progress.")
    public func setProgress(_ progress: Double, animated: Bool) { isNotCalled() }
}

extension ImageView {
    /// UIKit's `image`, which is not available here.
    @available(*, unavailable, renamed: "picture")
    public var image: Picture? {
        get { isNotCalled() }
        set { isNotCalled() }
    }
}

extension Pasteboard {
    /// UIKit's `string`, which is not available here.
    @available(*, unavailable, renamed: "text")
    public var string: String? {
        get { isNotCalled() }
        set { isNotCalled() }
    }
}

// MARK: Tables and alerts

// Paths are generic: this module has no IndexPath.
extension TableView {
    /// UIKit's `register(_:forCellReuseIdentifier:)`, which is not available here.
    @available(*, unavailable, message: "Use register(TableCell.init, for: identifier).")
    public func register<Kind>(_ kind: Kind, forCellReuseIdentifier identifier: String) { isNotCalled() }

    /// UIKit's `dequeueReusableCell(withIdentifier:for:)`, which is not available here.
    @available(*, unavailable, message: "Use dequeueCell(for: identifier), or dequeueCell(Kind.self, for: identifier).")
    public func dequeueReusableCell<Path>(withIdentifier identifier: String, for path: Path) -> TableCell {
        isNotCalled()
    }

    /// UIKit's `dequeueReusableCell(withIdentifier:)`, which is not available here.
    @available(*, unavailable, message: "Use dequeueCell(for: identifier), or dequeueCell(Kind.self, for: identifier).")
    public func dequeueReusableCell(withIdentifier identifier: String) -> TableCell? { isNotCalled() }

    /// UIKit's `deselectRow(at:animated:)`, which is not available here.
    @available(*, unavailable, message: "Set selectedRow to nil.")
    public func deselectRow<Path>(at path: Path, animated: Bool) { isNotCalled() }

    /// UIKit's `indexPathForSelectedRow`, which is not available here.
    @available(*, unavailable, renamed: "selectedRow")
    public var indexPathForSelectedRow: Int? { isNotCalled() }
}

extension TableCell {
    /// UIKit's `textLabel`, which is not available here.
    @available(*, unavailable, message: "Set text.")
    public var textLabel: Label? { isNotCalled() }
}

extension AlertController {
    /// UIKit's `UIAlertController(title:message:preferredStyle:)`, which is not available here.
    @available(*, unavailable, message: "Use AlertController(title:message:); for an action sheet, a Menu.")
    public convenience init(title: String?, message: String?, preferredStyle: PresentationStyle) { isNotCalled() }

    /// UIKit's `addTextField(configurationHandler:)`, which is not available here.
    @available(*, unavailable, message: "Use addTextField(placeholder:), which returns the field.")
    public func addTextField(configurationHandler: ((TextField) -> Void)?) { isNotCalled() }
}

extension AlertAction {
    /// UIKit's `UIAlertAction(title:style:handler:)`, which is not available here.
    @available(*, unavailable, message: "Use AlertAction(\"Delete\", style: .destructive) { … }.")
    public convenience init(title: String?, style: Style, handler: ((AlertAction) -> Void)? = nil) { isNotCalled() }
}

// MARK: Rectangles

extension Rect {
    /// Core Graphics' `insetBy(dx:dy:)`, which is not available here.
    @available(*, unavailable, message: "Use inset(by:) with Insets.")
    public func insetBy(dx: Double, dy: Double) -> Rect { isNotCalled() }

    /// Core Graphics' `offsetBy(dx:dy:)`, which is not available here.
    @available(*, unavailable, message: "Use moved(by:) with a Point.")
    public func offsetBy(dx: Double, dy: Double) -> Rect { isNotCalled() }
}

private func isNotCalled() -> Never { fatalError("The compiler refuses each call of this.") }
