// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUITesting
import RunLoops
import Testing

@testable import LoopUI

/// A controller that does what the test says in its calls.
@MainActor private final class Doer: ViewController {
    var willAppear: (() -> Void)?
    var willDisappear: (() -> Void)?
    let log = Log()

    override func viewWillAppear() {
        log.add("will appear")
        willAppear?()
    }
    override func viewDidAppear() { log.add("did appear") }
    override func viewWillDisappear() {
        log.add("will disappear")
        willDisappear?()
    }
    override func viewDidDisappear() { log.add("did disappear") }
}

/// A view that does what the test says when it is asked.
@MainActor private final class Asked: View {
    var whenHit: (() -> Void)?
    var whenFirst: ((Bool) -> Void)?
    var whenTouched: ((Touch) -> Void)?
    /// Where the touch was before each move of it.
    var previous: [Point] = []
    var resigns = true

    override func hitTest(_ point: Point, with event: Event?) -> View? {
        whenHit?()
        return super.hitTest(point, with: event)
    }
    override var canBecomeFirstResponder: Bool { true }
    override var canResignFirstResponder: Bool { resigns }
    override func firstResponderChanged(_ isFirst: Bool) { whenFirst?(isFirst) }
    override func touchesBegan(_ touches: Set<Touch>, with event: Event?) {
        for touch in touches { whenTouched?(touch) }
    }
    override func touchesMoved(_ touches: Set<Touch>, with event: Event?) {
        previous += touches.map { $0.previousPosition }
    }
    override func touchesEnded(_ touches: Set<Touch>, with event: Event?) {}
}

@MainActor private final class StateDelegate: ApplicationDelegate {
    var resigning: ((Application) -> Void)?
    var inBackground: ((Application) -> Void)?
    var terminating: ((Application) -> Void)?

    func applicationWillResignActive(_ application: Application) { resigning?(application) }
    func applicationDidEnterBackground(_ application: Application) { inBackground?(application) }
    func applicationWillTerminate(_ application: Application) { terminating?(application) }
}

/// The program's code is called in the middle of something: what was read before does not hold afterwards.
@MainActor @Suite struct CalloutTests {
    // MARK: Presentations

    @Test func `An alert that a dismissed sheet presents in viewWillDisappear is shown until Escape`() throws {
        try TestApplication.with(size: Size(30, 8)) { app in
            let (first, sheet) = (Doer(), Doer())
            let alert = AlertController(title: "Saved")
            alert.addAction(AlertAction("OK"))
            sheet.willDisappear = { [weak sheet] in sheet?.present(alert) }
            app.show(first)
            first.present(sheet)
            app.settle()
            first.dismiss()
            app.settle()
            #expect(first.presentedViewController === alert && alert.presentingViewController === first)
            #expect(sheet.view.window == nil && app.text.contains("Saved"))
            app.press(.escape)
            #expect(first.presentedViewController == nil && !app.text.contains("Saved"))
        }
    }

    @Test func `A sheet retains a presenter that the program releases, until the sheet is dismissed`() throws {
        try TestApplication.with(size: Size(30, 8)) { app in
            let window = app.show(Doer())
            weak var presenter: Doer?
            weak var sheet: Doer?
            do {
                let (loose, shown) = (Doer(), Doer())
                (presenter, sheet) = (loose, shown)
                window.addSubview(loose.view)
                loose.present(shown)
                loose.view.removeFromSuperview()
            }
            app.settle()
            #expect(presenter != nil && sheet?.view.window === window)
            app.press(.escape)
            #expect(window.frontOverlay == nil)
            #expect(presenter == nil && sheet == nil)
        }
    }

    @Test func `Escape dismisses a sheet whose view was removed from its superview`() throws {
        try TestApplication.with(size: Size(30, 8)) { app in
            let (first, sheet) = (Doer(), Doer())
            let window = app.show(first)
            first.present(sheet)
            sheet.view.removeFromSuperview()
            app.settle()
            app.press(.escape)
            #expect(window.frontOverlay == nil && first.presentedViewController == nil)
        }
    }

