// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import RunLoops
import Testing

/// A controller with a field and a button, and keys of its own.
@MainActor private final class Keys: ViewController {
    let log = Log()
    let field = TextField()
    let button = Button("Button")

    override func loadView() { view = StackView(.vertical, [field, button]) }

    override var keyCommands: [KeyCommand] {
        [
            KeyCommand(.character("q"), action: .quit),
            KeyCommand(.character("+")) { [log] in log.add("plus") },
            KeyCommand(.character("s"), modifiers: .control) { [log] in log.add("save") },
            KeyCommand(.function(2)) { [log] in log.add("F2") },
            KeyCommand(.enter) { [log] in log.add("enter") },
        ]
    }

    override func pressesBegan(_ presses: Set<Press>, with event: Event?) {
        log.add("pressed")
        super.pressesBegan(presses, with: event)
    }
}

/// Keys that a responder lists.
@MainActor @Suite struct KeyCommandTests {
    @Test func `A key command matches its exact modifiers, and Shift is ignored for characters`() throws {
        try TestApplication.with { app in
            let keys = Keys()
            app.show(keys)
            keys.button.becomeFirstResponder()
            app.press(.character("s"))
            app.press(.character("s"), modifiers: [.control, .alt])
            #expect(keys.log.lines.allSatisfy { $0 == "pressed" })
            app.press(.character("s"), modifiers: .control)
            app.press(.character("+"), modifiers: .shift)
            app.press(.function(2), modifiers: .shift)
            app.press(.function(2))
            #expect(keys.log.lines.filter { $0 != "pressed" } == ["save", "plus", "F2"])
        }
    }

    @Test func `A responder earlier in the chain receives a key before the key command does`() throws {
        try TestApplication.with { app in
            let keys = Keys()
            app.show(keys)
            keys.field.becomeFirstResponder()
            app.type("q+")
            #expect(keys.field.text == "q+")
            keys.button.becomeFirstResponder()
            app.press(.enter)
            #expect(keys.log.lines.isEmpty)
            app.press(.character("+"))
            #expect(keys.log.lines == ["pressed", "plus"])
        }
    }

    @Test func `A parent receives only the keys that its child's key commands do not use`() throws {
        try TestApplication.with { app in
            let (parent, child) = (Keys(), Keys())
            parent.addChild(child)
            app.show(parent)
            parent.view.addSubview(child.view)
            child.button.becomeFirstResponder()
            app.press(.character("+"))
            #expect(child.log.lines == ["pressed", "plus"])
            #expect(parent.log.lines.isEmpty)
            app.press(.character("x"))
            #expect(parent.log.lines == ["pressed"])
        }
    }

    @Test func `A key command's action is sent up the chain from the responder that has the command`() throws {
        try TestApplication.with { app in
            app.show(Keys())
            app.press(.character("q"))
            #expect(app.application.state == .notRunning)
        }
    }
}
