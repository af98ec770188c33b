// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import Testing

/// Which button of the mouse does what.
@MainActor @Suite struct MouseButtonTests {
    /// Presses a button of the mouse and lets it go, by the number that terminals give it.
    private func click(_ app: TestApplication, _ number: Int, at place: Point = Point(1, 0)) {
        for phase in [PointerInput.Phase.began, .ended] {
            app.send(.pointer(PointerInput(phase, at: place, button: number)))
        }
    }

    @Test func `Terminal button numbers 0, 1 and 2 become the primary, the third and the secondary button`() {
        let masks = (0...3).map { PointerInput(.began, at: .zero, button: $0).button }
        #expect(masks == [.primary, .button(3), .secondary, .button(4)])
        #expect(PointerInput(.began, at: .zero, button: 254).button == .button(32))
        #expect(PointerInput(.began, at: .zero, identifier: 3).button == .primary)
    }

    @Test(arguments: [1, 2]) func `A click of a button other than the primary button is not a tap`(number: Int) throws {
        try withProbe { app, view, log in
            view.add(TapGestureRecognizer(), "tap")
            var buttons: [ButtonMask] = []
            view.whenTouched = { buttons.append($0.button) }
            click(app, number)
            #expect(log.take() == ["view began", "view ended"])
            #expect(buttons == [.button(number == 1 ? 3 : 2), .button(number == 1 ? 3 : 2)])
            click(app, 0)
            #expect(log.take() == ["view began", "view cancelled", "tap ended"])
        }
    }

    @Test func `A recogniser for the secondary button ignores clicks of the primary button`() throws {
        try withProbe { app, view, log in
            let tap = view.add(TapGestureRecognizer(), "tap")
            tap.buttonMaskRequired = .secondary
            click(app, 0)
            #expect(log.take(of: "tap") == [])
            click(app, 2)
            #expect(log.take(of: "tap") == ["tap ended"])
        }
    }

    @Test func `A drag with the secondary button is not a pan, and a hold is not a long press`() throws {
        try withProbe { app, view, log in
            for recognizer in [PanGestureRecognizer(), LongPressGestureRecognizer()] as [GestureRecognizer] {
                recognizer.logActions(log, "gesture")
                view.addGestureRecognizer(recognizer)
            }
            app.send(.pointer(PointerInput(.began, at: Point(1, 1), button: 2)))
            app.advance(by: .seconds(1))
            app.send(.pointer(PointerInput(.moved, at: Point(9, 1), button: 2)))
            app.send(.pointer(PointerInput(.ended, at: Point(9, 1), button: 2)))
            #expect(log.take() == ["view began", "view moved", "view ended"])
        }
    }

    @Test func `Controls and rows pass clicks of the secondary button to the responders around them`() throws {
        final class MenuController: ViewController {
            var masks: [ButtonMask?] = []
            override func touchesEnded(_ touches: Set<Touch>, with event: Event?) { masks.append(event?.buttonMask) }
        }
        final class Rows: TableViewDataSource, TableViewDelegate {
            var selected: [Int] = []
            func numberOfRows(in tableView: TableView) -> Int { 9 }
            func tableView(_ tableView: TableView, cellForRow row: Int) -> TableCell { TableCell() }
            func tableView(_ tableView: TableView, didSelectRow row: Int) { selected.append(row) }
        }
        try TestApplication.with { app in
            var taps = 0
            let button = Button("go") { _ in taps += 1 }
            let (table, rows, controller) = (TableView(), Rows(), MenuController())
            table.dataSource = rows
            table.delegate = rows
            let all = View()
            for (view, y) in [(button as View, 0.0), (table, 2)] {
                all.addSubview(view)
                view.frame = Rect(0, y, 20, 2)
            }
            controller.view = all
            app.show(controller)
            for y in [0.0, 3] { click(app, 2, at: Point(1, y)) }
            #expect(taps == 0 && rows.selected == [] && controller.masks == [.secondary, .secondary])
            for y in [0.0, 3] { click(app, 0, at: Point(1, y)) }
            #expect(taps == 1 && rows.selected == [1] && controller.masks.count == 2)
        }
    }

    @Test func `Clicks of different buttons are not counted together`() throws {
        try withProbe { app, view, _ in
            var counts: [Int] = []
            view.whenTouched = { if $0.phase == .began { counts.append($0.tapCount) } }
            for number in [0, 2, 2, 0, 0] { click(app, number) }
            #expect(counts == [1, 1, 2, 1, 2])
        }
    }
}
