// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import Testing

/// Each kind of control: by touch, by keys, disabled, in a narrow frame, and its looks.
@MainActor @Suite struct ControlKindsTests {
    @Test func `A switch changes by touch and by keys, and calls its action`() throws {
        try TestApplication.with(size: Size(20, 2)) { app in
            var log: [Bool] = []
            let toggle = Switch("Follow") { log.append($0.isOn) }.at(0, 0, 20)
            let narrow = Switch("Follow", isOn: true).at(0, 1, 7)
            app.show(all: toggle, narrow)
            #expect(app.text == "[ ] Follow\n[x] Fo…\n")
            app.tap(at: Point(8, 0))
            #expect(app.line(0) == "[x] Follow")
            app.press(.enter)
            #expect(app.line(0) == "[ ] Follow")
            #expect(app.cursor == Point(1, 0))
            toggle.isOn = true
            #expect(log == [true, false])
            toggle.isEnabled = false
            app.tap(at: Point(8, 0))
            #expect(toggle.isOn)
            #expect(log == [true, false])
        }
    }

    @Test func `Segments are selected by touch and by arrows`() throws {
        try TestApplication.with(size: Size(24, 2)) { app in
            var log: [Int?] = []
            let segments = SegmentedControl(["All", "Errors", "日本"]) { log.append($0.selectedIndex) }.at(0, 0, 24)
            let narrow = SegmentedControl(["All", "Errors", "日本"]).at(0, 1, 12)
            let window = app.show(all: segments, narrow)
            #expect(app.text == "[All] Errors  日本\n[A…] E…  …\n")
            app.tap(at: Point(7, 0))
            #expect(app.line(0) == " All [Errors] 日本")
            #expect(app.cursor == Point(5, 0))
            app.press(.right)
            #expect(app.line(0) == " All  Errors [日本]")
            app.press(.left, .left)
            #expect(log == [1, 2, 1, 0])
            // At its end the arrow moves the focus, if there is a place to go to.
            app.press(.left)
            #expect(window.firstResponder === segments)
            app.tap(at: Point(20, 0))
            segments.isEnabled = false
            app.tap(at: Point(7, 0))
            #expect(log == [1, 2, 1, 0])
        }
    }

    @Test func `Removing the selected segment clears the selection`() throws {
        try TestApplication.with { _ in
            let segments = SegmentedControl(["a", "b", "c"])
            segments.selectedIndex = 2
            segments.segments = ["a", "b"]
            #expect(segments.selectedIndex == nil)
        }
    }

    @Test func `A label wraps words, long words and wide characters`() throws {
        try TestApplication.with(size: Size(10, 9)) { app in
            let label = Label("The quick brown 日本語の文字 extraordinarily\nend", lines: 0).at(0, 0, 10, 9)
            app.show(all: label)
            #expect(app.text == "The quick\nbrown 日本\n語の文字\nextraordin\narily\nend\n\n\n\n")
            #expect(label.sizeThatFits(Size(10, 99)) == Size(10, 6))
            #expect(label.sizeThatFits(Size(.infinity, .infinity)) == Size(44, 2))
        }
    }

    @Test func `A label that is too small ends with an ellipsis`() throws {
        try TestApplication.with(size: Size(10, 3)) { app in
            let label = Label("The quick brown fox", lines: 2).at(0, 0, 10, 3)
            app.show(all: label)
            #expect(app.text == "The quick\nbrown fox\n\n")
            label.text = "The quick brown foxes jump"
            app.settle()
            #expect(app.text == "The quick\nbrown fox…\n\n")
            label.numberOfLines = 1
            app.settle()
            #expect(app.text == "The quick…\n\n\n")
            label.text = "one\ntwo"
            app.settle()
            #expect(app.text == "one…\n\n\n")
        }
    }

    @Test func `A label is aligned left, centre or right`() throws {
        try TestApplication.with(size: Size(9, 1)) { app in
            let label = Label("日本").at(0, 0, 9)
            app.show(all: label)
            for (alignment, text) in [(TextAlignment.left, "日本"), (.center, "  日本"), (.right, "     日本")] {
                label.alignment = alignment
                app.settle()
                #expect(app.line(0) == text)
            }
        }
    }

