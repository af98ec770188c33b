// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUITesting
import RunLoopsTestSupport
import Testing

@testable import LoopUI

/// Counts how often views get numbers, and how often these are read.
@MainActor private enum CountedNumber: ViewNumber {
    static var count = 0
    private static var numbers: [View: Int] = [:]

    static func number(of view: View) -> Int {
        count += 1
        return numbers[view] ?? 0
    }
    static func set(_ number: Int, of view: View) {
        count += 1
        numbers[view] = number
    }
    static func reset() { (count, numbers) = (0, [:]) }
}

/// Trees of many views.
@MainActor @Suite(.serialized) struct ViewTreeTests {
    private enum Order: CaseIterable, Sendable {
        case forwards, backwards, scattered
    }

    private func removals(_ count: Int, _ order: Order) -> Int {
        CountedNumber.reset()
        var list = ViewList<CountedNumber>()
        let views = (0..<count).map { _ in View() }
        for view in views { list.insert(view, at: list.count) }
        var numbers = SeededRandom(7)
        let removed =
            switch order {
            case .forwards: views
            case .backwards: Array(views.reversed())
            case .scattered: views.shuffled(using: &numbers)
            }
        for view in removed { list.remove(view) }
        #expect(list.all().isEmpty)
        return CountedNumber.count
    }

    @Test func `Removing a view from a list of 10,000 costs no more than from a list of 1,000`() {
        for order in Order.allCases {
            let (few, many) = (removals(1_000, order), removals(10_000, order))
            #expect(many <= 13 * few, "\(order): \(few), \(many)")
            #expect(many <= 60_000)
        }
    }

    @Test func `A view list keeps its order through random insertions and removals`() {
        for seed in 0..<20 {
            var numbers = SeededRandom(UInt64(seed))
            var (list, model, spare) = (ViewList<CountedNumber>(), [View](), [View]())
            CountedNumber.reset()
            for _ in 0..<400 {
                switch Int.random(in: 0..<5, using: &numbers) {
                case 0, 1:
                    let (view, index) = (
                        spare.popLast() ?? View(), Int.random(in: -1...model.count + 1, using: &numbers)
                    )
                    list.insert(view, at: index)
                    model.insert(view, at: min(max(0, index), model.count))
                case 2, 3:
                    guard let view = model.randomElement(using: &numbers) else { continue }
                    list.remove(view)
                    model.removeAll { $0 === view }
                    spare.append(view)
                default: #expect(list.all() == model)
                }
                #expect(list.count == model.count)
            }
            #expect(list.all() == model)
        }
    }

    @Test func `Twenty thousand views can be removed one by one, in any order and during iteration over subviews`()
        throws
    {
        try TestApplication.with { app in
            let (root, stack) = (View(), StackView())
            app.show(all: root, stack)
            for order in Order.allCases {
                let views = (0..<20_000).map { _ in View(frame: Rect(0, 0, 1, 1)) }
                for view in views { root.addSubview(view) }
                switch order {
                case .forwards: for view in root.subviews { view.removeFromSuperview() }
                case .backwards: while let last = root.subviews.last { last.removeFromSuperview() }
                case .scattered: while let first = root.subviews.first { first.removeFromSuperview() }
                }
                #expect(root.subviews.isEmpty && views.allSatisfy { $0.superview == nil })
            }
            let arranged = (0..<20_000).map { _ in View() }
            for view in arranged { stack.addArrangedSubview(view) }
            for view in arranged { stack.removeArrangedSubview(view) }
            for view in arranged { stack.addArrangedSubview(view) }
            for view in arranged { view.removeFromSuperview() }
            stack.layoutIfNeeded()
            #expect(stack.arrangedSubviews.isEmpty)
            app.settle()
        }
    }

    @Test func `A view added to another stack is removed from the first`() throws {
        try TestApplication.with { app in
            let (one, two) = (StackView(), StackView())
            app.show(all: one, two)
            let views = (0..<6).map { _ in Label("x") }
            for view in views { one.addArrangedSubview(view) }
            for view in views.reversed() where view !== views[3] { two.addArrangedSubview(view) }
            app.settle()
            #expect(one.arrangedSubviews == [views[3]])
            #expect(two.arrangedSubviews == views.reversed().filter { $0 !== views[3] })
        }
    }

