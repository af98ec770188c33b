// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUITesting
import RunLoops
import RunLoopsTesting
import Testing

@testable import LoopUI

/// A block that is seen as a row of signs.
@MainActor private final class Block: View {
    override func draw(in canvas: inout Canvas) { canvas.fill(canvas.bounds, with: "#", style: .plain) }
}

/// A view that is shown in full when it loses the focus.
@MainActor private final class Field: View {
    override var canBecomeFirstResponder: Bool { true }
    override func firstResponderChanged(_ isFirst: Bool) { if !isFirst { alpha = 1 } }
}

@MainActor private struct Fixture {
    let app: TestApplication
    let block = Block()
    let root = View()

    static func with(_ body: (Fixture) throws -> Void) throws {
        try TestApplication.with(size: Size(40, 4)) { app in
            let fixture = Fixture(app: app)
            fixture.block.frame = Rect(0, 0, 2, 1)
            fixture.root.addSubview(fixture.block)
            app.show(fixture.root)
            app.advance(by: .seconds(1))
            try body(fixture)
        }
    }

    /// The first column in which the block is seen.
    var column: Int? {
        app.line(0).firstIndex(of: "#").map { app.line(0).distance(from: app.line(0).startIndex, to: $0) }
    }

    /// Moves the block to a column.
    func move(
        to column: Double, in milliseconds: Int = 1000, delay: Int = 0, _ options: View.AnimationOptions = .curveLinear,
        completion: ((Bool) -> Void)? = nil
    ) {
        View.animate(
            withDuration: .milliseconds(milliseconds), delay: .milliseconds(delay), options: options,
            animations: { block.frame.origin.x = column }, completion: completion)
    }
}

@MainActor @Suite struct AnimationTests {
    @Test func `An animated frame is set at once, and the view is shown moving to it`() throws {
        try Fixture.with { f in
            f.move(to: 30)
            #expect(f.block.frame == Rect(30, 0, 2, 1))
            #expect(f.app.line(0).hasPrefix("##"))
            var columns: [Int] = []
            for _ in 0..<10 {
                f.app.advance(by: .milliseconds(100))
                columns.append(f.column ?? -1)
            }
            #expect(columns == columns.sorted() && Set(columns).count == 10)
            // The frame before is seen.
            #expect(zip(columns, stride(from: 3, through: 30, by: 3)).allSatisfy { (0...2).contains($1 - $0) })
            f.app.settle()
            #expect(f.column == 30)
            #expect(f.app.line(0).filter { $0 == "#" }.count == 2)
        }
    }

    @Test func `The completion is called once, when the animation ends`() throws {
        try Fixture.with { f in
            var calls: [Bool] = []
            f.move(to: 30) { calls.append($0) }
            f.app.advance(by: .milliseconds(990))
            #expect(calls.isEmpty)
            f.app.advance(by: .milliseconds(60))
            #expect(calls == [true])
            f.app.advance(by: .seconds(3))
            #expect(calls == [true])
        }
    }

    @Test func `A second animation starts from the shown value and interrupts the first`() throws {
        try Fixture.with { f in
            var calls: [String] = []
            f.move(to: 30) { calls.append("first \($0)") }
            f.app.advance(by: .milliseconds(500))
            let shown = try #require(f.column)
            #expect((13...15).contains(shown))
            f.move(to: 0) { calls.append("second \($0)") }
            f.app.settle()
            #expect(abs(shown - (f.column ?? -9)) <= 1)
            #expect(calls == ["first false"])
            f.app.advance(by: .milliseconds(500))
            #expect((6...9).contains(f.column ?? -1))
            f.app.advance(by: .milliseconds(600))
            #expect(f.column == 0)
            #expect(calls == ["first false", "second true"])
        }
    }

    @Test func `A value set outside of an animation is shown at once and interrupts a running animation`() throws {
        try Fixture.with { f in
            var calls: [Bool] = []
            f.move(to: 30) { calls.append($0) }
            f.app.advance(by: .milliseconds(500))
            f.block.frame.origin.x = 20
            #expect(calls.isEmpty)
            f.app.settle()
            #expect(f.column == 20)
            #expect(f.app.line(0).filter { $0 == "#" }.count == 2)
            #expect(calls == [false])
            #expect(f.app.wakeUpsWhenIdle == 0)
        }
    }

