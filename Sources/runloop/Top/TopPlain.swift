// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsDiagnostics

/// The figures as one line for each loop and answer, for a pipe or a file.
enum TopPlain {
    static let title =
        Format.padded("loop", 20) + Format.padded("mode", 10)
        + ["turns/s", "wakes/s", "busy", "late 99 %"].map { Format.aligned($0, 11) }.joined() + "  state; most time in"

    static func lines(_ model: TopModel) -> [String] {
        model.loops.map { loop in
            let lateness = loop.window.lateness
            let figures = [
                TopScreen.rate(loop.turnRate), TopScreen.rate(loop.wakeRate), Format.percent(loop.busyShare),
                lateness.count > 0 ? LoopWording.time(lateness.percentile(0.99)) : "-",
            ]
            let dearest = loop.recent.dearest.first.map {
                "; \(LoopWording.name($0)) \(LoopWording.time($0.total))"
            }
            let name = Format.padded(LoopWording.thread(loop.report), 20)
            let mode = Format.padded(LoopWording.mode(loop.report), 10)
            let columns = figures.map { Format.aligned($0, 11) }.joined()
            return "\(name)\(mode)\(columns)  \(LoopWording.state(loop.report))\(dearest ?? "")"
        }
    }
}
