// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import RunLoopsTestSupport
import Testing

/// What a program cannot go on from, and what it says then.
@MainActor @Suite(.ownThread) struct PresentationTrapTests {
    @Test func `Presenting from a view in no window traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { @MainActor in
            try TestApplication.with { _ in ViewController().present(ViewController()) }
        }
        expectText(result, "its view is in no window. Present from viewDidAppear() on.")
    }

    @Test func `Presenting a controller twice traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { @MainActor in
            try TestApplication.with { app in
                let (first, second) = (ViewController(), ViewController())
                app.show(first)
                first.present(second)
                first.present(second)
            }
        }
        expectText(result, "it is shown already")
    }

    @Test func `Presenting the controller that presents the caller traps, also if its view is in no window`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { @MainActor in
            try TestApplication.with { app in
                let (first, second) = (ViewController(), ViewController())
                app.show(first)
                first.present(second)
                first.view.removeFromSuperview()
                second.present(first)
            }
        }
        expectText(result, "presents this one")
    }

    @Test func `Presenting a child traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { @MainActor in
            try TestApplication.with { app in
                let (parent, child) = (ViewController(), ViewController())
                app.show(parent)
                parent.addChild(child)
                parent.present(child)
            }
        }
        expectText(result, "is a child")
    }

    @Test func `Opening a menu at a view in no window traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { @MainActor in
            try TestApplication.with { _ in Menu([]).open(below: View()) }
        }
        expectText(result, "A menu was opened at a view that is in no window")
    }

    @Test func `Selecting a missing segment traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { @MainActor in
            try TestApplication.with { _ in SegmentedControl(["a", "b"]).selectedIndex = 2 }
        }
        expectText(result, "There is no segment 2: 2 segments are there")
    }
}