    @Test func `The completion of an animation with several values waits for the last value`() throws {
        try Fixture.with { f in
            let other = Block(frame: Rect(0, 1, 2, 1))
            f.root.addSubview(other)
            f.app.settle()
            var calls: [Bool] = []
            View.animate(
                withDuration: .seconds(1),
                animations: {
                    f.block.frame.origin.x = 30
                    other.alpha = 0
                }, completion: { calls.append($0) })
            f.app.advance(by: .milliseconds(500))
            f.block.frame.origin.x = 3
            f.app.advance(by: .milliseconds(100))
            #expect(calls.isEmpty)
            f.app.advance(by: .milliseconds(500))
            #expect(calls == [false])
        }
    }

    @Test func `Animations continue while the user drags a scroll view`() throws {
        try Fixture.with { f in
            let scroll = ScrollView(frame: Rect(0, 1, 40, 3))
            scroll.contentSize = Size(40, 400)
            f.root.addSubview(scroll)
            f.app.settle()
            f.app.send(.pointer(PointerInput(.began, at: Point(5, 3))), .pointer(PointerInput(.moved, at: Point(5, 1))))
            #expect(f.app.application.modes.current == .tracking)
            f.move(to: 30)
            f.app.advance(by: .milliseconds(500))
            #expect((13...15).contains(f.column ?? -1))
            #expect(f.app.application.modes.current == .tracking)
            f.app.send(.pointer(PointerInput(.cancelled, at: Point(5, 1))))
        }
    }

    @Test func `During a delay the old value is shown and the loop does not wake for each frame`() throws {
        try Fixture.with { f in
            var calls: [Bool] = []
            f.move(to: 30, delay: 10_000) { calls.append($0) }
            f.app.settle()
            let wakes = f.app.manual.sleeps
            f.app.advance(by: .seconds(9))
            #expect(f.app.manual.sleeps - wakes <= 1)
            #expect(f.column == 0)
            f.app.advance(by: .milliseconds(1500))
            #expect((13...15).contains(f.column ?? -1))
            f.app.advance(by: .milliseconds(600))
            #expect(calls == [true] && f.column == 30)
        }
    }

    @Test func `The loop has no timer before and after an animation`() throws {
        try Fixture.with { f in
            #expect(f.app.wakeUpsWhenIdle == 0)
            f.move(to: 30)
            f.app.advance(by: .milliseconds(1100))
            #expect(f.app.wakeUpsWhenIdle == 0)
            #expect(!f.app.application.animator.isMoving)
        }
    }

    @Test func `Removal from the window ends an animation and passes false to its completion`() throws {
        try Fixture.with { f in
            var calls: [Bool] = []
            f.move(to: 30) { calls.append($0) }
            f.app.advance(by: .milliseconds(300))
            f.block.removeFromSuperview()
            f.app.settle()
            #expect(calls == [false])
            #expect(f.app.line(0).isEmpty)
            #expect(f.app.wakeUpsWhenIdle == 0)
            f.root.addSubview(f.block)
            f.app.settle()
            #expect(f.column == 30)
        }
    }

    @Test func `The loop is idle after a removed view has set its animated value on losing the focus`() throws {
        try Fixture.with { f in
            let view = Field()
            f.root.addSubview(view)
            f.app.settle()
            view.window?.makeFirstResponder(view)
            View.animate(withDuration: .seconds(5)) { view.alpha = 0 }
            f.app.settle()
            view.removeFromSuperview()
            f.app.settle()
            #expect(view.alpha == 1)
            #expect(f.app.wakeUpsWhenIdle == 0)
        }
    }

    @Test func `Moving a view to a window that is not shown ends a repeated animation`() throws {
        try Fixture.with { f in
            var calls: [Bool] = []
            f.move(to: 30, [.repeat, .autoreverse]) { calls.append($0) }
            f.app.advance(by: .milliseconds(300))
            let hidden = Window()
            hidden.addSubview(f.block)
            f.app.settle()
            #expect(calls == [false])
            #expect(f.app.wakeUpsWhenIdle == 0)
        }
    }

    @Test func `Closing the window ends a repeated animation`() throws {
        try Fixture.with { f in
            f.move(to: 30, [.repeat, .autoreverse])
            f.app.advance(by: .seconds(60))
            #expect(f.app.application.animator.isMoving)
            f.block.window?.close()
            f.app.settle()
            #expect(f.app.wakeUpsWhenIdle == 0)
        }
    }

