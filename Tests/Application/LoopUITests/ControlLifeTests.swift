// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import RunLoops
import Testing

/// Spinners and menus, and what controls cost while nothing happens.
@MainActor @Suite struct ControlLifeTests {
    @Test func `A spinner turns only while isAnimating is true`() throws {
        try TestApplication.with(size: Size(12, 1)) { app in
            let spinner = Spinner("Loading").at(0, 0, 12)
            app.show(all: spinner)
            #expect(app.line(0) == "  Loading")
            spinner.isAnimating = true
            app.settle()
            var seen: Set<Character> = []
            for _ in 0..<10 {
                app.advance(by: .milliseconds(100))
                if let sign = app.line(0).first { seen.insert(sign) }
            }
            #expect(seen.count >= 9)
            spinner.isAnimating = false
            app.settle()
            #expect(app.line(0) == "  Loading")
            let frames = app.display.frameCount
            app.advance(by: .seconds(5))
            #expect(app.display.frameCount == frames)
        }
    }

    @Test func `A spinner does not animate if the display reduces motion`() throws {
        try TestApplication.with(size: Size(12, 1)) { app in
            app.display.abilities.reducesMotion = true
            let spinner = Spinner("Loading").at(0, 0, 12)
            spinner.isAnimating = true
            app.show(all: spinner)
            #expect(app.line(0) == "⠿ Loading")
            let frames = app.display.frameCount
            app.advance(by: .seconds(5))
            #expect(app.display.frameCount == frames)
        }
    }

    @Test func `A spinner outside a window does not wake the loop`() throws {
        try TestApplication.with(size: Size(12, 1)) { app in
            let spinner = Spinner("Loading").at(0, 0, 12)
            spinner.isAnimating = true
            app.show(all: spinner)
            spinner.removeFromSuperview()
            app.settle()
            let turns = app.turns { app.advance(by: .seconds(5)) }
            #expect(turns <= 1)
        }
    }

    @Test func `A hidden spinner does not wake the loop and animates again when it is shown`() throws {
        try TestApplication.with(size: Size(12, 1)) { app in
            let (outer, spinner) = (View(), Spinner().at(0, 0, 12))
            outer.addSubview(spinner)
            spinner.isAnimating = true
            app.show(outer)
            for hide in [{ (value: Bool) in outer.isHidden = value }, { outer.alpha = $0 ? 0 : 1 }] {
                hide(true)
                app.advance(by: .seconds(1))
                let turns = app.turns { app.advance(by: .seconds(5)) }
                #expect(turns <= 1)
                hide(false)
                app.settle()
                let frames = app.display.frameCount
                app.advance(by: .seconds(1))
                #expect(app.display.frameCount - frames >= 9)
            }
        }
    }

    @Test func `An idle window with all controls does not wake the loop`() throws {
        try TestApplication.with(size: Size(40, 20)) { app in
            let field = TextField(placeholder: "Name")
            let stack = StackView(
                .vertical,
                [
                    Label("Label"), Button("Button"), Switch("Switch"), SegmentedControl(["a", "b"]),
                    ProgressView(progress: 0.5), Spinner("Spinner"), field, StatusBar(left: "Status"),
                    SplitView(.horizontal, Label("left"), Label("right")),
                ])
            app.show(stack)
            field.becomeFirstResponder()
            app.settle()
            let frames = app.display.frameCount
            let turns = app.turns { app.advance(by: .seconds(5)) }
            #expect(turns <= 1)
            #expect(app.display.frameCount == frames)
        }
    }

    // MARK: Menus

    private func menu(_ log: @escaping (String) -> Void) -> Menu {
        Menu([
            Menu.Item("Copy", hint: "Alt-W") { log("copy") },
            Menu.Item("Paste", isEnabled: false) { log("paste") },
            Menu.Item("Wrap", isChecked: true) { log("wrap") },
        ])
    }

