// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Loading
import LogModel
import LogScreens
import LoopUI
import LoopUITerminal
import RunLoopsKit

/// Shows logs: `Logs LOG…`, each a file or an address such as `http://host/a.log`.
@main final class Logs: ApplicationDelegate {
    private let reader: RunLoopThread
    private let paths: [String]
    private let remote: [RemoteLog]

    init() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.isEmpty || arguments.contains("--help") {
            let usage = "usage: Logs LOG…, each a file or an address such as http://host/a.log"
            fail(usage, code: arguments.isEmpty ? 2 : 0)
        }
        paths = arguments.filter { RemoteLog.Address($0) == nil }
        let addresses = arguments.compactMap { RemoteLog.Address($0) }
        do {
            let reader = try RunLoopThread(name: "reader")
            self.reader = reader
            if addresses.isEmpty {
                remote = []
            } else {
                let loader = try LoaderThread()
                // On the thread that reads, and writes the files too.
                remote = try reader.performAndWait { try addresses.map { try RemoteLog($0, loader: loader) } }
            }
        } catch {
            fail("Logs: cannot begin: \(error)", code: 1)
        }
    }

    func applicationDidFinishLaunching(_ application: Application) {
        let window = Window()
        window.rootViewController = LogsController(paths: paths, remote: remote, loader: reader.loop)
        window.makeKeyAndVisible()
    }
}