    @Test func `A presented controller whose view is replaced shows the new view`() throws {
        try TestApplication.with(size: Size(30, 8)) { app in
            let (first, sheet) = (Doer(), Doer())
            app.show(first)
            first.present(sheet)
            let other = View()
            sheet.view = other
            app.settle()
            app.display.resize(to: Size(28, 7))
            app.settle()
            #expect(other.frame == Rect(3, 2, 22, 4))
            first.dismiss()
            #expect(other.superview == nil)
        }
    }

    @Test(arguments: [PresentationStyle.sheet, .fullScreen])
    func `A controller that is dismissed in its viewWillAppear is not shown`(style: PresentationStyle) throws {
        try TestApplication.with(size: Size(30, 8)) { app in
            let (first, second) = (Doer(), Doer())
            let window = app.show(first)
            second.willAppear = { [weak second] in second?.dismiss() }
            first.present(second, style: style)
            #expect(second.log.lines == ["will appear", "will disappear", "did disappear"])
            #expect(second.view.window == nil && window.frontOverlay == nil)
            #expect(first.presentedViewController == nil)
            #expect(first.log.lines.last == "did appear")
        }
    }

    @Test func `A root controller that makes itself root again in viewWillDisappear is not replaced`() throws {
        try TestApplication.with(size: Size(30, 8)) { app in
            let (first, second) = (Doer(), Doer())
            let window = app.show(first)
            first.willDisappear = { [weak first, weak window] in
                first?.willDisappear = nil
                window?.rootViewController = first
            }
            window.rootViewController = second
            #expect(window.rootViewController === first && first.view.superview === window)
            #expect(second.view.superview == nil)
            #expect(first.log.lines.last == "did appear")
        }
    }

    @Test func `A child that moves to another parent in viewWillAppear receives viewWillAppear once`() throws {
        try TestApplication.with(size: Size(30, 8)) { app in
            let (first, other, child) = (Doer(), Doer(), Doer())
            let window = app.show(first)
            _ = window
            child.willAppear = { [weak child] in
                child?.willAppear = nil
                if let child { other.addChild(child) }
            }
            first.addChild(child)
            #expect(first.children.isEmpty && other.children == [child] && child.parent === other)
            #expect(child.log.lines == ["will appear", "will disappear", "did disappear"])
        }
    }

    // MARK: The first responder

    @Test func `A view moved into a hidden view is no longer the first responder`() throws {
        try TestApplication.with(size: Size(20, 5)) { app in
            let (field, box) = (TextField().at(0, 0, 10), View())
            box.isHidden = true
            let window = app.show(all: field, box)
            field.becomeFirstResponder()
            box.addSubview(field)
            #expect(window.firstResponder == nil)
            #expect(!field.becomeFirstResponder())
            app.type("x")
            #expect(field.text == "")
            box.isHidden = false
            #expect(field.becomeFirstResponder())
        }
    }

    @Test func `A view that refuses to resign is no longer first responder when it is hidden, removed or covered`()
        throws
    {
        try TestApplication.with(size: Size(20, 5)) { app in
            let view = Asked()
            let root = ViewController()
            root.view.addSubview(view)
            let window = app.show(root)
            view.resigns = false
            view.becomeFirstResponder()
            #expect(!window.makeFirstResponder(nil))
            view.isHidden = true
            #expect(window.firstResponder == nil)
            view.isHidden = false
            view.becomeFirstResponder()
            view.removeFromSuperview()
            #expect(window.firstResponder == nil)
            root.view.addSubview(view)
            view.becomeFirstResponder()
            root.present(ViewController())
            #expect(window.firstResponder == nil)
            #expect(!view.becomeFirstResponder())
            root.dismiss()
            #expect(window.firstResponder === view)
        }
    }

