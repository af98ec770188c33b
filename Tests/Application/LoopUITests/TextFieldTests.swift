// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import Testing

/// The text field: by keys, touches and commands.
@MainActor @Suite struct TextFieldTests {
    /// A field of 10 cells that has the focus.
    private func with(
        _ text: String = "", width: Double = 10, _ body: (TestApplication, TextField) throws -> Void
    ) throws {
        try TestApplication.with(size: Size(30, 3)) { app in
            let field = TextField(placeholder: "Search").at(0, 0, width)
            field.pasteboard = Pasteboard()
            field.text = text
            app.show(all: field)
            field.becomeFirstResponder()
            app.settle()
            try body(app, field)
        }
    }

    @Test func `Letters are written at the caret`() throws {
        try with { app, field in
            #expect(app.line(0) == "Search")
            #expect(app.cursor == .zero)
            var log: [String] = []
            field.addAction(for: .editingChanged) { log.append($0.text) }
            field.addAction { log.append("entered \($0.text)") }
            app.type("ac")
            app.press(.left)
            app.type("b ")
            app.press(.enter)
            #expect(log == ["a", "ac", "abc", "ab c", "entered ab c"])
            #expect(app.line(0) == "ab c")
            #expect(app.cursor == Point(3, 0))
        }
    }

    @Test func `A text longer than its field scrolls to keep the caret visible`() throws {
        try with("0123456789abc") { app, field in
            #expect(app.line(0) == "456789abc")
            #expect(app.cursor == Point(9, 0))
            app.press(.home)
            #expect(app.line(0) == "0123456789")
            #expect(app.cursor == .zero)
            app.press(.end)
            #expect(app.line(0) == "456789abc")
            app.press(.left, .left)
            #expect(app.line(0) == "456789abc")
            for _ in 0..<8 { app.press(.left) }
            #expect(app.line(0) == "3456789abc")
            #expect(app.cursor == .zero)
            field.frame.size.width = 5
            app.settle()
            #expect(app.line(0) == "34567")
        }
    }

    @Test func `The caret and the visible text never split a wide character`() throws {
        try with("日本語のテキスト", width: 7) { app, field in
            #expect(app.line(0) == "キスト")
            #expect(app.cursor == Point(6, 0))
            app.press(.left)
            #expect(app.cursor == Point(4, 0))
            app.press(.home)
            #expect(app.line(0) == "日本語")
            app.tap(at: Point(3, 0))
            #expect(field.selectedRange == 1..<1)
        }
    }

    @Test func `A grapheme is one caret step and one deletion, however many scalars it has`() throws {
        try with { app, field in
            for part in ["e\u{301}", "👨‍👩‍👧", "🇩🇪", "ก็"] { field.insertText(part) }
            #expect(field.selectedRange == 4..<4)
            app.press(.backspace)
            app.press(.left)
            app.press(.backspace)
            #expect(field.text == "e\u{301}🇩🇪")
            app.press(.home, .delete)
            #expect(field.text == "🇩🇪")
            // A mark that comes alone joins the letter before it.
            app.press(.home)
            app.type("o")
            field.insertText("\u{308}")
            #expect(Array(field.text).count == 2)
            #expect(field.selectedRange == 1..<1)
        }
    }

    @Test func `Shortcuts move over words and delete words as in a shell`() throws {
        try with("one two-three  four") { app, field in
            app.press(.left, modifiers: .alt)
            #expect(field.selectedRange == 15..<15)
            app.press(.left, modifiers: .control)
            #expect(field.selectedRange == 8..<8)
            app.press(.character("f"), modifiers: .alt)
            #expect(field.selectedRange == 13..<13)
            app.press(.character("w"), modifiers: .control)
            #expect(field.text == "one two-  four")
            app.press(.character("y"), modifiers: .control)
            #expect(field.text == "one two-three  four")
            app.press(.character("k"), modifiers: .control)
            #expect(field.text == "one two-three")
            app.press(.character("a"), modifiers: .control)
            app.press(.character("d"), modifiers: .alt)
            #expect(field.text == " two-three")
            app.press(.character("e"), modifiers: .control)
            app.press(.character("b"), modifiers: .control)
            app.press(.character("u"), modifiers: .control)
            #expect(field.text == "e")
            app.press(.character("d"), modifiers: .control)
            #expect(field.text == "")
        }
    }

    @Test func `Shift selects, and typing replaces the selection`() throws {
        try with("one two") { app, field in
            app.press(.left, modifiers: [.shift, .control])
            #expect(field.selectedText == "two")
            app.press(.left, modifiers: .shift)
            #expect(field.selectedText == " two")
            #expect(app.style(3, 0)?.attributes.contains(.inverse) == true)
            #expect(app.style(2, 0)?.attributes.contains(.inverse) == false)
            app.type("!")
            #expect(field.text == "one!")
            app.press(.home, modifiers: .shift)
            app.press(.right)
            #expect(field.selectedRange == 4..<4)
            app.press(.home, modifiers: .shift)
            app.press(.delete)
            #expect(field.text == "")
        }
    }