    @Test func `A view that is removed while it is animated is released`() throws {
        try Fixture.with { f in
            weak var released: View?
            do {
                let view = Block(frame: Rect(0, 1, 2, 1))
                released = view
                f.root.addSubview(view)
                f.app.settle()
                View.animate(withDuration: .seconds(5)) { view.alpha = 0 }
                f.app.settle()
                view.removeFromSuperview()
            }
            f.app.settle()
            #expect(released == nil)
        }
    }

    @Test func `Animated values are shown at once if the display reduces motion`() throws {
        try Fixture.with { f in
            f.app.display.abilities.reducesMotion = true
            var calls: [Bool] = []
            f.move(to: 30) { calls.append($0) }
            #expect(calls.isEmpty)
            f.app.settle()
            #expect(f.column == 30 && calls == [true])
            #expect(f.app.wakeUpsWhenIdle == 0)
        }
    }

    @Test func `Animations end when the display begins to reduce motion`() throws {
        try Fixture.with { f in
            f.move(to: 30, [.repeat])
            f.app.advance(by: .milliseconds(300))
            f.app.display.abilities.reducesMotion = true
            f.app.settle()
            f.app.settle()
            #expect(f.column == 30)
            #expect(f.app.wakeUpsWhenIdle == 0)
        }
    }

    @Test func `An animation that changes nothing completes in the next turn`() throws {
        try Fixture.with { f in
            var calls: [Bool] = []
            View.animate(withDuration: .seconds(5), animations: {}, completion: { calls.append($0) })
            f.move(to: 0) { calls.append($0) }
            #expect(calls.isEmpty)
            f.app.settle()
            #expect(calls == [true, true])
        }
    }

    @Test func `An animation sets the values of a view without a window at once`() throws {
        try Fixture.with { f in
            var calls: [Bool] = []
            let view = Block()
            View.animate(
                withDuration: .seconds(5), animations: { view.frame = Rect(9, 1, 2, 1) },
                completion: { calls.append($0) })
            f.root.addSubview(view)
            f.app.settle()
            #expect(f.app.line(1) == String(repeating: " ", count: 9) + "##")
            #expect(calls == [true])
        }
    }

    @Test func `A change in performWithoutAnimation inside an animation is shown at once`() throws {
        try Fixture.with { f in
            View.animate(withDuration: .seconds(1)) {
                f.block.backgroundColor = .rgb(0, 0, 0)
                View.performWithoutAnimation { f.block.frame.origin.x = 20 }
            }
            f.app.settle()
            #expect(f.column == 20)
        }
    }

    @Test func `A repeated animation begins again at the start, and an autoreversed animation moves back`() throws {
        try Fixture.with { f in
            f.move(to: 30, [.curveLinear, .repeat, .autoreverse])
            f.app.advance(by: .milliseconds(1500))
            #expect((14...17).contains(f.column ?? -1))
            f.app.advance(by: .milliseconds(500))
            #expect((0...2).contains(f.column ?? -1))
            f.app.advance(by: .milliseconds(500))
            #expect((13...16).contains(f.column ?? -1))
            f.move(to: 12, in: 100)
            f.app.advance(by: .milliseconds(200))
            #expect(f.column == 12)
            f.move(to: 30, [.curveLinear, .repeat])
            f.app.advance(by: .milliseconds(1200))
            #expect((13...16).contains(f.column ?? -1))
        }
    }

    @Test func `An animated content offset moves the content step by step`() throws {
        try TestApplication.with(size: Size(10, 3)) { app in
            let scroll = ScrollView()
            scroll.contentSize = Size(9, 100)
            for row in 0..<100 { scroll.addSubview(Label("row \(row)").at(0, Double(row), 8)) }
            app.show(scroll)
            View.animate(withDuration: .seconds(1), options: .curveLinear) { scroll.contentOffset = Point(0, 50) }
            #expect(scroll.contentOffset == Point(0, 50))
            app.advance(by: .milliseconds(500))
            let row = try #require(Int(app.line(0).dropFirst(4).prefix(2)))
            #expect((22...25).contains(row))
            // A finger takes the content where it is seen.
            app.send(.pointer(PointerInput(.began, at: Point(1, 2))), .pointer(PointerInput(.moved, at: Point(1, 1))))
            #expect((Double(row) - 1...Double(row) + 4).contains(scroll.contentOffset.y))
            app.send(.pointer(PointerInput(.cancelled, at: Point(1, 1))))
        }
    }

