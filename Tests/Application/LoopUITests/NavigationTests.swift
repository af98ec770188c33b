// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUITesting
import RunLoops
import Testing

@testable import LoopUI

@MainActor private final class NavigationLog: NavigationControllerDelegate {
    var entries: [String] = []

    func navigationController(_ navigationController: NavigationController, willShow controller: ViewController) {
        entries.append("will show \(controller.title ?? "")")
    }
    func navigationController(_ navigationController: NavigationController, didShow controller: ViewController) {
        entries.append("did show \(controller.title ?? "")")
    }
}

@MainActor private final class Page: ViewController {
    private let log: NavigationLog
    var sizes: [Size] = []
    let field = TextField()

    init(_ title: String, _ log: NavigationLog) {
        self.log = log
        super.init()
        self.title = title
    }
    override func loadView() {
        let view = View()
        view.addSubview(Label("page \(title ?? "")").at(0, 0, 10))
        view.addSubview(field.at(0, 1, 10))
        self.view = view
    }
    override func viewWillAppear() { log.entries.append("\(title ?? "") will appear") }
    override func viewDidAppear() { log.entries.append("\(title ?? "") did appear") }
    override func viewWillDisappear() { log.entries.append("\(title ?? "") will disappear") }
    override func viewDidDisappear() { log.entries.append("\(title ?? "") did disappear") }
    override func viewWillTransition(to size: Size) {
        sizes.append(size)
        super.viewWillTransition(to: size)
    }
}

@MainActor private struct Fixture {
    let app: TestApplication
    let log = NavigationLog()
    let first: Page
    let second: Page
    let third: Page
    let navigation: NavigationController

    init(_ app: TestApplication) {
        self.app = app
        (first, second, third) = (Page("one", log), Page("two", log), Page("three", log))
        navigation = NavigationController(rootViewController: first)
        navigation.delegate = log
    }

    static func with(_ body: (Fixture) throws -> Void) throws {
        try TestApplication.with(size: Size(30, 6)) { app in
            let fixture = Fixture(app)
            app.show(fixture.navigation)
            app.settle()
            try body(fixture)
        }
    }

    func push(_ page: Page) {
        navigation.push(page)
        app.advance(by: .milliseconds(400))
        log.entries = []
    }
}

@MainActor @Suite struct NavigationTests {
    @Test func `The first controller appears with the navigation controller`() throws {
        try Fixture.with { f in
            #expect(f.log.entries == ["one will appear", "one did appear"])
            #expect(f.app.line(0).contains("one") && f.app.line(1) == "page one")
            #expect(f.navigation.navigationBar.backButton.isHidden)
            #expect(f.first.navigationController === f.navigation)
        }
    }

    @Test func `A push calls both controllers in UIKit's order and moves the view in`() throws {
        try Fixture.with { f in
            f.log.entries = []
            f.navigation.push(f.second)
            #expect(f.log.entries == ["one will disappear", "two will appear", "will show two"])
            f.app.advance(by: .milliseconds(125))
            let column = f.second.view.shownFrame.minX
            #expect(column > 0 && column < 30)
            f.app.advance(by: .milliseconds(200))
            #expect(f.log.entries.suffix(3) == ["one did disappear", "two did appear", "did show two"])
            #expect(f.app.line(0).hasPrefix("[ ‹ one ]") && f.app.line(0).contains("two"))
            #expect(f.app.line(1) == "page two")
            #expect(f.first.view.window == nil && f.first.parent === f.navigation)
            #expect(f.navigation.title == "two")
            #expect(f.app.wakeUpsWhenIdle == 0)
        }
    }

