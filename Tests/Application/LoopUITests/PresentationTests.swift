// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import Testing

/// A controller that writes down what happens to it.
@MainActor private final class Witness: ViewController {
    let name: String
    private let log: (String) -> Void
    let button: Button
    private(set) var taps = 0

    init(_ name: String, log: @escaping (String) -> Void = { _ in }) {
        self.name = name
        self.log = log
        button = Button(name).at(0, 0, 10)
        super.init()
        button.addAction { [weak self] _ in self?.taps += 1 }
    }

    override func loadView() {
        view = View()
        view.addSubview(button)
    }
    override func viewWillAppear() { log("\(name) will appear") }
    override func viewDidAppear() { log("\(name) did appear") }
    override func viewWillDisappear() { log("\(name) will disappear") }
    override func viewDidDisappear() { log("\(name) did disappear") }
    override func pressesBegan(_ presses: Set<Press>, with event: Event?) {
        log("\(name) \(presses.map(\.key))")
        super.pressesBegan(presses, with: event)
    }
}

@MainActor @Suite struct PresentationTests {
    @Test func `A full-screen presentation alternates the appearance calls of both controllers`() throws {
        try TestApplication.with(size: Size(20, 5)) { app in
            var log: [String] = []
            let (first, second) = (Witness("first") { log.append($0) }, Witness("second") { log.append($0) })
            app.show(first)
            #expect(log == ["first will appear", "first did appear"])
            log = []
            first.present(second, style: .fullScreen)
            app.settle()
            #expect(
                log == ["first will disappear", "second will appear", "second did appear", "first did disappear"])
            #expect(app.text == "[ second ]\n\n\n\n\n")
            #expect(first.presentedViewController === second && second.presentingViewController === first)
            log = []
            second.dismiss()
            app.settle()
            #expect(
                log == ["second will disappear", "first will appear", "first did appear", "second did disappear"])
            #expect(app.text == "[ first  ]\n\n\n\n\n")
            #expect(first.presentedViewController == nil && second.presentingViewController == nil)
            log = []
            second.dismiss()
            #expect(log == [])
        }
    }

    @Test func `A child added in its parent's viewWillAppear appears with the parent`() throws {
        try TestApplication.with(size: Size(20, 5)) { app in
            var log: [String] = []
            let child = Witness("child") { log.append($0) }
            var parent: Witness?
            parent = Witness("parent") {
                log.append($0)
                if $0 == "parent will appear" { parent?.addChild(child) }
            }
            if let parent { app.show(parent) }
            #expect(log == ["parent will appear", "child will appear", "child did appear", "parent did appear"])
            parent?.removeChild(child)
            #expect(log.suffix(2) == ["child will disappear", "child did disappear"])
        }
    }

    @Test func `A sheet leaves the presenting view visible and does not make its controller disappear`() throws {
        try TestApplication.with(size: Size(30, 6)) { app in
            var log: [String] = []
            let (first, second) = (Witness("first") { log.append($0) }, Witness("second") { log.append($0) })
            app.show(first)
            log = []
            second.preferredContentSize = Size(12, 2)
            first.present(second)
            app.settle()
            #expect(log == ["second will appear", "second did appear"])
            #expect(
                app.text
                    == "[ first  ]\n\n        ╭────────────╮\n        │[ second ]  │\n        │            │\n        ╰────────────╯\n"
            )
            second.preferredContentSize = .zero
            app.settle()
            #expect(second.view.frame == Rect(3, 2, 24, 3))
            app.display.resize(to: Size(18, 4))
            app.settle()
            #expect(second.view.frame == Rect(1, 2, 16, 1))
            log = []
            app.press(.escape)
            #expect(log.contains("second will disappear") && !log.contains("first will appear"))
            #expect(first.presentedViewController == nil)
        }
    }

    @Test func `Escape does not dismiss a modal sheet`() throws {
        try TestApplication.with(size: Size(30, 6)) { app in
            let (first, second) = (Witness("first"), Witness("second"))
            app.show(first)
            second.isModalInPresentation = true
            first.present(second)
            app.press(.escape)
            #expect(first.presentedViewController === second)
        }
    }

    @Test(arguments: [PresentationStyle.sheet, .alert, .fullScreen])
    func `Escape dismisses a presentation that does not fill the window`(style: PresentationStyle) throws {
        try TestApplication.with(size: Size(30, 6)) { app in
            let (first, second) = (Witness("first"), Witness("second"))
            app.show(first)
            first.present(second, style: style)
            app.press(.escape)
            #expect((first.presentedViewController === second) == (style == .fullScreen))
        }
    }

    @Test func `A controller presented as an alert is as small as its view, in the middle, with a border`() throws {
        try TestApplication.with(size: Size(30, 6)) { app in
            let (first, second) = (Witness("first"), Witness("second"))
            app.show(first)
            first.present(second, style: .alert)
            app.settle()
            #expect(
                app.text == """
                    [ first  ]
                             ╭──────────╮
                             │[ second ]│
                             ╰──────────╯



                    """)
            second.title = "Rename it"
            app.settle()
            #expect(app.line(1) == "       ╭─ Rename it ─╮")
            let stack = ViewController()
            stack.view = StackView(.vertical, [Label("one"), Label("two words")])
            second.dismiss()
            first.present(stack, style: .alert)
            app.settle()
            #expect(stack.view.frame.size == Size(9, 2))
            #expect(stack.view.frame.origin == Point(10, 2))
            stack.preferredContentSize = Size(20, 3)
            app.settle()
            #expect(stack.view.frame == Rect(5, 1, 20, 3))
        }
    }

    @Test func `A sheet shows its controller's title in the border and shortens a long title`() throws {
        try TestApplication.with(size: Size(30, 6)) { app in
            let (first, second) = (Witness("first"), Witness("second"))
            app.show(first)
            second.preferredContentSize = Size(12, 2)
            second.title = "Find"
            let window = first.view.window
            first.present(second)
            app.settle()
            #expect(app.line(2) == "        ╭─ Find ─────╮")
            #expect(window?.accessibilityDescription.first == "Find")
            second.title = "Find and replace"
            app.settle()
            #expect(app.line(2) == "        ╭─ Find an… ─╮")
            second.title = nil
            app.settle()
            #expect(app.line(2) == "        ╭────────────╮")
            second.title = "Find"
            app.display.abilities.isLinear = true
            app.display.resize(to: Size(28, 6))
            app.settle()
            #expect(app.line(2) == " Find")
        }
    }

    @Test func `Touches, keys and focus stay in the presented controller, and its dismissal restores the focus`() throws
    {
        try TestApplication.with(size: Size(30, 6)) { app in
            var log: [String] = []
            let (first, second) = (Witness("first") { log.append($0) }, Witness("second"))
            let window = app.show(first)
            first.button.becomeFirstResponder()
            second.preferredContentSize = Size(12, 2)
            first.present(second)
            app.settle()
            #expect(window.firstResponder === second.button)
            log = []
            app.tap(at: Point(1, 0))
            app.press(.tab, .up, .character("x"))
            #expect(first.taps == 0)
            #expect(log == [])
            #expect(window.firstResponder === second.button)
            app.press(.enter)
            #expect(second.taps == 1)
            second.dismiss()
            #expect(window.firstResponder === first.button)
            app.tap(at: Point(1, 0))
            #expect(first.taps == 1)
        }
    }

    @Test func `The focus does not return to a removed view`() throws {
        try TestApplication.with(size: Size(30, 6)) { app in
            let (first, second) = (Witness("first"), Witness("second"))
            let window = app.show(first)
            first.button.becomeFirstResponder()
            first.present(second)
            first.button.removeFromSuperview()
            second.dismiss()
            #expect(window.firstResponder == nil)
        }
    }

    @Test func `Controllers presented on each other are dismissed together`() throws {
        try TestApplication.with(size: Size(30, 6)) { app in
            var log: [String] = []
            let names = ["first", "second", "third"]
            let all = names.map { Witness($0) { log.append($0) } }
            let child = ViewController()
            app.show(all[0])
            all[0].addChild(child)
            all[0].view.addSubview(child.view)
            all[0].present(all[1])
            // From a child of the controller below: in front of all.
            child.present(all[2])
            #expect(all[2].presentingViewController === all[1])
            log = []
            all[0].dismiss()
            #expect(
                log.filter { $0.contains("disappear") } == [
                    "third will disappear", "third did disappear", "second will disappear", "second did disappear",
                ])
            #expect(all[0].presentedViewController == nil && all[1].presentedViewController == nil)
        }
    }

    @Test func `Closing a window or replacing its root controller dismisses the presented controller first`() throws {
        try TestApplication.with(size: Size(30, 6)) { app in
            var log: [String] = []
            let (first, second) = (Witness("first"), Witness("second") { log.append($0) })
            let window = app.show(first)
            first.present(second)
            window.rootViewController = Witness("third")
            #expect(log.last == "second did disappear")
            #expect(second.view.window == nil)
            window.rootViewController?.present(second)
            window.close()
            #expect(log.last == "second did disappear")
            #expect(second.presentingViewController == nil)
        }
    }

    @Test func `A dismissed controller is released`() throws {
        try TestApplication.with(size: Size(30, 6)) { app in
            let first = Witness("first")
            app.show(first)
            weak var gone: ViewController?
            for style in [PresentationStyle.sheet, .fullScreen, .alert] {
                do {
                    let second = Witness("second")
                    gone = second
                    first.present(second, style: style)
                }
                app.settle()
                #expect(gone != nil)
                first.dismiss()
                app.settle()
                #expect(gone == nil)
            }
        }
    }

    // MARK: Alerts

    private func alert(_ log: @escaping (String) -> Void) -> AlertController {
        let alert = AlertController(title: "Delete app.log?", message: "Nothing brings it back.")
        alert.addAction(AlertAction("Delete", style: .destructive) { log("delete") })
        alert.addAction(AlertAction("Keep", style: .cancel) { log("keep") })
        return alert
    }

    @Test(arguments: [nil, PresentationStyle.alert])
    func `An alert is centred in front of the presenting view, with and without a style`(style: PresentationStyle?)
        throws
    {
        try TestApplication.with(size: Size(40, 8)) { app in
            let first = Witness("first")
            app.show(first)
            first.present(alert { _ in }, style: style)
            app.settle()
            #expect(
                app.text == """
                    [ first  ]
                          ╭─────────────────────────╮
                          │     Delete app.log?     │
                          │ Nothing brings it back. │
                          │                         │
                          │ [ Delete  ]  [  Keep  ] │
                          ╰─────────────────────────╯


                    """)
        }
    }

    @Test func `Enter chooses the focused action of an alert and Escape the cancel action`() throws {
        try TestApplication.with(size: Size(40, 8)) { app in
            var log: [String] = []
            let first = Witness("first")
            let window = app.show(first)
            first.button.becomeFirstResponder()
            @MainActor func ask(_ change: (AlertController) -> Void = { _ in }) {
                let alert = alert { log.append($0) }
                change(alert)
                first.present(alert, style: .alert)
                app.settle()
            }
            // Nothing that cannot be undone has the focus by itself.
            ask()
            app.press(.enter)
            ask()
            app.press(.escape)
            ask()
            app.press(.left, .enter)
            ask { $0.preferredAction = $0.actions[0] }
            app.press(.enter)
            ask()
            app.tap(at: Point(12, 5))
            ask { $0.actions[1].isEnabled = false }
            app.press(.escape)
            #expect(log == ["keep", "keep", "delete", "delete", "delete"])
            #expect(first.presentedViewController != nil)
            first.dismiss()
            #expect(window.firstResponder === first.button)
        }
    }

    @Test func `Enter in the text field of an alert chooses the default action`() throws {
        try TestApplication.with(size: Size(40, 8)) { app in
            let first = Witness("first")
            app.show(first)
            let alert = AlertController(title: "Save as")
            let field = alert.addTextField(placeholder: "Name")
            var answer: String?
            alert.addAction(AlertAction("Cancel", style: .cancel))
            alert.addAction(AlertAction("Save") { answer = field.text })
            first.present(alert, style: .alert)
            app.type("app.log")
            #expect(app.text.contains("│ app.log"))
            app.press(.enter)
            #expect(answer == "app.log")
            #expect(first.presentedViewController == nil)
        }
    }

    @Test func `An action may present the next alert`() throws {
        try TestApplication.with(size: Size(40, 8)) { app in
            let first = Witness("first")
            app.show(first)
            let (one, two) = (AlertController(title: "One"), AlertController(title: "Two"))
            one.addAction(AlertAction("Next") { first.present(two, style: .alert) })
            two.addAction(AlertAction("OK"))
            first.present(one, style: .alert)
            app.press(.enter)
            #expect(first.presentedViewController === two)
            #expect(app.text.contains("Two") && !app.text.contains("One"))
            app.press(.escape)
            #expect(first.presentedViewController == nil)
        }
    }

    @Test func `An alert in a narrow display puts its buttons below each other`() throws {
        try TestApplication.with(size: Size(20, 9)) { app in
            let first = Witness("first")
            app.show(first)
            first.present(alert { _ in }, style: .alert)
            app.settle()
            #expect(
                app.text == """
                    ╭──────────────────╮
                    │ Delete app.log?  │
                    │  Nothing brings  │
                    │     it back.     │
                    │                  │
                    │ [    Delete    ] │
                    │ [     Keep     ] │
                    ╰──────────────────╯


                    """)
            app.display.resize(to: Size(20, 6))
            app.settle()
            #expect(app.text.contains("Keep") && app.text.contains("Delete  "))
        }
    }

    @Test func `In linear mode an alert, a sheet or a menu covers its rows in their full width`() throws {
        try TestApplication.with(size: Size(30, 8)) { app in
            app.display.abilities.isLinear = true
            let first = Witness("first")
            app.show(first)
            for row in 0..<8 { first.view.addSubview(Label(String(repeating: "x", count: 30)).at(0, Double(row), 30)) }

            /// The rows that are not covered, as one letter each, and the others.
            @MainActor func rows() -> [String] {
                app.settle()
                return app.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map { row in
                    row.allSatisfy { $0 == "x" } && !row.isEmpty ? "x" : row.drop { $0 == " " }.description
                }
            }

            first.present(alert { _ in })
            let words = ["Delete app.log?", "Nothing brings it back.", "", "[  Delete  ]  [   Keep   ]"]
            #expect(rows() == ["x", ""] + words + ["", "x"])
            first.dismiss()
            first.present(Witness("second"))
            #expect(rows().filter { $0 != "x" && !$0.isEmpty } == ["[ second ]"])
            first.dismiss()
            Menu([Menu.Item("Copy", hint: "c") {}]).open(below: first.view.subviews[3])
            #expect(rows().filter { $0 != "x" && !$0.isEmpty }.map { $0.filter { $0 != " " } } == ["Copyc"])
        }
    }
}
