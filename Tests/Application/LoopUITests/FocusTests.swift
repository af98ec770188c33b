// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import Testing

/// The focus: in which order it moves, and where it does not go.
@MainActor @Suite struct FocusTests {
    /// Buttons in rows and columns, `name` being the row and the column.
    private func grid(_ app: TestApplication, rows: Int, columns: Int) -> (Window, [[Button]]) {
        let buttons = (0..<rows).map { row in
            (0..<columns).map { Button("\(row)\($0)").at(Double($0 * 10), Double(row * 2), 8) }
        }
        let root = View()
        for button in buttons.joined() { root.addSubview(button) }
        return (app.show(root), buttons)
    }

    private func name(_ window: Window) -> String? { (window.firstResponder as? Button)?.title }

    @Test func `Tab moves through all controls and wraps around, and Shift-Tab moves back`() throws {
        try TestApplication.with(size: Size(30, 6)) { app in
            let (window, _) = grid(app, rows: 2, columns: 2)
            #expect(name(window) == nil)
            var seen: [String?] = []
            for _ in 0..<5 {
                app.press(.tab)
                seen.append(name(window))
            }
            #expect(seen == ["00", "01", "10", "11", "00"])
            app.press(.tab, modifiers: .shift)
            #expect(name(window) == "11")
            app.press(.tab, modifiers: .shift)
            #expect(name(window) == "10")
        }
    }

    @Test func `Shift-Tab moves to the last control if no control has the focus`() throws {
        try TestApplication.with(size: Size(30, 6)) { app in
            let (window, _) = grid(app, rows: 2, columns: 2)
            app.press(.tab, modifiers: .shift)
            #expect(name(window) == "11")
        }
    }

    @Test func `Arrows move to the nearest control in their direction, and stop at the edge`() throws {
        try TestApplication.with(size: Size(30, 6)) { app in
            let (window, buttons) = grid(app, rows: 3, columns: 3)
            buttons[1][1].becomeFirstResponder()
            for (key, there) in [(Key.up, "01"), (.down, "11"), (.left, "10"), (.right, "11"), (.right, "12")] {
                app.press(key)
                #expect(name(window) == there)
            }
            app.press(.right)
            #expect(name(window) == "12")
        }
    }

    @Test func `Focus moves to a view straight ahead rather than to a nearer view aside`() throws {
        try TestApplication.with(size: Size(40, 12)) { app in
            let start = Button("start").at(0, 0, 8)
            let ahead = Button("ahead").at(0, 9, 8)
            let aside = Button("aside").at(20, 3, 8)
            let wide = Button("tall").at(9, 0, 3, 12)
            let window = app.show(all: start, ahead, aside, wide)
            start.becomeFirstResponder()
            app.press(.down)
            #expect(name(window) == "ahead")
            app.press(.right)
            #expect(name(window) == "tall")
        }
    }

    @Test func `A hidden, transparent, disabled or empty view, or one that gets no touches, is not focusable`() throws {
        try TestApplication.with(size: Size(30, 6)) { app in
            let (window, buttons) = grid(app, rows: 2, columns: 3)
            buttons[0][0].isHidden = true
            buttons[0][1].isEnabled = false
            buttons[0][2].frame.size = .zero
            buttons[1][0].isUserInteractionEnabled = false
            buttons[1][1].alpha = 0
            #expect(window.focusableViews.map(ObjectIdentifier.init) == [ObjectIdentifier(buttons[1][2])])
            app.press(.up)
            #expect(name(window) == "12")
        }
    }

    @Test func `A view that is hidden or removed is no longer the first responder`() throws {
        try TestApplication.with(size: Size(30, 6)) { app in
            let (window, buttons) = grid(app, rows: 1, columns: 2)
            buttons[0][0].becomeFirstResponder()
            buttons[0][0].superview?.isHidden = true
            #expect(window.firstResponder == nil)
            buttons[0][0].superview?.isHidden = false
            buttons[0][1].becomeFirstResponder()
            buttons[0][1].removeFromSuperview()
            #expect(window.firstResponder == nil)
        }
    }

