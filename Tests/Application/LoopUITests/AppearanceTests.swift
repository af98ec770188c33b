// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUITesting
import RunLoops
import Testing

@testable import LoopUI

/// The order of the calls that a controller receives when it appears and disappears.
enum AppearanceCalls {
    /// Whether each call follows one that it may follow.
    ///
    /// - Parameter isShown: Whether the controller was shown before the first call.
    static func isInOrder(_ calls: [String], isShown: Bool = false) -> Bool {
        let followers = [
            "": ["will appear"], "will appear": ["did appear", "will disappear"], "did appear": ["will disappear"],
            "will disappear": ["did disappear", "will appear"], "did disappear": ["will appear"],
        ]
        var last = isShown ? "did appear" : ""
        for call in calls {
            guard followers[last]?.contains(call) == true else { return false }
            last = call
        }
        return true
    }
}

/// A controller whose code does something while its view is being made.
@MainActor private final class LoadingPage: ViewController {
    enum Moment: CaseIterable {
        case loadView, viewDidLoad
    }
    var calls: [String] = []
    var act: (Moment) -> Void = { _ in }

    override func loadView() {
        view = View()
        act(.loadView)
    }
    override func viewDidLoad() { act(.viewDidLoad) }
    override func viewWillAppear() { calls.append("will appear") }
    override func viewDidAppear() { calls.append("did appear") }
    override func viewWillDisappear() { calls.append("will disappear") }
    override func viewDidDisappear() { calls.append("did disappear") }
}

@MainActor @Suite struct AppearanceTests {
    /// How the page gets on the screen.
    enum Way: CaseIterable {
        case pushed, pushedAtOnce, uncovered, child, sheet, fullScreen
    }
    /// What the page does while its view is being made.
    enum Act: CaseIterable {
        case push, pushAtOnce, presentSheet, presentFullScreen, pop, leave
    }

    @Test(arguments: Way.allCases, Act.allCases)
    func `A page that acts while its view is being made receives its appearance calls in order`(
        way: Way, act: Act
    ) throws {
        for moment in LoadingPage.Moment.allCases {
            try TestApplication.with(size: Size(30, 8)) { app in
                let (root, page, other) = (LoadingPage(), LoadingPage(), LoadingPage())
                let navigation = NavigationController(rootViewController: way == .uncovered ? page : root)
                if way == .uncovered { navigation.push(root) }
                app.show(navigation)
                page.act = { now in
                    guard now == moment else { return }
                    switch act {
                    case .push: navigation.push(other)
                    case .pushAtOnce: navigation.push(other, animated: false)
                    case .presentSheet: navigation.present(other)
                    case .presentFullScreen: navigation.present(other, style: .fullScreen)
                    case .pop: navigation.pop(animated: false)
                    case .leave: page.parent?.removeChild(page)
                    }
                }
                switch way {
                case .pushed: navigation.push(page)
                case .pushedAtOnce: navigation.push(page, animated: false)
                case .uncovered: navigation.pop()
                case .child:
                    root.addChild(page)
                    root.view.addSubview(page.view)
                case .sheet: navigation.present(page)
                case .fullScreen: navigation.present(page, style: .fullScreen)
                }
                app.advance(by: .seconds(1))
                for (name, controller) in [("root", root), ("page", page), ("other", other)] {
                    #expect(AppearanceCalls.isInOrder(controller.calls), "\(moment): \(name) \(controller.calls)")
                    // The calls come to an end: nothing is about to appear or disappear.
                    #expect(controller.calls.last?.hasPrefix("will") != true, "\(moment): \(name) \(controller.calls)")
                }
                // The controller in front is shown, and none that it covers.
                if act != .leave, navigation.topViewController === page, navigation.presentedViewController == nil {
                    #expect(page.calls.last == "did appear", "\(moment)")
                }
                if navigation.topViewController === other, way != .child {
                    #expect(page.parent == nil || page.calls.last != "did appear", "\(moment)")
                }
                if other.view.window != nil, way != .fullScreen {
                    #expect(other.calls.last == "did appear", "\(moment)")
                }
            }
        }
    }
}
