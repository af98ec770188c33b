// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// What of Foundation works while the main thread sleeps in this package's loop. Each scene ends the program with 0 when it
// has seen what it waits for, and runs for ever when that never comes.

import Foundation
import RunLoops

/// Runs the main loop until `body` has called what it is given, from any thread.
@MainActor
func runUntilDone(_ body: (@escaping @Sendable () -> Void) throws -> Void) rethrows {
    let state = Flag()
    try body {
        // A closure does not end a run, as in Foundation.
        RunLoop.main.perform {
            state.isSet = true
            RunLoop.main.native.stop()
        }
    }
    while !state.isSet { RunLoop.main.run(mode: .default, before: .distantFuture) }
}

/// Read and written on the main thread.
final class Flag: @unchecked Sendable { var isSet = false }

switch CommandLine.arguments.dropFirst().first {
case "session": try serveSession()
case "process": try waitForProcess()
case "file-handle": try readPipe()
case "wait-for-exit": try waitUntilProcessExits()
case "stream": try readStream()
case "main-queue": runMainQueue()
case "foundation-timer": try runFoundationsTimers()
case "foundation-thread": runFoundationsThread()
default:
    print("Which scene?")
    exit(2)
}
print("done")