    @Test func `Keys that the focused control uses do not move the focus`() throws {
        try TestApplication.with(size: Size(30, 6)) { app in
            let field = TextField().at(0, 0, 10)
            let other = Button("other").at(12, 0, 9)
            let window = app.show(all: field, other)
            field.becomeFirstResponder()
            app.type("ab")
            app.press(.left, .right)
            #expect(window.firstResponder === field)
            app.press(.right, modifiers: .alt)
            #expect(window.firstResponder === field)
            app.press(.tab)
            #expect(window.firstResponder === other)
            app.press(.left, modifiers: .control)
            #expect(window.firstResponder === other)
        }
    }

    @Test func `The cursor is at the focused control`() throws {
        try TestApplication.with(size: Size(30, 6)) { app in
            _ = grid(app, rows: 2, columns: 2)
            #expect(app.cursor == nil)
            app.press(.tab, .tab)
            #expect(app.cursor == Point(10, 0))
            app.press(.down)
            #expect(app.cursor == Point(10, 2))
        }
    }

    @Test func `A window's accessibility description has a line for each element`() throws {
        try TestApplication.with(size: Size(40, 12)) { app in
            let secret = TextField(placeholder: "Password")
            secret.isSecure = true
            secret.text = "abc"
            let (save, hidden) = (Button("Save"), Button("Hidden"))
            let follow = Switch("Follow", isOn: true)
            let level = SegmentedControl(["All", "Errors"])
            level.accessibilityLabel = "Level"
            hidden.isHidden = true
            let split = SplitView(.horizontal, Label("left"), Label("right"), ratio: 0.5)
            let stack = StackView(
                .vertical,
                [
                    Label("Settings"), follow, level, secret, ProgressView(progress: 0.25), Spinner("Load"), save,
                    hidden, StatusBar(left: "a", right: "b"),
                ])
            stack.addArrangedSubview(split, flex: 1)
            let window = app.show(stack)
            save.isEnabled = false
            follow.becomeFirstResponder()
            #expect(
                window.accessibilityDescription == [
                    "Settings", "switch Follow, on, focused", "choice Level, All, 1 of 2",
                    "secure text field Password, 3 characters", "progress, 25%", "activity Load, stopped",
                    "button Save, disabled", "status, a, b", "left", "divider, 51%", "right",
                ])
            let menu = Menu([Menu.Item("Copy") {}])
            menu.open(below: follow)
            #expect(window.accessibilityDescription == ["menu, Copy, 1 of 1, focused"])
        }
    }

    @Test func `A touch gives the focus to every kind of control, to tables and to scroll views`() throws {
        final class Rows: TableViewDataSource {
            func numberOfRows(in tableView: TableView) -> Int { 2 }
            func tableView(_ tableView: TableView, cellForRow row: Int) -> TableCell { TableCell() }
        }
        try TestApplication.with(size: Size(80, 30)) { app in
            let (rows, table, plain, scroll) = (Rows(), TableView(), TableView(), ScrollView())
            for table in [table, plain] { table.dataSource = rows }
            plain.allowsSelection = false
            scroll.contentSize = Size(20, 100)
            let split = SplitView(.horizontal, View(), View(), ratio: 0.5)
            let views: [(view: View, touch: Point)] = [
                (Button("button"), Point(1, 0)), (TextField(), Point(1, 0)), (Switch("switch"), Point(1, 0)),
                (SegmentedControl(["a", "b"]), Point(1, 0)), (table, Point(1, 0)), (table, Point(1, 2)),
                (plain, Point(1, 0)), (scroll, Point(1, 1)), (split, Point(10, 1)),
            ]
            let root = View()
            for (index, part) in views.enumerated() where part.view.superview == nil {
                part.view.frame = Rect(0, Double(index) * 3, 20, index < 4 ? 1 : 3)
                root.addSubview(part.view)
            }
            let window = app.show(root)
            for (view, place) in views {
                window.makeFirstResponder(nil)
                app.tap(at: view.frame.origin + place)
                let focused = window.firstResponder as? View
                #expect(focused?.isInside(view) == true, "\(type(of: view)) at \(place)")
            }
            window.makeFirstResponder(nil)
            app.play(.drag(from: Point(1, 23), to: Point(1, 21)))
            #expect(scroll.isFirstResponder && scroll.contentOffset.y > 0)
            let menu = Menu([Menu.Item("one") {}, Menu.Item("two", isEnabled: false) {}])
            menu.open(below: root.subviews[0])
            window.makeFirstResponder(nil)
            app.tap(at: menu.frame.origin + Point(2, 2))
            #expect(menu.isOpen && menu.isFirstResponder)
        }
    }
}
