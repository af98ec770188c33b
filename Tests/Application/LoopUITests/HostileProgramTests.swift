// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUITesting
import RunLoops
import RunLoopsTestSupport
import Testing

@testable import LoopUI

/// Does anything a program may do, in the middle of any call.
@MainActor private final class Saboteur {
    var numbers: SeededRandom
    /// How many more actions there may be until the next input: a program that answers each call with another never
    /// ends.
    var left = 0
    private var nesting = 0
    private let app: TestApplication
    private(set) var views: [View] = []
    private(set) var controllers: [ViewController] = []
    private(set) var windows: [Window] = []
    var tables: [TableView] { views.compactMap { $0 as? TableView } }
    var texts: [String] = (0..<12).map { "row \($0)" }
    private var recognizers: [GestureRecognizer] = []
    private let pasteboard = Pasteboard()

    init(_ app: TestApplication, seed: UInt64) {
        self.app = app
        numbers = SeededRandom(seed)
        pasteboard.changeHandler = { [weak self] _ in self?.callout() }
    }

    func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &numbers) }

    func one<Item>(of items: [Item]) -> Item? { items.isEmpty ? nil : items[number(0..<items.count)] }

    // MARK: The program

    func build() {
        app.drawing.duration = { [weak self] in .milliseconds(self?.number(0..<80) ?? 0) }
        for _ in 0..<3 { controllers.append(HostileController(self)) }
        for _ in 0..<5 { views.append(HostileView(self)) }
        for _ in 0..<2 {
            let button = Button("Tap") { [weak self] _ in self?.callout() }
            button.addAction(for: [.touchDown, .touchUpInside, .touchCancel]) { [weak self] _ in self?.callout() }
            let field = TextField { [weak self] _ in self?.callout() }
            field.pasteboard = pasteboard
            field.addAction(for: .editingChanged) { [weak self] _ in self?.callout() }
            let table = TableView()
            table.register({ [weak self] in HostileCell(self) }, for: "row")
            table.delegate = self
            table.dataSource = self
            let scroll = HostileScrollView(self)
            scroll.contentSize = Size(30, 40)
            scroll.delegate = self
            let split = SplitView(.horizontal, View(), View())
            views += [button, field, table, scroll, StackView(), split]
        }
        for kind in [TapGestureRecognizer.self, PanGestureRecognizer.self, LongPressGestureRecognizer.self] {
            let recognizer = kind.init()
            recognizer.addAction { [weak self] _ in self?.callout() }
            recognizer.delegate = self
            recognizers.append(recognizer)
        }
        for view in views {
            view.frame = Rect(
                Double(number(0..<20)), Double(number(0..<6)), Double(number(1..<20)), Double(number(1..<6)))
        }
        let window = Window()
        windows.append(window)
        window.rootViewController = controllers[0]
        window.makeKeyAndVisible()
        for view in views { controllers[0].view.addSubview(view) }
    }

    /// The program's code is called.
    func callout() {
        guard left > 0, nesting < 3, numbers.oneIn(3) else { return }
        nesting += 1
        defer { nesting -= 1 }
        for _ in 0..<number(1..<4) where left > 0 {
            left -= 1
            act()
        }
    }

    func act() {
        switch number(0..<16) {
        case 14, 15: animate()
        case 0, 1: move()
        case 2: show()
        case 3, 4: present()
        case 5: dismiss()
        case 6: changeWindow()
        case 7, 8: changeTable()
        case 9: changeScroll()
        case 10: changeKeys()
        case 11: changeGesture()
        case 12: changeApplication()
        default: changeController()
        }
    }

    private func move() {
        guard let view = one(of: views) else { return }
        if numbers.oneIn(3) { return view.removeFromSuperview() }
        if numbers.oneIn(12), let above = view.superview { return above.removeFromSuperview() }
        guard let parent = one(of: views + controllers.map(\.view)), !parent.isInside(view) else { return }
        if let stack = parent as? StackView, numbers.oneIn(2) {
            stack.insertArrangedSubview(view, at: number(-1..<4), flex: Double(number(-1..<3)))
        } else if view.superview === parent, numbers.oneIn(2) {
            if numbers.oneIn(2) { parent.bringSubviewToFront(view) } else { parent.sendSubviewToBack(view) }
        } else {
            parent.insertSubview(view, at: number(-1..<6))
        }
    }

    private func show() {
        guard let view = one(of: views) else { return }
        switch number(0..<8) {
        case 6: view.backgroundColor = one(of: [.red, .clear, .rgb(9, 8, 7), .rgb(200, 0, 90)]) ?? .default
        case 7:
            (view as? HostileView)?.isAsync.toggle()
            view.setNeedsUpdateConstraints()
            view.setNeedsDisplay()
        case 0: view.isHidden.toggle()
        case 1: view.alpha = one(of: [0, 0.3, 0.7, 1]) ?? 1
        case 2:
            view.frame = Rect(
                Double(number(-5..<30)), Double(number(-5..<10)), Double(number(0..<30)), Double(number(0..<9)))
        case 3: view.clipsToBounds.toggle()
        case 4: (view as? Control)?.isEnabled.toggle()
        default:
            view.setNeedsLayout()
            view.setNeedsDisplay()
            if numbers.oneIn(3) { view.layoutIfNeeded() }
        }
    }

    private func animate() {
        let options: [View.AnimationOptions] = [[], .curveLinear, .repeat, [.repeat, .autoreverse]]
        View.animate(
            withDuration: .milliseconds(number(0..<400)), delay: .milliseconds(number(0..<3) * 100),
            options: one(of: options) ?? [],
            animations: {
                callout()
                for _ in 0..<number(0..<4) { show() }
                if numbers.oneIn(3) { changeScroll() }
                if numbers.oneIn(5) { View.performWithoutAnimation { show() } }
                if numbers.oneIn(4) { one(of: views)?.layoutIfNeeded() }
            }, completion: { [weak self] _ in self?.callout() })
    }

    private func present() {
        guard let presenter = one(of: controllers), presenter.view.window != nil else { return }
        let styles: [PresentationStyle?] = [nil, .sheet, .alert, .fullScreen]
        if numbers.oneIn(3) {
            let alert = AlertController(title: "Hostile", message: "Yes.")
            alert.addAction(AlertAction("OK") { [weak self] in self?.callout() })
            if numbers.oneIn(2) { alert.addTextField() }
            return presenter.present(alert)
        }
        if numbers.oneIn(4), let anchor = one(of: views), anchor.window != nil {
            return Menu([Menu.Item("Do") { [weak self] in self?.callout() }]).open(below: anchor)
        }
        // Controllers that the program does not keep.
        let controller = numbers.oneIn(2) ? HostileController(self) : one(of: controllers)
        guard let controller, controller.presentingViewController == nil, controller.overlay == nil,
            controller.parent == nil,
            controller.view.window == nil, !presenter.view.isInside(controller.view)
        else { return }
        // The first look at the other's view has called the program.
        let style = one(of: styles) ?? nil
        if presenter.view.window != nil, controller.canBePresented(over: presenter.frontmost) {
            presenter.present(controller, style: style)
        }
    }

    private func dismiss() {
        let shown = windows.flatMap { sequence(first: $0.rootViewController, next: { $0?.presentedViewController }) }
        (one(of: shown.compactMap(\.self)) ?? one(of: controllers))?.dismiss()
    }

    private func changeWindow() {
        guard let window = one(of: windows) else { return }
        switch number(0..<6) {
        case 0: window.close()
        case 1, 2: window.makeKeyAndVisible()
        case 3:
            let window = Window()
            windows = [window] + windows.prefix(1)
            fallthrough
        case 4:
            let controller = HostileController(self)
            controllers[number(0..<controllers.count)] = controller
            window.rootViewController = controller
            for view in views where numbers.oneIn(2) && !controller.view.isInside(view) {
                controller.view.addSubview(view)
            }
        default: app.display.push(.resized(Size(Double(number(10..<40)), Double(number(4..<12)))))
        }
    }

    private func changeTable() {
        guard let table = one(of: tables) else { return }
        let isInOrder = tables.allSatisfy { $0.dataSource === self && $0.numberOfRows == texts.count }
        switch number(0..<10) {
        case 0, 1:
            let row = number(0..<texts.count + 1)
            texts.insert("new \(row)", at: row)
            if isInOrder { for table in tables { insert(row, table) } } else { reload() }
        case 2, 3:
            guard !texts.isEmpty else { return }
            let row = number(0..<texts.count)
            texts.remove(at: row)
            if isInOrder { for table in tables { delete(row, table) } } else { reload() }
        case 4: reload()
        case 5: table.rowHeight = table.rowHeight == nil ? 1 : nil
        case 6: table.delegate = table.delegate == nil ? self : nil
        case 7:
            table.dataSource = nil
            table.dataSource = self
        case 8: if table.numberOfRows > 0 { table.selectedRow = number(0..<table.numberOfRows) }
        default:
            if table.numberOfRows > 0 { table.scrollToRow(number(0..<table.numberOfRows), at: .middle, animated: true) }
        }
    }

    private func reload() { for table in tables { table.reloadData() } }

    // A call of the first table may have changed the rows again.
    private func insert(_ row: Int, _ table: TableView) {
        if table.numberOfRows + 1 == texts.count, row <= table.numberOfRows {
            table.insertRows(row..<row + 1)
        } else {
            table.reloadData()
        }
    }
    private func delete(_ row: Int, _ table: TableView) {
        if table.numberOfRows - 1 == texts.count, row < table.numberOfRows {
            table.deleteRows(row..<row + 1)
        } else {
            table.reloadData()
        }
    }

    private func changeScroll() {
        guard let scroll = one(of: views.compactMap { $0 as? ScrollView }) else { return }
        switch number(0..<5) {
        case 0: scroll.setContentOffset(Point(0, Double(number(-2..<30))), animated: true)
        case 1: scroll.setContentOffset(Point(Double(number(-2..<30)), 0), animated: false)
        case 2: scroll.stopScrolling()
        case 3: scroll.isScrollEnabled.toggle()
        default: if !(scroll is TableView) { scroll.contentSize = Size(Double(number(0..<60)), Double(number(0..<60))) }
        }
    }

    private func changeKeys() {
        guard let window = one(of: windows) else { return }
        switch number(0..<6) {
        case 0: window.makeFirstResponder(nil)
        case 1: one(of: views)?.becomeFirstResponder()
        case 2: window.focusNext()
        case 3: one(of: views)?.resignFirstResponder()
        case 4: one(of: views.compactMap { $0 as? TextField })?.text = "text \(number(0..<9))"
        default: window.moveFocus(.down)
        }
    }

    private func changeGesture() {
        guard let recognizer = one(of: recognizers) else { return }
        switch number(0..<4) {
        case 0: recognizer.isEnabled.toggle()
        case 1: one(of: views)?.addGestureRecognizer(recognizer)
        case 2: recognizer.view?.removeGestureRecognizer(recognizer)
        default: recognizer.state = one(of: [.began, .changed, .ended, .failed, .cancelled]) ?? .failed
        }
    }

    private func changeApplication() {
        switch number(0..<8) {
        case 0: app.application.suspend()
        case 1: app.display.push(.resumed)
        case 2: app.display.push(.focus(numbers.oneIn(2)))
        case 3: app.display.push(.key(KeyInput(.tab)))
        case 4: app.application.commit.flush()
        case 5: app.application.commit.afterCommit { [weak self] in self?.callout() }
        case 6: app.application.commit.prepare { [weak self] in self?.callout() }
        default: if nesting < 3 { _ = app.application.loop.run(in: .default, for: .microseconds(1)) }
        }
    }

    private func changeController() {
        guard let controller = one(of: controllers), let other = one(of: controllers) else { return }
        switch number(0..<5) {
        case 0: controllers[number(0..<controllers.count)] = HostileController(self)
        case 1
        where !sequence(first: controller, next: { $0.parent }).contains(other) && !other.view.isInside(controller.view)
            && !controller.view.isInside(other.view) && other.presentingViewController == nil:
            controller.addChild(other)
            if other.parent === controller, !controller.view.isInside(other.view) {
                controller.view.addSubview(other.view)
            }
        case 2: controller.parent?.removeChild(controller)
        case 3:
            let view = HostileView(self)
            controller.view = view
        default: controller.title = "title"
        }
    }

    // MARK: The user

    func input() {
        let place = Point(Double(number(0..<30)), Double(number(0..<8)))
        switch number(0..<8) {
        case 0, 1: app.display.push(.pointer(PointerInput(.began, at: place, identifier: number(0..<2))))
        case 2, 3: app.display.push(.pointer(PointerInput(.moved, at: place, identifier: number(0..<2))))
        case 4:
            app.display.push(
                .pointer(PointerInput(numbers.oneIn(5) ? .cancelled : .ended, at: place, identifier: number(0..<2))))
        case 5: app.display.push(.wheel(WheelInput(Point(0, Double(number(-2..<3))), at: place)))
        case 6:
            let keys: [Key] = [.tab, .enter, .escape, .up, .down, .character("x"), .character("k"), .end, .backspace]
            app.display.push(.key(KeyInput(one(of: keys) ?? .tab, modifiers: numbers.oneIn(4) ? .control : [])))
        default: app.display.push(.paste("pasted", isLast: true))
        }
    }

    // MARK: What holds afterwards

    func check(_ seed: UInt64, _ step: Int) {
        let place: Comment = "seed \(seed), step \(step)"
        for window in app.application.windows {
            var seen: Set<View> = []
            func look(_ view: View) {
                #expect(seen.insert(view).inserted, place)
                #expect(view.window === window, place)
                for subview in view.subviews {
                    #expect(subview.superview === view, place)
                    look(subview)
                }
            }
            look(window)
            if let holder = window.firstResponder as? View {
                #expect(holder.window === window && holder.isShown, place)
                if let front = window.frontOverlay { #expect(holder.isInside(front), place) }
            }
        }
        for table in tables where table.dataSource != nil {
            #expect(table.numberOfRows == texts.count, place)
            #expect(table.selectedRow ?? 0 < max(1, table.numberOfRows), place)
            for (row, cell) in table.cells { #expect(row < table.numberOfRows && cell.superview === table, place) }
        }
    }
}

extension Saboteur: TableViewDataSource, TableViewDelegate, GestureRecognizerDelegate {
    func numberOfRows(in tableView: TableView) -> Int {
        // No changes here: a table that inserts a row has to find one more.
        texts.count
    }
    func tableView(_ tableView: TableView, cellForRow row: Int) -> TableCell {
        callout()
        let cell: TableCell = numbers.oneIn(8) ? TableCell() : tableView.dequeueCell(for: "row")
        cell.text = texts.indices.contains(row) ? texts[row] : ""
        return cell
    }
    func tableView(_ tableView: TableView, heightForRow row: Int) -> Double {
        callout()
        return Double(1 + row % 2)
    }
    func tableView(_ tableView: TableView, didSelectRow row: Int) {
        #expect(row < tableView.numberOfRows)
        callout()
    }
    func tableView(_ tableView: TableView, didMoveSelectionTo row: Int?) {
        #expect(row ?? 0 < max(1, tableView.numberOfRows))
        callout()
    }
    func scrollViewDidScroll(_ scrollView: ScrollView) { callout() }
    func scrollViewWillBeginDragging(_ scrollView: ScrollView) { callout() }
    func scrollViewWillEndDragging(_ scrollView: ScrollView, velocity: Point, target: inout Point) { callout() }
    func scrollViewDidEndDragging(_ scrollView: ScrollView, willDecelerate: Bool) { callout() }
    func scrollViewWillBeginDecelerating(_ scrollView: ScrollView) { callout() }
    func scrollViewDidEndDecelerating(_ scrollView: ScrollView) { callout() }
    func scrollViewDidEndScrollingAnimation(_ scrollView: ScrollView) { callout() }

    private func answer(_ usual: Bool) -> Bool {
        callout()
        return numbers.oneIn(6) ? !usual : usual
    }
    func gestureRecognizerShouldBegin(_ recognizer: GestureRecognizer) -> Bool { answer(true) }
    func gestureRecognizer(_ recognizer: GestureRecognizer, shouldReceive touch: Touch) -> Bool { answer(true) }
    func gestureRecognizer(
        _ recognizer: GestureRecognizer, shouldRecognizeSimultaneouslyWith other: GestureRecognizer
    ) -> Bool { answer(false) }
    func gestureRecognizer(_ recognizer: GestureRecognizer, shouldRequireFailureOf other: GestureRecognizer) -> Bool {
        answer(false)
    }
}

@MainActor private final class HostileDelegate: ApplicationDelegate {
    weak var saboteur: Saboteur?

    func applicationDidBecomeActive(_ application: Application) { saboteur?.callout() }
    func applicationWillResignActive(_ application: Application) { saboteur?.callout() }
    func applicationDidEnterBackground(_ application: Application) { saboteur?.callout() }
    func applicationWillEnterForeground(_ application: Application) { saboteur?.callout() }
}

@MainActor private final class HostileController: ViewController {
    private weak var saboteur: Saboteur?

    init(_ saboteur: Saboteur) {
        self.saboteur = saboteur
        super.init()
    }
    override func loadView() { view = HostileView(saboteur) }
    override func viewDidLoad() { saboteur?.callout() }
    override func viewWillAppear() { saboteur?.callout() }
    override func viewDidAppear() { saboteur?.callout() }
    override func viewWillDisappear() { saboteur?.callout() }
    override func viewDidDisappear() { saboteur?.callout() }
    override func viewWillLayoutSubviews() { saboteur?.callout() }
    override func viewDidLayoutSubviews() { saboteur?.callout() }
    override var canBecomeFirstResponder: Bool {
        saboteur?.callout()
        return true
    }
}

@MainActor private final class HostileView: View {
    private weak var saboteur: Saboteur?

    init(_ saboteur: Saboteur?) {
        self.saboteur = saboteur
        super.init()
    }
    private func called() { saboteur?.callout() }

    override func hitTest(_ point: Point, with event: Event?) -> View? {
        called()
        return super.hitTest(point, with: event)
    }
    override func point(inside point: Point, with event: Event?) -> Bool {
        called()
        return super.point(inside: point, with: event)
    }
    var isAsync = false
    override var asyncDrawing: (any AsyncDrawing)? {
        called()
        guard isAsync else { return nil }
        let frames = [Rect(0, 0, Double(saboteur?.number(0..<9) ?? 0), 1)]
        return SlowText(text: "async", wanted: saboteur?.numbers.oneIn(2) == true ? Size(4, 2) : nil, frames: frames)
    }
    override func drawPlaceholder(in canvas: inout Canvas) { called() }
    override func updateConstraints() {
        called()
        super.updateConstraints()
    }
    override func layoutSubviews() { called() }
    override func draw(in canvas: inout Canvas) { called() }
    override var cursor: Point? {
        called()
        return .zero
    }
    override func sizeThatFits(_ size: Size) -> Size {
        called()
        return super.sizeThatFits(size)
    }
    override func didMoveToWindow() { called() }
    override func didMoveToSuperview() { called() }
    override var canBecomeFirstResponder: Bool {
        called()
        return true
    }
    override var canResignFirstResponder: Bool {
        called()
        return saboteur?.numbers.oneIn(5) != true
    }
    override func firstResponderChanged(_ isFirst: Bool) { called() }
    override func touchesBegan(_ touches: Set<Touch>, with event: Event?) { called() }
    override func touchesMoved(_ touches: Set<Touch>, with event: Event?) { called() }
    override func touchesEnded(_ touches: Set<Touch>, with event: Event?) { called() }
    override func touchesCancelled(_ touches: Set<Touch>, with event: Event?) { called() }
    override func wheelTurned(_ wheel: Wheel, with event: Event?) {
        called()
        super.wheelTurned(wheel, with: event)
    }
    override var keyCommands: [KeyCommand] {
        called()
        return [KeyCommand(.character("k")) { [weak self] in self?.called() }]
    }
}

@MainActor private final class HostileCell: TableCell {
    private weak var saboteur: Saboteur?

    init(_ saboteur: Saboteur?) {
        self.saboteur = saboteur
        super.init()
    }
    override func prepareForReuse() {
        super.prepareForReuse()
        saboteur?.callout()
    }
    override func didMoveToWindow() { saboteur?.callout() }
    override func layoutSubviews() { saboteur?.callout() }
}

@MainActor private final class HostileScrollView: ScrollView {
    private weak var saboteur: Saboteur?

    init(_ saboteur: Saboteur) {
        self.saboteur = saboteur
        super.init()
    }
    override func layoutSubviews() { saboteur?.callout() }
    override func touchesShouldBegin(_ touches: Set<Touch>, with event: Event?, in view: View) -> Bool {
        saboteur?.callout()
        return true
    }
    override func touchesShouldCancel(in view: View) -> Bool {
        saboteur?.callout()
        return super.touchesShouldCancel(in: view)
    }
}

@MainActor @Suite struct HostileProgramTests {
    @Test(arguments: 0..<UInt64(isThorough ? 3_000 : 60))
    func `A program that makes random calls in every callback leaves views and application consistent`(seed: UInt64)
        throws
    {
        let delegate = HostileDelegate()
        try TestApplication.with(size: Size(30, 8), delegate: delegate) { app in
            weak var released: Saboteur?
            do {
                let saboteur = Saboteur(app, seed: seed)
                released = saboteur
                delegate.saboteur = saboteur
                saboteur.build()
                for step in 0..<60 {
                    saboteur.left = 25
                    for _ in 0..<saboteur.number(1..<4) { saboteur.input() }
                    if saboteur.numbers.oneIn(4) { saboteur.act() }
                    app.advance(by: .milliseconds(saboteur.number(1..<300)))
                    saboteur.left = 0
                    app.display.push(.resumed)
                    app.settle()
                    app.settle()
                    saboteur.check(seed, step)
                }
                for window in app.application.windows { window.close() }
            }
            for identifier in 0..<2 { app.send(.pointer(PointerInput(.cancelled, at: .zero, identifier: identifier))) }
            app.advance(by: .seconds(30))
            // Nothing is left of it, and another program works.
            var taps = 0
            app.show(Button("Go on") { _ in taps += 1 })
            app.tap(at: Point(1, 0))
            app.press(.tab, .enter)
            #expect(taps == 2, "seed \(seed)")
            app.settle()
            #expect(app.wakeUpsWhenIdle == 0, "seed \(seed)")
            #expect(app.application.modes.current == .default, "seed \(seed)")
            #expect(app.application.commit.drawings.isIdle && app.drawing.count == 0, "seed \(seed)")
            #expect(!app.application.animator.isMoving, "seed \(seed)")
            #expect(released == nil, "seed \(seed)")
        }
    }
}
