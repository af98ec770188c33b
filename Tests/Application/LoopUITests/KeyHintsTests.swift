// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import Testing

/// The line of key hints, and large digits.
@MainActor @Suite struct KeyHintsTests {
    /// A page with key commands and a line of hints.
    private final class Page: ViewController {
        let field = TextField()
        let hints = KeyHints()
        var pauses = 0

        override var keyCommands: [KeyCommand] {
            [
                KeyCommand(.character("q"), title: "Quit", action: .quit),
                KeyCommand(.character(" "), title: "Pause") { [unowned self] in pauses += 1 },
                KeyCommand(.character("s"), modifiers: .control, title: "Save") {},
                KeyCommand(.character("x")) {},
                KeyCommand(.up, modifiers: .alt, title: "Older") {},
            ]
        }

        override func viewDidLoad() {
            field.frame = Rect(0, 0, 20, 1)
            hints.frame = Rect(0, 1, 60, 1)
            view.addSubview(field)
            view.addSubview(hints)
        }
    }

    private final class Sheet: ViewController {
        override var keyCommands: [KeyCommand] { [KeyCommand(.escape, title: "Close") {}] }
        override func viewDidLoad() { view.frame.size = Size(10, 1) }
    }

    /// A view with a key command of its own.
    private final class Player: View {
        override var canBecomeFirstResponder: Bool { true }
        override var keyCommands: [KeyCommand] {
            [KeyCommand(.character(" "), title: "Play") {}, KeyCommand(.function(1), title: "Help") {}]
        }
    }

    @Test func `KeyHints shows the titled key commands of the responder chain, and calls none of them`() throws {
        try TestApplication.with(size: Size(60, 2)) { app in
            let page = Page()
            app.show(page)
            #expect(app.line(1) == "q Quit  Space Pause  ^S Save  Alt-↑ Older")
            app.press(.character(" "))
            #expect(page.pauses == 1)
            #expect(page.hints.accessibilityValue == "q: Quit, Space: Pause, ^S: Save, Alt-↑: Older")
            #expect(page.hints.sizeThatFits(Size(100, 5)) == Size(41, 1))
        }
    }

    @Test func `KeyHints follows the first responder, and shows a key for the responder that receives it first`() throws
    {
        try TestApplication.with(size: Size(60, 2)) { app in
            let page = Page()
            let window = app.show(page)
            let player = Player(frame: Rect(30, 0, 5, 1))
            page.view.addSubview(player)
            window.makeFirstResponder(player)
            app.settle()
            #expect(app.line(1) == "Space Play  F1 Help  q Quit  ^S Save  Alt-↑ Older")
            window.makeFirstResponder(nil)
            app.settle()
            #expect(app.line(1) == "q Quit  Space Pause  ^S Save  Alt-↑ Older")
        }
    }

    @Test func `KeyHints shows the keys of a sheet while the sheet has the keys`() throws {
        try TestApplication.with(size: Size(60, 4)) { app in
            let page = Page()
            app.show(page)
            let sheet = Sheet()
            sheet.preferredContentSize = Size(10, 1)
            page.present(sheet)
            app.settle()
            #expect(page.hints.accessibilityValue == "Esc: Close")
            sheet.dismiss()
            app.settle()
            #expect(app.line(1) == "q Quit  Space Pause  ^S Save  Alt-↑ Older")
        }
    }

    @Test func `KeyHints leaves out the last hints in a narrow frame, and uses ASCII where the theme does`() throws {
        try TestApplication.with(size: Size(60, 2)) { app in
            let page = Page()
            app.show(page)
            page.hints.frame.size.width = 20
            app.settle()
            #expect(app.line(1) == "q Quit  Space Pause")
            var theme = Theme.monochrome
            theme.usesUnicode = false
            page.view.theme = theme
            page.hints.frame.size.width = 60
            app.settle()
            #expect(app.line(1) == "q Quit  Space Pause  ^S Save  Alt-Up Older")
        }
    }

    @Test func `LargeDigits shows a time in three rows, and plain text where there are no blocks`() throws {
        try TestApplication.with(size: Size(24, 3)) { app in
            let digits = LargeDigits("12:30")
            digits.frame = Rect(0, 0, 24, 3)
            app.show(all: digits)
            #expect(digits.sizeThatFits(Size(100, 100)) == Size(19, 3))
            #expect(app.text == "▀█  ▀▀█  ▄  ▀▀█ █▀█\n █  █▀▀  ▄  ▀▀█ █ █\n▀▀▀ ▀▀▀     ▀▀▀ ▀▀▀\n")
            digits.alignment = .right
            app.settle()
            #expect(app.line(0) == "     ▀█  ▀▀█  ▄  ▀▀█ █▀█")
            var theme = Theme.standard
            theme.usesUnicode = false
            digits.theme = theme
            app.settle()
            #expect(app.text == "                   12:30\n\n\n")
            #expect(digits.accessibilityLabel == "12:30")
        }
    }
}