    @Test func `A tap places the caret, a drag selects, two taps select a word and three taps select all`() throws {
        try with("one two six") { app, field in
            app.press(.home)
            app.tap(at: Point(5, 0))
            #expect(field.selectedRange == 5..<5)
            app.advance(by: .seconds(1))
            app.play(.drag(from: Point(4, 0), to: Point(7, 0)))
            #expect(field.selectedText == "two")
            app.advance(by: .seconds(1))
            app.tap(at: Point(1, 0), count: 2)
            #expect(field.selectedText == "one")
            app.advance(by: .seconds(1))
            app.tap(at: Point(1, 0), count: 3)
            #expect(field.selectedText == "one two six")
            // Beyond the edge, a drag moves the text.
            app.advance(by: .seconds(1))
            app.play(.drag(from: Point(4, 0), to: Point(25, 0)))
            #expect(field.selectedText.hasSuffix("six"))
        }
    }

    @Test func `Changes are undone and redone, and consecutive typing is one undo step`() throws {
        try with { app, field in
            app.type("hello")
            app.press(.home)
            app.type("oh ")
            app.press(.backspace, .backspace)
            app.send(.paste("AB", isLast: false), .paste("CD", isLast: true))
            #expect(field.text == "oABCDhello")
            var seen: [String] = []
            for _ in 0..<5 {
                app.press(.character("_"), modifiers: .control)
                seen.append(field.text)
            }
            #expect(seen == ["ohello", "oh hello", "hello", "", ""])
            seen = []
            for _ in 0..<5 {
                field.perform(.redo, from: nil)
                seen.append(field.text)
            }
            #expect(seen == ["hello", "oh hello", "ohello", "oABCDhello", "oABCDhello"])
            field.perform(.undo, from: nil)
            app.type("x")
            field.perform(.redo, from: nil)
            #expect(field.text == "oxhello")
        }
    }

    @Test func `Text copied in one field can be pasted in another field`() throws {
        try with("one two") { app, field in
            let other = TextField().at(0, 1, 10)
            other.pasteboard = field.pasteboard
            field.superview?.addSubview(other)
            #expect(!app.application.send(.copy))
            #expect(app.application.send(.selectAll))
            #expect(app.application.send(.copy))
            other.becomeFirstResponder()
            #expect(app.application.send(.paste))
            app.press(.insert, modifiers: .shift)
            #expect(other.text == "one twoone two")
            app.application.send(.selectAll)
            app.press(.character("x"), modifiers: .control)
            #expect(other.text == "" && field.text == "one two")
            #expect(field.pasteboard.text == "one twoone two")
        }
    }

    @Test func `A secure field shows dots, and its text is not copied`() throws {
        try with { app, field in
            field.isSecure = true
            field.keepsHistory = true
            app.type("pä日")
            #expect(app.line(0) == "•••")
            #expect(app.cursor == Point(3, 0))
            app.application.send(.selectAll)
            #expect(!app.application.send(.copy) && !app.application.send(.cut))
            app.press(.character("u"), modifiers: .control)
            #expect(field.pasteboard.text == nil)
            #expect(field.text == "")
            app.type("secret")
            app.press(.enter)
            #expect(field.history == [])
            #expect(field.accessibilityValue == "6 characters")
        }
    }

    @Test func `The up arrow recalls earlier texts, and the down arrow later texts and finally the draft`() throws {
        try with { app, field in
            field.keepsHistory = true
            for text in ["one", "two", "two", ""] {
                field.text = text
                app.press(.enter)
            }
            #expect(field.history == ["one", "two"])
            field.text = "draft"
            var seen: [String] = []
            for key in [Key.up, .up, .up, .down, .down, .down] {
                app.press(key)
                seen.append(field.text)
            }
            #expect(seen == ["two", "one", "one", "two", "draft", "draft"])
            field.text = ""
            app.press(.up)
            var changes = 0
            field.addAction(for: .editingChanged) { _ in changes += 1 }
            app.press(.down)
            #expect(field.text == "" && changes == 1)
            field.historyLimit = 1
            #expect(field.history == ["two"])
        }
    }

    @Test func `A disabled field ignores keys, pasted text and touches`() throws {
        try with("one") { app, field in
            field.isEnabled = false
            app.type("x")
            app.send(.paste("y", isLast: true))
            app.tap(at: Point(1, 0))
            #expect(field.text == "one")
            #expect(!field.canPerform(.selectAll))
            #expect(!field.isFirstResponder)
        }
    }

    @Test func `A text field leaves Ctrl-C to the application`() throws {
        try with("one") { app, field in
            app.application.send(.selectAll)
            app.press(.character("c"), modifiers: .control)
            #expect(app.application.state == .notRunning)
        }
    }

    @Test func `A text set before the field is laid out is shown from its beginning`() throws {
        let field = TextField()
        field.text = "hello"
        try TestApplication.with(size: Size(10, 1)) { app in
            app.show(field)
            #expect(app.text == "hello\n" && app.display.frame?.cursor == nil)
            field.becomeFirstResponder()
            app.settle()
            #expect(app.display.frame?.cursor == Point(5, 0))
        }
    }

    @Test func `A text field scrolls to fill its width after it has grown or its text has become shorter`() throws {
        let field = TextField()
        try TestApplication.with(size: Size(6, 1)) { app in
            app.show(field)
            field.becomeFirstResponder()
            app.type("0123456789")
            #expect(app.text == "56789\n")
            app.press(.backspace, .backspace)
            #expect(app.text == "34567\n")
            app.display.resize(to: Size(8, 1))
            app.settle()
            #expect(app.text == "1234567\n")
            app.press(.home, .right)
            #expect(app.text == "01234567\n")
        }
    }
}