    @Test func `A controller is no longer the first responder when its view is removed`() throws {
        final class Taker: ViewController { override var canBecomeFirstResponder: Bool { true } }
        try TestApplication.with(size: Size(20, 5)) { app in
            let (root, child) = (View(), Taker())
            root.addSubview(child.view)
            let window = app.show(root)
            #expect(child.becomeFirstResponder())
            child.view.removeFromSuperview()
            #expect(window.firstResponder == nil)
        }
    }

    @Test func `firstResponderChanged is called once for each change if a resigning view chooses another responder`()
        throws
    {
        try TestApplication.with(size: Size(20, 5)) { app in
            let (first, second, third) = (Asked(), Asked(), Asked())
            let window = app.show(all: first, second, third)
            let log = Log()
            for (name, view) in [("first", first), ("second", second), ("third", third)] {
                view.whenFirst = { log.add("\(name) \($0)") }
            }
            first.becomeFirstResponder()
            first.whenFirst = { [unowned third] isFirst in
                log.add("first \(isFirst)")
                if !isFirst { third.becomeFirstResponder() }
            }
            #expect(!second.becomeFirstResponder())
            #expect(window.firstResponder === third)
            #expect(log.lines == ["first true", "first false", "third true"])
        }
    }

    // MARK: Tables

    @Test func `Rows that the data source deletes in cellForRow are not shown`() throws {
        final class Shrinking: TableViewDataSource {
            var rows = Array(0..<9)
            func numberOfRows(in tableView: TableView) -> Int { rows.count }
            func tableView(_ tableView: TableView, cellForRow row: Int) -> TableCell {
                if row == 2, rows.count == 9 {
                    rows.removeLast(7)
                    tableView.deleteRows(2..<9)
                }
                let cell = tableView.dequeueCell(for: "row")
                cell.text = "row \(row)"
                return cell
            }
        }
        try TestApplication.with(size: Size(10, 5)) { app in
            let (table, source) = (TableView(), Shrinking())
            table.register(TableCell.init, for: "row")
            table.dataSource = source
            app.show(table)
            #expect(app.text == "row 0\nrow 1\n\n\n\n")
            #expect(table.subviews.filter { !$0.isHidden }.count == 2)
        }
    }

    @Test func `heightForRow may read the table and reload it`() throws {
        try TableFixture.with(["a", "b", "c"], variable: true) { f in
            final class Reader: TableViewDelegate {
                var calls = 0
                func tableView(_ tableView: TableView, heightForRow row: Int) -> Double {
                    calls += 1
                    if calls == 2 { tableView.reloadData() }
                    return Double(tableView.numberOfRows > 100 ? 2 : 1)
                }
            }
            let reader = Reader()
            f.table.delegate = reader
            f.rows.texts.insert("d", at: 1)
            reader.calls = 0
            f.table.insertRows(1..<2)
            f.table.reloadRows(0..<4)
            f.app.settle()
            #expect(f.lines == ["a", "d", "b", "c", ""])
        }
    }

    @Test func `A row deleted while it is scrolled into view is not chosen`() throws {
        final class Remover: TableViewDelegate {
            let rows: Rows
            var chosen: [Int] = []
            init(_ rows: Rows) { self.rows = rows }
            func scrollViewDidScroll(_ scrollView: ScrollView) {
                guard let table = scrollView as? TableView, rows.texts.count == 9 else { return }
                rows.texts.removeLast(8)
                table.deleteRows(1..<9)
            }
            func tableView(_ tableView: TableView, didSelectRow row: Int) { chosen.append(row) }
        }
        try TableFixture.with((0..<9).map { "\($0)" }) { f in
            let remover = Remover(f.rows)
            f.table.delegate = remover
            f.table.frame = Rect(0, 0, 20, 4)
            f.table.selectedRow = 3
            f.app.settle()
            f.app.press(.down)
            f.app.press(.enter)
            #expect(f.table.numberOfRows == 1)
            #expect(remover.chosen == [0])
        }
    }

