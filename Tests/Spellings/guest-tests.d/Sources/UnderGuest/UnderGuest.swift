// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CUnderGuest
import Foundation
import RunLoopsFoundation

import class RunLoops.RunLoop

/// Runs of this package's main loop that Core Foundation's calls have become.
@MainActor
private enum Runs {
    static var count = 0
    static var served: Set<RunLoop.Mode> = []

    static func run(_ name: String, _ seconds: Double, _ returnsAfterSource: Bool) -> RunLoop.RunResult {
        count += 1
        let mode = RunLoop.Mode(name)
        // The common modes are served without a call.
        if !RunLoop.main.commonModes.contains(mode), mode != .common, served.insert(mode).inserted {
            FoundationGuest.serve(in: mode)
        }
        return RunLoop.main.run(
            in: mode, for: .seconds(seconds), returnsAfterSource: returnsAfterSource)
    }
}

@_cdecl("under_guest_run")
func run(_ mode: UnsafeRawPointer, _ seconds: Double, _ returnsAfterSource: Bool) -> CInt {
    // SAFETY: a CFString, whose caller keeps it.
    let name = Unmanaged<NSString>.fromOpaque(mode).takeUnretainedValue()
    let text = String(describing: name)
    return MainActor.assumeIsolated { CInt(Runs.run(text, seconds, returnsAfterSource).rawValue) }
}

@_cdecl("under_guest_stop")
func stop() { RunLoop.main.stop() }

@_cdecl("under_guest_report")
func report() {
    MainActor.assumeIsolated {
        print("\(Runs.count) runs of this package's main loop; \(FoundationGuest.limitation ?? "all is served")")
    }
}