    @Test func `A view that asks a hundred times for layout and display is drawn once`() throws {
        try TestApplication.with { app in
            final class Counted: View {
                var drawn = 0
                override func draw(in canvas: inout Canvas) { drawn += 1 }
            }
            let view = Counted().at(0, 0, 4)
            app.show(all: view)
            for _ in 0..<100 {
                view.setNeedsLayout()
                view.setNeedsDisplay()
            }
            app.settle()
            #expect(view.drawn == 2)
            view.removeFromSuperview()
            view.setNeedsDisplay()
            app.show(all: view)
            #expect(view.drawn == 3)
        }
    }

    @Test func `The superview that a view was moved from is drawn again`() throws {
        try TestApplication.with(size: Size(10, 2)) { app in
            let (one, two) = (View().at(0, 0, 5), View().at(0, 1, 5))
            one.addSubview(Label("x").at(0, 0, 1))
            app.show(all: one, two)
            #expect(app.text == "x\n\n")
            two.addSubview(one.subviews[0])
            app.settle()
            #expect(app.text == "\nx\n")
        }
    }

    // MARK: Depth

    /// Views inside each other, the outermost first; the innermost is made first, or last.
    private func nested(_ count: Int, inwards: Bool, _ make: () -> View) -> [View] {
        let views = (0..<count).map { _ in make() }
        let pairs = Array(zip(views, views.dropFirst()))
        for (outer, inner) in inwards ? pairs : pairs.reversed() {
            if let stack = outer as? StackView { stack.addArrangedSubview(inner) } else { outer.addSubview(inner) }
        }
        return views
    }

    @Test(arguments: [true, false])
    func `The deepest allowed nesting of views is shown, touched, focused and released`(inwards: Bool) throws {
        try TestApplication.with(size: Size(10, 3)) { app in
            weak var last: View?
            do {
                // The window and its root view are two of them.
                let views = nested(View.maxLevels - 3, inwards: inwards) { StackView() }
                var taps = 0
                let button = Button("Ok") { _ in taps += 1 }
                (views[views.count - 1] as? StackView)?.addArrangedSubview(button)
                app.show(all: views[0].at(0, 0, 10, 3))
                last = button
                #expect(app.text.contains("Ok"))
                app.tap(at: Point(4, 0))
                app.press(.tab, .enter, .character("x"))
                #expect(taps == 2 && button.isFirstResponder)
                #expect(views[0].accessibilityDescription == ["button Ok, focused"])
                views[0].isHidden = true
                views[0].removeFromSuperview()
                views[0].theme = .monochrome
            }
            app.settle()
            #expect(last == nil)
        }
    }

    @Test func `Removed views do not count towards the nesting limit`() {
        let views = nested(View.maxLevels, inwards: true) { View() }
        views[1].removeFromSuperview()
        for _ in 0..<3 {
            let other = nested(View.maxLevels - 1, inwards: false) { View() }
            views[0].addSubview(other[0])
            other[0].removeFromSuperview()
        }
    }
}

@MainActor @Suite(.ownThread) struct ViewTreeTrapTests {
    @Test func `Ten thousand nested views trap with a message that names the remedy`() async {
        for inwards in [true, false] {
            let result =
                inwards
                ? await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { @MainActor in
                    var views = [View()]
                    for _ in 0..<10_000 {
                        let inner = View()
                        views[views.count - 1].addSubview(inner)
                        views.append(inner)
                    }
                }
                : await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { @MainActor in
                    var view = View()
                    for _ in 0..<10_000 {
                        let outer = View()
                        outer.addSubview(view)
                        view = outer
                    }
                }
            expectText(result, "501 views would contain each other: at most 500 may. Add views beside each other")
        }
    }

    @Test func `Ten thousand nested controllers trap`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { @MainActor in
            var controllers = [ViewController()]
            for _ in 0..<10_000 {
                let child = ViewController()
                controllers[controllers.count - 1].addChild(child)
                controllers.append(child)
            }
        }
        expectText(result, "More than 500 controllers would contain each other: add controllers beside each other")
    }

    @Test func `A loadView that reads the view traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { @MainActor in
            final class Reader: ViewController { override func loadView() { view.frame = .zero } }
            _ = Reader().view
        }
        expectText(result, "reads the view that it is to make: it sets view before it reads it.")
    }
}