    @Test func `A scroll animation that the delegate starts at the end of another animation runs to its end`() throws {
        final class Onward: ScrollViewDelegate {
            func scrollViewDidScroll(_ scrollView: ScrollView) {
                if scrollView.contentOffset.y == 10 { scrollView.setContentOffset(Point(0, 30), animated: true) }
            }
        }
        try TestApplication.with(size: Size(10, 5)) { app in
            let (scroll, onward) = (ScrollView(), Onward())
            scroll.contentSize = Size(10, 100)
            scroll.delegate = onward
            app.show(scroll)
            scroll.setContentOffset(Point(0, 10), animated: true)
            app.advance(by: .seconds(2))
            #expect(scroll.contentOffset == Point(0, 30))
        }
    }

    @Test(arguments: [true, false])
    func `A scroll view that its delegate removes or stops does not decelerate`(removes: Bool) throws {
        final class Ender: ScrollViewDelegate {
            let removes: Bool
            init(_ removes: Bool) { self.removes = removes }
            func scrollViewDidEndDragging(_ scrollView: ScrollView, willDecelerate: Bool) {
                if removes { scrollView.removeFromSuperview() } else { scrollView.isScrollEnabled = false }
            }
        }
        try TestApplication.with(size: Size(10, 9)) { app in
            let (scroll, ender) = (ScrollView(frame: Rect(0, 0, 10, 9)), Ender(removes))
            scroll.contentSize = Size(10, 1000)
            scroll.delegate = ender
            app.show(all: scroll)
            app.send(.pointer(PointerInput(.began, at: Point(1, 8))))
            for y in (0..<8).reversed() {
                app.advance(by: .milliseconds(10))
                app.send(.pointer(PointerInput(.moved, at: Point(1, Double(y)))))
            }
            app.send(.pointer(PointerInput(.ended, at: Point(1, 0))))
            #expect(!scroll.isDecelerating && app.application.modes.current == .default)
        }
    }

    // MARK: The application

    @Test func `A view may suspend the program while it is hit-tested`() throws {
        try TestApplication.with(size: Size(10, 5)) { app in
            let view = Asked()
            view.whenHit = { app.application.suspend() }
            app.show(view)
            app.send(.pointer(PointerInput(.began, at: .zero)))
            #expect(app.application.state == .suspended && app.display.isSuspended)
            view.whenHit = nil
            var touches = 0
            view.whenTouched = { _ in touches += 1 }
            app.send(.resumed, .pointer(PointerInput(.ended, at: .zero)))
            app.tap(at: .zero)
            #expect(app.application.state == .active && touches == 1)
        }
    }

    @Test func `A call of terminate in a callback of suspend ends the program`() throws {
        let delegate = StateDelegate()
        delegate.inBackground = { $0.terminate() }
        // The delegate may say so again.
        delegate.terminating = { $0.terminate() }
        delegate.resigning = { $0.suspend() }
        try TestApplication.with(delegate: delegate) { app in
            app.show(View())
            app.application.suspend()
            #expect(app.application.state == .notRunning)
            #expect(!app.display.isSuspended && !app.display.isOpen)
        }
    }

    @Test func `Keys that were read before an action runs the loop are delivered after the action`() throws {
        try TestApplication.with { app in
            let (view, log) = (View(), Log())
            let field = TextField { _ in }.at(0, 1, 10)
            let button = Button("Wait") { _ in
                log.add("begins")
                field.becomeFirstResponder()
                app.application.loop.run(in: .default, for: .milliseconds(1))
                log.add("ends")
            }.at(0, 0, 10)
            field.addAction(for: .editingChanged) { log.add($0.text) }
            view.addSubview(button)
            view.addSubview(field)
            app.show(view)
            button.becomeFirstResponder()
            for key in [Key.enter, .character("a"), .character("b")] { app.display.push(.key(KeyInput(key))) }
            app.settle()
            #expect(log.lines == ["begins", "ends", "a", "ab"])
        }
    }

