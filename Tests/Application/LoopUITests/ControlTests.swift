// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import Testing

/// Buttons, and what all controls have in common.
@MainActor @Suite struct ControlTests {
    @Test func `A button is tapped by touch, by Enter and by Space`() throws {
        try TestApplication.with(size: Size(20, 2)) { app in
            var log: [String] = []
            let button = Button("OK") { _ in log.append("primary") }.at(1, 0, 8)
            button.addAction(for: .touchDown) { _ in log.append("down") }
            button.addAction(for: .touchUpInside) { _ in log.append("inside") }
            button.addAction(for: .touchUpOutside) { _ in log.append("outside") }
            let window = app.show(all: button)
            #expect(app.text == " [  OK  ]\n\n")
            #expect(window.firstResponder == nil)

            app.tap(at: Point(3, 0))
            #expect(log == ["down", "inside", "primary"])
            #expect(button.isFirstResponder)
            #expect(app.cursor == Point(1, 0))

            log = []
            app.press(.enter)
            app.press(.character(" "))
            #expect(log == ["inside", "primary", "inside", "primary"])

            log = []
            app.play(.drag(from: Point(3, 0), to: Point(3, 1)))
            #expect(log == ["down", "outside"])
            #expect(!button.isHighlighted)
        }
    }

    @Test func `A held key taps a button once`() throws {
        try TestApplication.with(size: Size(20, 1)) { app in
            var taps = 0
            let button = Button("OK") { _ in taps += 1 }.at(0, 0, 8)
            app.show(all: button)
            button.becomeFirstResponder()
            app.send(.key(KeyInput(.enter)), .key(KeyInput(.enter, phase: .repeated)))
            #expect(taps == 1)
        }
    }

    @Test func `A cancelled touch calls only the touchCancel actions`() throws {
        try TestApplication.with(size: Size(20, 1)) { app in
            var log: [String] = []
            let button = Button("OK") { _ in log.append("primary") }.at(0, 0, 8)
            button.addAction(for: .touchCancel) { _ in log.append("cancel") }
            app.show(all: button)
            app.send(.pointer(PointerInput(.began, at: .zero)))
            #expect(button.isHighlighted && button.isTracking)
            app.send(.pointer(PointerInput(.cancelled, at: .zero)))
            #expect(log == ["cancel"])
            #expect(!button.isHighlighted && !button.isTracking)
        }
    }

    @Test func `A disabled control ignores touches and gives up the focus`() throws {
        try TestApplication.with(size: Size(20, 2)) { app in
            var taps = 0
            let first = Button("One") { _ in taps += 1 }.at(0, 0, 8)
            let second = Button("Two").at(0, 1, 8)
            let window = app.show(all: first, second)
            first.becomeFirstResponder()
            first.isEnabled = false
            #expect(window.firstResponder === second)
            app.tap(at: Point(1, 0))
            first.tap()
            #expect(taps == 0)
            #expect(window.firstResponder === second)
            #expect(!first.becomeFirstResponder())
            second.isEnabled = false
            #expect(window.firstResponder == nil)
        }
    }

    @Test func `A control disabled during a touch cancels the touch`() throws {
        try TestApplication.with(size: Size(20, 1)) { app in
            var log: [String] = []
            let button = Button("OK") { _ in log.append("primary") }.at(0, 0, 8)
            button.addAction(for: .touchCancel) { _ in log.append("cancel") }
            app.show(all: button)
            app.send(.pointer(PointerInput(.began, at: .zero)))
            button.isEnabled = false
            app.send(.pointer(PointerInput(.ended, at: .zero)))
            #expect(log == ["cancel"])
        }
    }

    @Test func `Actions that were removed are not called`() throws {
        try TestApplication.with { _ in
            var log: [String] = []
            let button = Button("OK") { _ in log.append("primary") }
            button.addAction(for: [.touchDown, .touchUpInside]) { _ in log.append("touch") }
            button.removeActions(for: .touchDown)
            button.tap()
            #expect(log == ["primary"])
        }
    }

    @Test func `An action does not keep its control alive`() throws {
        try TestApplication.with { _ in
            weak var gone: Button?
            do {
                let button = Button("OK") { $0.title = "done" }
                gone = button
                button.tap()
                #expect(button.title == "done")
            }
            #expect(gone == nil)
        }
    }

    @Test func `Buttons in narrow frames cut their titles`() throws {
        try TestApplication.with(size: Size(14, 5)) { app in
            @MainActor func button(_ row: Double, _ width: Double) -> Button { Button("Delete all").at(0, row, width) }
            app.show(all: button(0, 14), button(1, 12), button(2, 8), button(3, 4), button(4, 1))
            #expect(app.text == "[ Delete all ]\n[ Delete … ]\n[ Del… ]\nDel…\n…\n")
        }
    }

    @Test func `The style of a control shows its state`() throws {
        try TestApplication.with(size: Size(8, 1)) { app in
            let button = Button("OK").at(0, 0, 8)
            app.show(all: button)
            let theme = button.theme
            @MainActor func look() -> Style? {
                app.settle()
                var style = app.style(0, 0)
                style?.background = .clear
                return style
            }
            #expect(look() == theme.text)
            button.role = .destructive
            #expect(look() == theme.destructive)
            button.becomeFirstResponder()
            #expect(look() == theme.focus)
            button.isHighlighted = true
            #expect(look() == theme.highlight)
            button.isEnabled = false
            #expect(look() == theme.disabled)
        }
    }
}