    @Test func `A pop calls both controllers in UIKit's order and removes the popped controller`() throws {
        try Fixture.with { f in
            f.push(f.second)
            #expect(f.navigation.pop() === f.second)
            #expect(f.navigation.topViewController === f.first)
            f.app.advance(by: .milliseconds(400))
            #expect(
                f.log.entries == [
                    "two will disappear", "one will appear", "will show one", "two did disappear", "one did appear",
                    "did show one",
                ])
            #expect(f.second.parent == nil && f.second.view.window == nil)
            #expect(f.app.line(1) == "page one")
            #expect(f.navigation.pop() == nil)
        }
    }

    @Test func `A pop to the root calls the first and the last controller only`() throws {
        try Fixture.with { f in
            f.push(f.second)
            f.push(f.third)
            #expect(f.navigation.popToRoot() == [f.second, f.third])
            f.app.advance(by: .milliseconds(400))
            #expect(!f.log.entries.contains { $0.hasPrefix("two") })
            #expect(f.log.entries.contains("three did disappear") && f.log.entries.contains("one did appear"))
            #expect(f.navigation.children == [f.first])
        }
    }

    @Test func `The back button, the escape key and a drag from the left edge go back`() throws {
        try Fixture.with { f in
            f.push(f.second)
            f.app.tap(at: Point(3, 0))
            f.app.advance(by: .milliseconds(400))
            #expect(f.navigation.viewControllers == [f.first])
            f.push(f.second)
            f.app.press(.escape)
            f.app.advance(by: .milliseconds(400))
            #expect(f.navigation.viewControllers == [f.first])
            f.push(f.second)
            f.app.play(.drag(from: Point(0, 4), to: Point(25, 4)))
            f.app.advance(by: .milliseconds(400))
            #expect(f.navigation.viewControllers == [f.first])
            #expect(f.app.line(1) == "page one")
        }
    }

    @Test func `A drag that does not begin at the edge does not go back`() throws {
        try Fixture.with { f in
            f.push(f.second)
            f.app.play(.drag(from: Point(9, 4), to: Point(29, 4)))
            f.app.advance(by: .milliseconds(400))
            #expect(f.navigation.viewControllers == [f.first, f.second])
            #expect(f.log.entries.isEmpty)
        }
    }

    @Test func `The views follow an edge drag, and a short drag is reversed with the opposite appearance calls`() throws
    {
        try Fixture.with { f in
            f.push(f.second)
            f.app.send(.pointer(PointerInput(.began, at: Point(0, 4))), .pointer(PointerInput(.moved, at: Point(9, 4))))
            #expect(f.second.view.frame.minX == 9)
            #expect(f.app.line(1).hasSuffix("page two"))
            #expect(f.log.entries == ["two will disappear", "one will appear", "will show one"])
            f.app.advance(by: .seconds(1))
            f.app.send(.pointer(PointerInput(.ended, at: Point(9, 4))))
            f.app.advance(by: .milliseconds(400))
            #expect(
                f.log.entries.suffix(4) == [
                    "one will disappear", "two will appear", "one did disappear", "two did appear",
                ])
            #expect(f.navigation.viewControllers == [f.first, f.second])
            #expect(f.app.line(1) == "page two" && f.first.view.window == nil)
            #expect(f.app.line(0).contains("two"))
        }
    }

    enum End: CaseIterable {
        case push, pushAtOnce, pop, present, close, remove
    }

    @Test(arguments: End.allCases, [false, true])
    func `An edge drag that was given up is reversed when something else ends it`(end: End, isLifted: Bool) throws {
        try Fixture.with { f in
            f.push(f.second)
            f.app.send(.pointer(PointerInput(.began, at: Point(0, 4))), .pointer(PointerInput(.moved, at: Point(9, 4))))
            f.app.advance(by: .seconds(1))
            if isLifted {
                f.app.send(.pointer(PointerInput(.ended, at: Point(9, 4))))
                f.app.advance(by: .milliseconds(50))
                #expect(f.second.view.shownFrame.minX > 0)
            }
            #expect(f.navigation.viewControllers == [f.first])
            var expected = [f.first, f.second]
            switch end {
            case .push, .pushAtOnce:
                f.navigation.push(f.third, animated: end == .push)
                expected.append(f.third)
            case .pop:
                #expect(f.navigation.pop() === f.second)
                expected = [f.first]
            case .present: f.navigation.present(f.third, style: .fullScreen)
            case .close: f.navigation.view.window?.close()
            case .remove: f.navigation.view.window?.rootViewController = f.third
            }
            #expect(f.navigation.viewControllers == expected)
            f.app.advance(by: .seconds(1))
            #expect(f.navigation.viewControllers == expected)
            #expect(f.second.parent == nil || expected.contains(f.second))
            for (page, isShown) in [(f.first, false), (f.second, true), (f.third, false)] {
                let name = page.title ?? ""
                let calls = f.log.entries.filter { $0.hasPrefix(name) && $0.contains("appear") }
                #expect(AppearanceCalls.isInOrder(calls.map { String($0.dropFirst(name.count + 1)) }, isShown: isShown))
            }
            if end == .push { #expect(f.app.line(1) == "page three") }
        }
    }

    @Test func `A push during another push completes the first push at once`() throws {
        try Fixture.with { f in
            f.log.entries = []
            f.navigation.push(f.second)
            f.app.advance(by: .milliseconds(100))
            f.navigation.push(f.third)
            f.app.advance(by: .milliseconds(400))
            #expect(
                f.log.entries == [
                    "one will disappear", "two will appear", "will show two", "one did disappear", "two did appear",
                    "did show two", "two will disappear", "three will appear", "will show three", "two did disappear",
                    "three did appear", "did show three",
                ])
            #expect(f.app.line(1) == "page three")
        }
    }

    @Test func `A controller pushed before the window is shown appears without the root controller`() throws {
        try TestApplication.with(size: Size(30, 6)) { app in
            let f = Fixture(app)
            f.navigation.push(f.second)
            app.show(f.navigation)
            app.settle()
            #expect(f.log.entries.filter { $0.contains("appear") } == ["two will appear", "two did appear"])
            #expect(app.line(1) == "page two")
        }
    }

    @Test func `Closing the window during a push completes the appearance calls`() throws {
        try Fixture.with { f in
            f.log.entries = []
            f.navigation.push(f.second)
            f.navigation.view.window?.close()
            f.app.advance(by: .seconds(1))
            #expect(
                f.log.entries == [
                    "one will disappear", "two will appear", "will show two", "one did disappear", "two did appear",
                    "did show two", "two will disappear", "two did disappear",
                ])
        }
    }

    @Test func `After a pop the previous first responder has the focus again`() throws {
        try Fixture.with { f in
            f.first.field.becomeFirstResponder()
            f.push(f.second)
            #expect(f.app.application.keyWindow?.firstResponder !== f.first.field)
            f.navigation.pop()
            f.app.advance(by: .milliseconds(400))
            #expect(f.app.application.keyWindow?.firstResponder === f.first.field)
        }
    }

    @Test func `The navigation bar shows a changed title at once`() throws {
        try Fixture.with { f in
            f.push(f.second)
            f.second.title = "changed"
            f.app.settle()
            #expect(f.app.line(0).contains("changed"))
            f.navigation.isNavigationBarHidden = true
            f.app.settle()
            #expect(f.app.line(0) == "page two")
        }
    }

    @Test func `Popped controllers are released`() throws {
        try Fixture.with { f in
            weak var released: Page?
            do {
                let page = Page("gone", f.log)
                released = page
                f.push(page)
                f.navigation.pop()
            }
            f.app.advance(by: .seconds(1))
            #expect(released == nil)
        }
    }

    // MARK: Sizes

    @Test func `Pushed and presented controllers receive viewWillTransition once for a new size`() throws {
        try Fixture.with { f in
            f.push(f.second)
            let sheet = Page("sheet", f.log)
            f.second.present(sheet)
            f.app.settle()
            f.app.display.resize(to: Size(50, 9))
            f.app.settle()
            #expect(f.second.sizes == [Size(50, 8)])
            #expect(sheet.sizes == [Size(50, 9)])
            #expect(f.second.view.frame.size == Size(50, 8))
            // The same size again is none.
            f.app.display.resize(to: Size(50, 9))
            f.app.settle()
            #expect(f.second.sizes.count == 1)
        }
    }
}