    @Test func `An animated RGB background is mixed and a terminal colour changes halfway`() throws {
        try Fixture.with { f in
            f.block.frame = Rect(0, 1, 2, 1)
            let front = View(frame: Rect(0, 0, 2, 1))
            front.backgroundColor = .rgb(0, 0, 0)
            f.root.addSubview(front)
            f.app.settle()
            View.animate(withDuration: .seconds(1), options: .curveLinear) { front.backgroundColor = .rgb(200, 100, 0) }
            f.app.advance(by: .milliseconds(517))
            guard case .rgb(let red, let green, 0)? = f.app.style(0, 0)?.background.kind else {
                Issue.record("no mixed colour")
                return
            }
            #expect((90...105).contains(red) && (45...53).contains(green))
            f.app.advance(by: .seconds(1))
            View.animate(withDuration: .seconds(1), options: .curveLinear) { front.backgroundColor = .red }
            f.app.advance(by: .milliseconds(400))
            #expect(f.app.style(0, 0)?.background == .rgb(200, 100, 0))
            f.app.advance(by: .milliseconds(200))
            #expect(f.app.style(0, 0)?.background == .red)
        }
    }

    @Test func `The subviews of an animated view move together with it`() throws {
        try Fixture.with { f in
            let inner = Block(frame: Rect(3, 1, 2, 1))
            f.block.addSubview(inner)
            f.app.settle()
            f.move(to: 20)
            for _ in 0..<11 {
                f.app.advance(by: .milliseconds(100))
                let column = try #require(f.column)
                #expect(f.app.line(1) == String(repeating: " ", count: column + 3) + "##")
            }
            #expect(f.column == 20)
        }
    }

    @Test func `Layout inside an animation moves the views that it places`() throws {
        try TestApplication.with(size: Size(20, 2)) { app in
            let (first, second) = (Block(), Block())
            let stack = StackView(.horizontal)
            stack.addArrangedSubview(first, flex: 1)
            stack.addArrangedSubview(second, flex: 1)
            app.show(stack)
            View.animate(withDuration: .seconds(1), options: .curveLinear) {
                first.isHidden = true
                stack.layoutIfNeeded()
            }
            #expect(second.frame.minX == 0)
            app.advance(by: .milliseconds(500))
            #expect((4...6).contains(second.shownFrame.minX))
            app.advance(by: .milliseconds(600))
            #expect(app.line(0) == String(repeating: "#", count: 20))
        }
    }

    @Test func `A touch hits an animated view at its final frame`() throws {
        try Fixture.with { f in
            f.move(to: 30)
            f.app.advance(by: .milliseconds(300))
            #expect(f.root.hitTest(Point(30, 0), with: nil) === f.block)
            #expect(f.root.hitTest(Point(9, 0), with: nil) === f.root)
        }
    }

    @Test func `A slow layout before the first frame does not shorten the animation`() throws {
        try Fixture.with { f in
            f.app.application.commit.prepare {
                f.app.manual.advance(by: .milliseconds(400), in: RunLoop.Mode("nothing"))
            }
            f.move(to: 30)
            f.app.settle()
            #expect((0...2).contains(f.column ?? -1))
            f.app.advance(by: .milliseconds(500))
            #expect((13...16).contains(f.column ?? -1))
        }
    }

    @Test func `An animation completes while the display stays busy`() throws {
        try Fixture.with { f in
            var calls: [Bool] = []
            f.app.display.isBusy = true
            f.move(to: 30) { calls.append($0) }
            f.app.advance(by: .milliseconds(1200))
            #expect(calls == [true])
            f.app.display.isBusy = false
            f.app.settle()
            #expect(f.column == 30)
        }
    }

    @Test func `A completion may begin the next animation`() throws {
        try Fixture.with { f in
            var ways = 0
            @MainActor func go() {
                ways += 1
                if ways < 5 { f.move(to: ways.isMultiple(of: 2) ? 0 : 30, in: 100) { _ in go() } }
            }
            go()
            f.app.advance(by: .seconds(2))
            #expect(ways == 5 && f.column == 0)
            #expect(f.app.wakeUpsWhenIdle == 0)
        }
    }

