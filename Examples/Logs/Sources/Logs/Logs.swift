// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LogScreens
import LoopUI
import LoopUITerminal
import RunLoopsKit

/// Shows logs: `Logs FILE…`.
@main final class Logs: ApplicationDelegate {
    private let loader: RunLoopThread
    private let paths = Array(CommandLine.arguments.dropFirst())

    init() {
        if paths.isEmpty || paths.contains("--help") { fail("usage: Logs FILE…", code: paths.isEmpty ? 2 : 0) }
        do {
            loader = try RunLoopThread(name: "loader")
        } catch {
            fail("Logs: no thread to read with: \(error)", code: 1)
        }
    }

    func applicationDidFinishLaunching(_ application: Application) {
        let window = Window()
        window.rootViewController = LogsController(paths: paths, loader: loader.loop)
        window.makeKeyAndVisible()
    }
}
