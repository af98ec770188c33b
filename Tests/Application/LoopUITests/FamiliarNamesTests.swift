// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import RunLoops
import Testing

/// Sets its view where UIKit allows it too.
@MainActor private final class LateView: ViewController {
    override func viewDidLoad() { view = Label("late") }
}

/// What a person writes who knows UIKit.
@MainActor @Suite struct FamiliarNamesTests {
    @Test func `A view set in viewDidLoad is shown`() throws {
        try TestApplication.with(size: Size(8, 2)) { app in
            let controller = LateView()
            app.show(controller)
            #expect(app.text.hasPrefix("late"))
            #expect(controller.view is Label)
        }
    }

    @Test func `A view set later replaces the earlier view`() throws {
        try TestApplication.with(size: Size(8, 2)) { app in
            let controller = LateView()
            let window = app.show(controller)
            window.addSubview(Label("front"))
            let old = controller.view
            let new = Button("new")
            controller.view = new
            app.settle()
            #expect(app.text.contains("new") && !app.text.contains("late"))
            #expect(window.subviews.first == new)
            #expect(old.superview == nil && old.controller == nil)
            #expect(new.controller === controller && new.frame == Rect(size: Size(8, 2)))
        }
    }

    @Test func `A recogniser's closure receives the recogniser with its own type`() throws {
        try TestApplication.with { app in
            let view = View()
            var way = Point.zero
            view.addGestureRecognizer(PanGestureRecognizer { [unowned view] in way = $0.translation(in: view) })
            app.show(view)
            app.play(.drag(from: Point(x: 5, y: 2), to: Point(x: 25, y: 10)))
            #expect(way == Point(x: 20, y: 8))
        }
    }

    @Test func `Points, sizes and rectangles can be made with Core Graphics' argument labels`() {
        #expect(Point(x: 1, y: 2) == Point(1, 2))
        #expect(Size(width: 3, height: 4) == Size(3, 4))
        #expect(Rect(x: 1, y: 2, width: 3, height: 4) == Rect(1, 2, 3, 4))
        #expect(Rect(x: 1, y: 2, width: -3, height: 4).size == Size(0, 4))
    }

    @Test func `A subview is brought to the front and sent to the back`() throws {
        try TestApplication.with(size: Size(8, 2)) { app in
            let (root, first, second) = (View(), Label("first"), Label("2nd"))
            first.frame = Rect(0, 0, 5, 1)
            second.frame = Rect(0, 0, 3, 1)
            root.addSubview(first)
            root.addSubview(second)
            app.show(root)
            #expect(app.text.hasPrefix("2ndst"))
            root.bringSubviewToFront(first)
            app.settle()
            #expect(app.text.hasPrefix("first"))
            root.sendSubviewToBack(first)
            app.settle()
            #expect(app.text.hasPrefix("2ndst"))
        }
    }

    @Test func `Views are compared by identity in arrays and sets`() {
        let (first, second) = (View(), View())
        #expect([first, second].firstIndex(of: second) == 1)
        #expect(first != second)
        #expect(Set([first, second, first]) == [second, first])
    }
}