    @Test func `A menu opens below its button, and keys choose`() throws {
        try TestApplication.with(size: Size(20, 7)) { app in
            var log: [String] = []
            let menu = menu { log.append($0) }
            let button = Button("More") { menu.open(below: $0) }.at(1, 0, 8)
            app.show(all: button, Label("behind").at(0, 3, 20))
            button.becomeFirstResponder()
            app.press(.enter)
            #expect(
                app.text == """
                     [ More ]
                     ╭───────────────╮
                     │   Copy  Alt-W │
                    b│   Paste       │
                     │ ✓ Wrap        │
                     ╰───────────────╯


                    """)
            #expect(menu.isFirstResponder)
            #expect(app.cursor == Point(3, 2))
            // The line that cannot be chosen is passed over, and the end leads to the beginning.
            app.press(.down)
            #expect(app.cursor == Point(3, 4))
            app.press(.down)
            #expect(app.cursor == Point(3, 2))
            app.type("w")
            app.press(.enter)
            #expect(log == ["wrap"])
            #expect(!menu.isOpen)
            #expect(button.isFirstResponder)
            #expect(app.line(3) == "behind")
        }
    }

    @Test func `A menu closes on Escape and on a touch outside, and the touch does not reach the views below`() throws {
        try TestApplication.with(size: Size(30, 7)) { app in
            var (log, taps) = ([String](), 0)
            let menu = menu { log.append($0) }
            let button = Button("More") { menu.open(below: $0) }.at(0, 0, 8)
            let other = Button("Other") { _ in taps += 1 }.at(20, 0, 9)
            app.show(all: button, other)
            for close in [{ app.press(.escape) }, { app.tap(at: Point(22, 0)) }] {
                button.tap()
                app.settle()
                #expect(menu.isOpen)
                close()
                #expect(!menu.isOpen)
            }
            app.press(.escape)
            #expect(log == [])
            #expect(taps == 0)
            app.tap(at: Point(22, 0))
            #expect(taps == 1)
        }
    }

    @Test func `A drag over a menu chooses the row where it ends`() throws {
        try TestApplication.with(size: Size(30, 7)) { app in
            var log: [String] = []
            let menu = menu { log.append($0) }
            let button = Button("More") { menu.open(below: $0) }.at(0, 0, 8)
            app.show(all: button)
            app.tap(at: Point(2, 0))
            app.play(.drag(from: Point(4, 2), to: Point(4, 3)))
            #expect(menu.isOpen, "a line that cannot be chosen")
            app.play(.drag(from: Point(4, 2), to: Point(4, 4)))
            #expect(log == ["wrap"])
            app.tap(at: Point(2, 0))
            app.play(.drag(from: Point(4, 4), to: Point(25, 4)))
            #expect(menu.isOpen)
            app.tap(at: Point(4, 2))
            #expect(log == ["wrap", "copy"])
        }
    }

    @Test func `A menu opens upwards where there is more room, and scrolls where there is too little`() throws {
        try TestApplication.with(size: Size(12, 6)) { app in
            let items = (1...9).map { number in Menu.Item("Line \(number)") {} }
            let menu = Menu(items)
            let button = Button("Go").at(0, 5, 6)
            app.show(all: button)
            menu.open(below: button)
            app.settle()
            #expect(app.text == "╭────────╮\n│ Line 1 │\n│ Line 2 │\n│ Line 3 │\n╰────────╯\n[ Go ]\n")
            app.press(.up)
            #expect(app.line(3) == "│ Line 9 │")
            #expect(app.cursor == Point(2, 3))
            app.press(.home)
            #expect(app.line(1) == "│ Line 1 │")
            for _ in 0..<3 { app.send(.wheel(WheelInput(Point(0, 1), at: Point(3, 2)))) }
            #expect(app.line(3) == "│ Line 4 │")
            #expect(menu.highlightedIndex == 3)
        }
    }
}

extension TestApplication {
    /// How many turns the loop goes through meanwhile.
    func turns(_ body: () -> Void) -> Int {
        var turns = 0
        let observer = RunLoop.Observer(.beforeWaiting, label: "turns") { _, _ in turns += 1 }
        application.loop.add(observer, in: .common)
        body()
        observer.invalidate()
        return turns
    }
}
