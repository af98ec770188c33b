// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsTestSupport
import Testing

/// What somebody writes who knows UIKit: each line has an error that names the remedy.
@Suite(
    .ownThread,
    .enabled(if: Compiler()?.has(["LoopUI"]) ?? false, "there is no swiftc in PATH, or no modules beside the tests"))
struct UIKitSpellingTests {
    private static let spellings: [(line: String, says: String)] = [
        ("_ = Application.shared", "'shared' has been renamed to 'current'"),
        ("controller.present(controller, animated: true)", "Use present(_:style:)"),
        ("controller.present(controller, animated: true, completion: nil)", "Use present(_:style:)"),
        ("controller.dismiss(animated: true)", "has been renamed to 'dismiss()'"),
        ("controller.removeFromParent()", "Call removeChild(_:) of the parent"),
        ("view.translatesAutoresizingMaskIntoConstraints = false", "There are no constraints"),
        ("view.insertSubview(view, aboveSubview: view)", "Use insertSubview(_:at:)"),
        ("view.insertSubview(view, belowSubview: view)", "Use insertSubview(_:at:)"),
        ("View.animate(withDuration: 0.3) {}", "Give a Duration"),
        ("View.animate(withDuration: 0.3, animations: {}, completion: { _ in })", "Give a Duration"),
        ("navigation.pushViewController(controller, animated: true)", "has been renamed to 'push(_:animated:)'"),
        ("_ = navigation.popViewController(animated: true)", "has been renamed to 'pop(animated:)'"),
        ("_ = StackView(arrangedSubviews: [view])", "Use StackView(.horizontal, [first, second])"),
        ("_ = KeyCommand(input: \"q\", modifierFlags: [], action: 1)", "Use KeyCommand(.character(\"q\")"),
        ("_ = TapGestureRecognizer(target: view, action: 1)", "Use a closure, which receives the recogniser"),
        ("Button(\"\").addTarget(view, action: 1, for: .touchUpInside)", "Use addAction(for:) with a closure"),
        ("field.addAction(for: .editingDidEndOnExit) { _ in }", "has been renamed to 'primaryAction'"),
        ("Button(\"\").setTitle(\"Save\", for: .normal)", "Set title"),
        ("Label().textAlignment = .center", "'textAlignment' has been renamed to 'alignment'"),
        ("Label().textColor = .red", "Set style: Style(color)"),
        ("field.isSecureTextEntry = true", "'isSecureTextEntry' has been renamed to 'isSecure'"),
        ("Switch().setOn(true, animated: true)", "Set isOn"),
        ("_ = SegmentedControl([]).selectedSegmentIndex", "has been renamed to 'selectedIndex'"),
        ("ProgressView().setProgress(0.5, animated: true)", "Set progress"),
        ("_ = ImageView().image", "'image' has been renamed to 'picture'"),
        ("_ = Pasteboard.general.string", "'string' has been renamed to 'text'"),
        (
            "table.register(TableCell.self, forCellReuseIdentifier: \"\")",
            "Use register(TableCell.init, for: identifier)"
        ),
        ("_ = table.dequeueReusableCell(withIdentifier: \"\", for: 0)", "Use dequeueCell(for: identifier)"),
        ("_ = table.dequeueReusableCell(withIdentifier: \"\")", "Use dequeueCell(for: identifier)"),
        ("table.deselectRow(at: 0, animated: true)", "Set selectedRow to nil"),
        ("_ = table.indexPathForSelectedRow", "has been renamed to 'selectedRow'"),
        ("let cell: TableViewCell? = nil", "'TableViewCell' has been renamed to 'TableCell'"),
        ("TableCell().textLabel?.text = \"\"", "Set text"),
        (
            "_ = AlertController(title: \"\", message: \"\", preferredStyle: .alert)",
            "Use AlertController(title:message:)"
        ),
        ("alert.addTextField { $0.text = \"\" }", "Use addTextField(placeholder:), which returns the field"),
        ("alert.addAction(AlertAction(title: \"\", style: .cancel, handler: nil))", "Use AlertAction(\"Delete\""),
        ("_ = rect.insetBy(dx: 1, dy: 1)", "Use inset(by:) with Insets"),
        ("_ = rect.offsetBy(dx: 1, dy: 1)", "Use moved(by:) with a Point"),
    ]

    @Test func `An override in UIKit's spelling is refused with an error that names this package's spelling`() throws {
        let compiler = try #require(Compiler())
        let names = ["viewWillAppear", "viewDidAppear", "viewWillDisappear", "viewDidDisappear"]
        let overrides = names.map { "override func \($0)(_ animated: Bool) { super.\($0)(animated) }" }
        let refused = compiler.check(
            """
            import LoopUI
            final class Controller: ViewController {
            \(overrides.joined(separator: "\n"))
            }

            """)
        #expect(refused.status != 0)
        for (index, name) in names.enumerated() {
            let errors = refused.errors(inLine: index + 3)
            // One for the override, and one for the call of the superclass's.
            #expect(errors.filter { $0.contains("has been renamed to '\(name)()'") }.count == 2, "\(errors)")
        }
    }

    @Test func `A call in UIKit's spelling is refused with an error that names this package's spelling`() throws {
        let compiler = try #require(Compiler())
        let body = Self.spellings.map(\.line).joined(separator: "\n")
        let refused = compiler.check(
            """
            import LoopUI
            @MainActor func use(
                _ controller: ViewController, _ view: View, _ table: TableView, _ field: TextField, _ rect: Rect,
                _ alert: AlertController, _ navigation: NavigationController
            ) {
            \(body)
            }

            """)
        #expect(refused.status != 0)
        for (index, spelling) in Self.spellings.enumerated() {
            let errors = refused.errors(inLine: index + 6)
            #expect(errors.contains { $0.contains(spelling.says) }, "\(spelling.line): \(errors)")
        }
    }
}