    @Test func `A progress view is filled in eighths of a cell`() throws {
        try TestApplication.with(size: Size(15, 2)) { app in
            let bar = ProgressView(progress: 0.5).at(0, 0, 15)
            let narrow = ProgressView(progress: 0.8).at(0, 1, 5)
            app.show(all: bar, narrow)
            #expect(app.text == "█████░░░░░  50%\n████░\n")
            bar.progress = 0.33
            app.settle()
            #expect(app.line(0) == "███▎░░░░░░  33%")
            for (value, shown) in [(-1.0, "0%"), (.nan, "0%"), (7, "100%"), (0.999, "99%")] {
                bar.progress = value
                #expect(bar.accessibilityValue == shown)
            }
            bar.showsPercentage = false
            bar.progress = 1
            app.settle()
            #expect(app.line(0) == "███████████████")
        }
    }

    @Test func `The centre text of a status bar moves aside for a longer side text`() throws {
        try TestApplication.with(size: Size(36, 1)) { app in
            let bar = StatusBar(left: "app.log", center: "follow", right: "&item 99999 11").at(0, 0, 36)
            app.show(all: bar)
            #expect(app.line(0) == " app.log     follow  &item 99999 11")
            (bar.left, bar.right) = ("the whole app.log", "1")
            app.settle()
            #expect(app.line(0) == " the whole app.log  follow        1")
        }
    }

    @Test func `A status bar drops its centre text first, then cuts the left text`() throws {
        try TestApplication.with(size: Size(30, 1)) { app in
            let bar = StatusBar(left: "app.log", center: "follow", right: "1/10").at(0, 0, 30)
            app.show(all: bar)
            #expect(app.line(0) == " app.log    follow       1/10")
            bar.frame.size.width = 20
            app.settle()
            #expect(app.line(0) == " app.log       1/10")
            bar.frame.size.width = 12
            app.settle()
            #expect(app.line(0) == " app.… 1/10")
        }
    }

    @Test func `A split view's divider moves by drag and by keys, and a resize keeps its ratio`() throws {
        try TestApplication.with(size: Size(21, 2)) { app in
            var moves = 0
            let split = SplitView(.horizontal, Label("left side is long"), Label("right"), ratio: 0.5)
            split.divider.addAction(for: .valueChanged) { _ in moves += 1 }
            app.show(split)
            #expect(app.line(0) == "left side…│right")
            app.play(.drag(from: Point(10, 1), to: Point(5, 1), steps: 5))
            #expect(app.line(0) == "left…│right")
            #expect(moves == 5)
            #expect(split.divider.isFirstResponder)
            app.press(.right)
            #expect(app.line(0) == "left …│right")
            app.press(.home)
            #expect(app.line(0) == "le…│right")
            app.press(.end)
            #expect(split.divider.frame.minX == 17)
            split.ratio = 0.5
            app.display.resize(to: Size(11, 3))
            app.settle()
            #expect(split.divider.frame == Rect(5, 0, 1, 3))
            split.axis = .vertical
            app.settle()
            #expect(app.text == "left side …\n───────────\nright\n")
        }
    }

    @Test func `Every control draws in frames of any small size and stays inside its frame`() throws {
        try TestApplication.with(size: Size(12, 6)) { app in
            let field = TextField(placeholder: "placeholder")
            field.text = "日本語 text"
            let spinner = Spinner("spinning")
            spinner.isAnimating = true
            let views: [View] = [
                Label("a label of 日本語 words", lines: 0), Button("button"), Switch("switch"), field, spinner,
                SegmentedControl(["one", "日本", "three"]), ProgressView(progress: 0.7), TextField(placeholder: "日本"),
                StatusBar(left: "left", center: "middle", right: "right"), Menu([Menu.Item("item", hint: "hint") {}]),
                SplitView(.horizontal, Label("one"), Label("two")), SplitView(.vertical, Label("one"), Label("two")),
                StackView(.horizontal, spacing: 2, [Button("one"), Button("two")]),
            ]
            for view in views {
                let window = app.show(all: view)
                for width in 0...10 {
                    for height in 0...4 {
                        view.frame = Rect(1, 1, Double(width), Double(height))
                        app.settle()
                        let rows = (0..<6).map { app.line($0) }
                        for (row, text) in rows.enumerated() where row < 1 || row > height { #expect(text.isEmpty) }
                        #expect(rows.allSatisfy { $0.cellWidth <= width + 1 && ($0.isEmpty || $0.first == " ") })
                        #expect(view.sizeThatFits(Size(Double(width), Double(height))).width <= Double(width))
                    }
                }
                window.close()
            }
        }
    }
}