    @Test(arguments: [
        (View.AnimationOptions.curveLinear, [0.25, 0.5, 0.75]), (.curveEaseInOut, [0.129, 0.5, 0.871]),
        (.curveEaseIn, [0.093, 0.315, 0.622]), (.curveEaseOut, [0.378, 0.685, 0.907]),
    ])
    func `The curves are those of Core Animation`(options: View.AnimationOptions, ways: [Double]) {
        let curve = options.curve
        #expect(curve.way(after: 0) == 0 && curve.way(after: 1) == 1)
        for (time, way) in zip([0.25, 0.5, 0.75], ways) { #expect(abs(curve.way(after: time) - way) < 0.001) }
    }

    @Test func `Ten thousand views move in one animation, and the animator is idle afterwards`() throws {
        try Fixture.with { f in
            let views = (0..<10_000).map { _ in View(frame: Rect(0, 2, 1, 1)) }
            for view in views { f.root.addSubview(view) }
            f.app.settle()
            var calls: [Bool] = []
            View.animate(
                withDuration: .milliseconds(100), animations: { for view in views { view.frame.origin.x = 9 } },
                completion: { calls.append($0) })
            f.app.advance(by: .milliseconds(200))
            #expect(calls == [true])
            #expect(!f.app.application.animator.isMoving)
        }
    }
}

@MainActor @Suite struct AlphaTests {
    private func style(alpha: Double, _ view: View, _ body: (TestApplication) throws -> Void) throws {
        try TestApplication.with(size: Size(4, 1)) { app in
            let root = View()
            root.backgroundColor = .rgb(0, 0, 0)
            view.frame = Rect(0, 0, 4, 1)
            view.alpha = alpha
            root.addSubview(view)
            app.show(root)
            try body(app)
        }
    }

    @Test func `A translucent RGB colour is mixed with the colour below`() throws {
        let view = View()
        view.backgroundColor = .rgb(200, 100, 40)
        try style(alpha: 0.25, view) { app in #expect(app.style(1, 0)?.background == .rgb(50, 25, 10)) }
    }

    @Test func `The letters of a translucent view are mixed with the background and hidden below alpha 0.5`() throws {
        let label = Label("word", style: Style(.rgb(200, 200, 200)))
        try style(alpha: 0.75, label) { app in
            #expect(app.line(0) == "word")
            #expect(app.style(1, 0)?.foreground == .rgb(100, 100, 100))
            label.alpha = 0.49
            app.settle()
            #expect(app.line(0) == "")
            label.alpha = 1
            app.settle()
            #expect(app.style(1, 0)?.foreground == .rgb(200, 200, 200))
        }
    }

    @Test func `Letters in a terminal colour are dim up to alpha 0.75`() throws {
        let label = Label("word", style: Style(.red))
        try style(alpha: 0.6, label) { app in
            #expect(app.style(0, 0) == Style(.red, on: .rgb(0, 0, 0), .dim))
            label.alpha = 0.8
            app.settle()
            #expect(app.style(0, 0) == Style(.red, on: .rgb(0, 0, 0)))
        }
    }

    @Test(arguments: [0.2, 0.5, 0.8]) func `Translucent text does not leave half of a wide character`(alpha: Double)
        throws
    {
        try TestApplication.with(size: Size(6, 1)) { app in
            let root = View()
            root.addSubview(Label("界界界").at(0, 0, 6))
            let label = Label("a界b").at(1, 0, 4)
            label.alpha = alpha
            root.addSubview(label)
            app.show(root)
            #expect(app.line(0) == (alpha < 0.5 ? "界界界" : " a界b"))
        }
    }

    @Test func `A view that fades out is still visible but is not hit by touches`() throws {
        let label = Label("word")
        try style(alpha: 1, label) { app in
            View.animate(withDuration: .seconds(1), options: .curveLinear) { label.alpha = 0 }
            app.advance(by: .milliseconds(300))
            #expect(app.line(0) == "word")
            #expect(label.hitTest(Point(1, 0), with: nil) == nil)
            app.advance(by: .milliseconds(500))
            #expect(app.line(0) == "")
        }
    }

    @Test func `A view and its subviews are composed before they are faded`() throws {
        let outer = View()
        outer.backgroundColor = .rgb(100, 100, 100)
        let inner = View(frame: Rect(0, 0, 2, 1))
        inner.backgroundColor = .rgb(200, 0, 0)
        outer.addSubview(inner)
        try style(alpha: 0.5, outer) { app in
            #expect(app.style(0, 0)?.background == .rgb(100, 0, 0))
            #expect(app.style(3, 0)?.background == .rgb(50, 50, 50))
        }
    }
}