    @Test func `A move delivered by a nested run in touchesBegan becomes the previous position of the next move`()
        throws
    {
        try TestApplication.with(size: Size(20, 5)) { app in
            let view = Asked()
            view.whenTouched = { _ in
                app.display.push(.pointer(PointerInput(.moved, at: Point(9, 3))))
                app.application.loop.run(in: .default, for: .milliseconds(1))
            }
            app.show(view)
            app.send(.pointer(PointerInput(.began, at: .zero)))
            app.send(.pointer(PointerInput(.moved, at: Point(9, 4))))
            #expect(view.previous == [.zero, Point(9, 3)])
            app.send(.pointer(PointerInput(.ended, at: Point(9, 4))))
        }
    }

    @Test func `A recogniser disabled in canPrevent is possible again after it is enabled`() throws {
        final class Refuser: TapGestureRecognizer {
            weak var other: GestureRecognizer?
            override func canPrevent(_ other: GestureRecognizer) -> Bool {
                self.isEnabled = false
                self.other?.isEnabled = false
                return true
            }
        }
        try TestApplication.with(size: Size(20, 5)) { app in
            let (view, one, two) = (View(), Refuser(), Refuser())
            var taps = 0
            one.other = two
            two.other = one
            for tap in [one, two] {
                tap.addAction { _ in taps += 1 }
                view.addGestureRecognizer(tap)
            }
            app.show(view)
            app.tap(at: .zero)
            app.advance(by: .seconds(1))
            #expect(taps == 0)
            one.isEnabled = true
            #expect(one.state == .possible)
        }
    }

    @Test func `The text that a pasteboard's changeHandler sets during a cut is kept`() throws {
        try TestApplication.with { app in
            let field = TextField().at(0, 0, 20)
            field.pasteboard = Pasteboard()
            field.pasteboard.changeHandler = { [weak field] _ in field?.text = "x" }
            app.show(all: field)
            field.becomeFirstResponder()
            app.type("a long text")
            app.press(.character("u"), modifiers: .control)
            #expect(field.text == "x" && field.pasteboard.text == "a long text")
        }
    }

    @Test func `A control disabled by its touchUpInside action does not call its primary action`() throws {
        try TestApplication.with { app in
            var acted = 0
            let button = Button("Save") { _ in acted += 1 }.at(0, 0, 10)
            button.addAction(for: .touchUpInside) { $0.isEnabled = false }
            app.show(all: button)
            app.tap(at: Point(1, 0))
            button.isEnabled = true
            button.tap()
            #expect(acted == 0 && !button.isEnabled)
        }
    }

    @Test func `A display that reports ready before present returns busy gets the next frame`() throws {
        final class Hasty: Display {
            var size: Size { Size(10, 2) }
            var abilities: DisplayAbilities { DisplayAbilities() }
            var queue: InputQueue?
            var frames = 0
            var isBusyOnce = false
            func open(_ input: InputQueue) { queue = input }
            func present(_ frame: Frame) -> Presentation {
                if isBusyOnce {
                    isBusyOnce = false
                    queue?.displayIsReady()
                    return .busy
                }
                frames += 1
                return .taken
            }
            func suspend() {}
            func resume() {}
            func close() {}
        }
        try TestApplication.with { _ in }
        let hasty = Hasty()
        let application = Application(display: hasty)
        try application.launch()
        defer { application.terminate() }
        let window = Window()
        window.makeKeyAndVisible()
        application.commit.flush()
        let frames = hasty.frames
        hasty.isBusyOnce = true
        application.commit.frameInterval = .zero
        application.commit.damageAll()
        application.commit.flush()
        application.commit.flush()
        #expect(hasty.frames == frames + 1)
    }
}
