// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// A program that links RunLoopsDiagnostics, and uses it as its first argument says: Benchmarks/trace-cost.

import Glibc
import RunLoops
import RunLoopsDiagnostics
import TraceCost
import Workloads

let recording: RunLoop.Recording?
let metering: RunLoop.Metering?
switch CommandLine.arguments.dropFirst().first {
case "recorded": (recording, metering) = (RunLoop.Recording(), nil)
case "metered", "read": (recording, metering) = (nil, RunLoop.Metering())
default: (recording, metering) = (nil, nil)
}
if CommandLine.arguments.contains("read") {
    // As a terminal screen or an endpoint for metrics would.
    startThread {
        while true {
            usleep(100_000)
            _ = metering?.readings()
        }
    }
}
runCommand { loop in
    recording?.add(loop)
    metering?.add(loop)
}
