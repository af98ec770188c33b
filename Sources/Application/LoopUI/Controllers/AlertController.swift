// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// An action that the user can choose in an alert.
@MainActor public final class AlertAction {
    /// The style of an action, which says how serious the action is.
    public enum Style: Hashable, Sendable {
        /// The action has no special meaning.
        case `default`
        /// The action leaves everything as it is; the escape key chooses it.
        case cancel
        /// The action does something that cannot be undone.
        case destructive
    }

    /// The title of the action's button.
    public let title: String
    /// The style of the action.
    public let style: Style
    /// Whether the user can choose the action.
    public var isEnabled = true { didSet { button?.isEnabled = isEnabled } }
    fileprivate let handler: () -> Void
    fileprivate weak var button: Button?

    /// Makes an action with a title and a closure.
    ///
    /// - Parameters:
    ///   - title: The title of the action's button.
    ///   - style: The style of the action.
    ///   - handler: Called when the user has chosen the action, after the alert was dismissed.
    public init(_ title: String, style: Style = .default, handler: @escaping () -> Void = {}) {
        self.title = title
        self.style = style
        self.handler = handler
    }
}

/// Asks the user a question, in the middle of the window.
///
/// Enter chooses the action that has the focus. The focus begins at the preferred action, or else at the first action of
/// the default style, or else at the first cancel action. Escape chooses the cancel action, or the only action.
///
/// ```swift
/// let alert = AlertController(title: "Delete the file?", message: "Nothing brings it back.")
/// alert.addAction(AlertAction("Delete", style: .destructive) { document.delete() })
/// alert.addAction(AlertAction("Keep", style: .cancel))
/// controller.present(alert)
/// ```
@MainActor public final class AlertController: ViewController {
    /// The message of the alert.
    public let message: String
    /// The actions, in the order of their buttons.
    public private(set) var actions: [AlertAction] = []
    /// The text fields, in order.
    public private(set) var textFields: [TextField] = []
    /// The action that has the focus first, and that Enter in a text field chooses.
    public var preferredAction: AlertAction?
    /// The action that was chosen last.
    public internal(set) var chosenAction: AlertAction?
    private let buttons = StackView(.horizontal, spacing: 2)

    /// Makes an alert without actions.
    public init(title: String, message: String = "") {
        self.message = message
        super.init()
        self.title = title
    }

    /// Adds an action; its button is placed after the others.
    public func addAction(_ action: AlertAction) {
        actions.append(action)
        let button = Button(action.title) { [weak self] _ in self?.choose(action) }
        button.role = action.style == .destructive ? .destructive : .normal
        button.isEnabled = action.isEnabled
        action.button = button
        buttons.addArrangedSubview(button)
    }

    /// Adds a text field below the message; the first one gets the focus.
    ///
    /// Enter in the field chooses the action that would have the focus if the alert had no fields.
    ///
    /// - Precondition: the alert was not presented yet.
    @discardableResult
    public func addTextField(placeholder: String = "") -> TextField {
        require(!isViewLoaded, "A text field was added to an alert that was shown already: add it before.")
        let field = TextField(placeholder: placeholder) { [weak self] _ in self?.firstAction?.button?.tap() }
        textFields.append(field)
        return field
    }

    private var firstAction: AlertAction? {
        preferredAction ?? actions.first { $0.style == .default } ?? actions.first { $0.style == .cancel }
    }

    public override func loadView() {
        let box = AlertBox(axis: .vertical)
        box.padding = Insets(top: 1, left: 2, bottom: 1, right: 2)
        let heading = Label(title ?? "", lines: 0, style: Style(.default, .bold))
        heading.alignment = .center
        box.addArrangedSubview(heading)
        if !message.isEmpty {
            let text = Label(message, lines: 0)
            text.alignment = .center
            // The message gives way where there is too little room: never a button.
            box.addArrangedSubview(text, flex: 1)
        }
        for field in textFields { box.addArrangedSubview(field) }
        box.addArrangedSubview(Label())
        box.addArrangedSubview(buttons)
        view = box
    }

    public override func viewDidAppear() {
        let first: Control? = textFields.first ?? firstAction?.button
        first?.becomeFirstResponder()
    }

    private func choose(_ action: AlertAction) {
        chosenAction = action
        endPresentation()
        action.handler()
    }

    override func escapePresentation() {
        let way = actions.first { $0.style == .cancel } ?? (actions.count == 1 ? actions.first : nil)
        if let way, way.isEnabled { choose(way) }
    }

    override func presentedSize(in available: Size, _ style: PresentationStyle) -> Size {
        // Lines of more than 60 cells are hard to read.
        let room = Size(min(available.width, 60), available.height)
        let titles = actions.map { $0.title.cellWidth + 4 }
        let isRow = Double(titles.reduce(0, +) + 2 * max(0, titles.count - 1)) <= room.width - 4
        buttons.axis = isRow ? .horizontal : .vertical
        buttons.spacing = isRow ? 2 : 0
        buttons.distribution = isRow ? .fillEqually : .fill
        let wanted = view.sizeThatFits(room)
        return Size(min(room.width, max(wanted.width, 20)), wanted.height)
    }
}

/// The stack inside a border.
private final class AlertBox: StackView {
    init(axis: Axis) { super.init(axis) }

    override func draw(in canvas: inout Canvas) { drawBox(around: canvas.bounds, theme.border, in: &canvas) }

    override var accessibilityRole: String? { "alert" }
}
