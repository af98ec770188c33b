// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import RunLoops

/// Makes the window, and notes what happens to the program.
@MainActor package final class StoriesDelegate: ApplicationDelegate {
    /// What has happened to the program.
    let states = StateLog()
    /// The log of the loop.
    package private(set) var watch: TurnWatch?

    package init() {}

    package func applicationWillFinishLaunching(_ application: Application) {
        states.note("willFinishLaunching", application)
    }

    package func applicationDidFinishLaunching(_ application: Application) {
        let watch = TurnWatch(application.loop)
        self.watch = watch
        states.note("didFinishLaunching", application)
        let window = Window()
        window.rootViewController = StoriesController(Story.all(states: states), watch)
        window.makeKeyAndVisible()
    }

    package func applicationDidBecomeActive(_ application: Application) {
        states.note("didBecomeActive", application)
    }

    package func applicationWillResignActive(_ application: Application) {
        states.note("willResignActive", application)
    }

    package func applicationDidEnterBackground(_ application: Application) {
        states.note("didEnterBackground", application)
    }

    package func applicationWillEnterForeground(_ application: Application) {
        states.note("willEnterForeground", application)
    }
}

/// The changes of the program's state, each with the mode that the loop was in.
@MainActor final class StateLog {
    private(set) var lines: [String] = []
    /// Called after a change.
    var whenChanged: (() -> Void)?

    func note(_ call: String, _ application: Application) {
        let mode = application.loop.currentMode?.short ?? "no"
        lines.append(columns(call, "state \(application.state)", "\(mode) mode"))
        whenChanged?()
    }

    /// Texts below each other.
    private func columns(_ texts: String...) -> String {
        texts.map { $0 + String(repeating: " ", count: max(1, 22 - $0.count)) }.joined()
    }
}
