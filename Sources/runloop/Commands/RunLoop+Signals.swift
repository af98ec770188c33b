// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LinuxLibC
import RunLoops
import RunLoopsEvents

extension RunLoop {
    /// Calls the body; meanwhile, a signal that asks the program to end stops the main loop instead.
    @MainActor
    static func stoppedBySignals(_ body: () throws -> Void) throws {
        var sources: [SignalSource] = []
        defer { for source in sources { source.invalidate() } }
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            let source = try SignalSource.mainActor(signal, label: "end") { _, _ in main.stop() }
            sources.append(source)
            try main.add(source, in: .default)
        }
        try body()
    }
}
