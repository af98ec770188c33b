// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Where the demo shows what happens.
@MainActor
protocol DemoOutput: AnyObject {
    /// True while each step is shown for a moment; where there is a screen, it says so.
    var isSlow: Bool { get set }

    /// Takes note of what was said at one event. Nothing need be visible before `commit`.
    func note(_ lines: [DemoLine])

    /// Makes everything visible. Called once a turn at most: just before the thread sleeps, and at the end of a run.
    func commit(_ model: DemoModel)

    /// The window's size changed, or something else wrote over it.
    func invalidate()

    /// Gives the terminal back, for a while or for good.
    func suspend()

    /// Takes it again.
    func resume()
}
