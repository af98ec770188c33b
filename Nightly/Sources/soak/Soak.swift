// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Everything at once, for long. What the process uses must stay flat, and timers must not become later.

import ArgumentParser
import Glibc
import NightlyKit
import RunLoops
import RunLoopsDiagnostics

@main struct Soak: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Runs every kind of source at once, and writes each second what the process uses.")

    @Option(help: "How long.")
    var seconds = 1800
    @Option(help: "Where the table goes.")
    var table = "soak.tsv"

    func run() throws {
        guard seconds >= 30 else { throw ValidationError("A soak of \(seconds) s says nothing: 30 at least.") }
        guard let file = fopen(table, "w") else { throw ValidationError("\(table) cannot be written: error \(errno)") }
        let main = RunLoop.main
        let load = try Load()
        var rows: [Row] = []
        var elapsed = 0
        let sampler = RunLoop.Timer(.every(.seconds(1)), label: "sampler") { _ in
            elapsed += 1
            let row = Row(second: elapsed, usage: .now, lateness: load.lateness.take(), done: load.done.value)
            rows.append(row)
            fputs(row.line, file)
            fflush(file)
            if elapsed == seconds { main.stop() }
        }
        fputs(Row.heading, file)
        main.add(sampler, in: .common)
        main.run(in: .default, until: nil)
        sampler.invalidate()
        load.end()
        fclose(file)
        judge(rows)
        let (hangs, reports, standstills) = (load.hangs.value, load.reports.value, RunLoop.HangWatch.standstills)
        let stacks = load.stacks.value
        print(
            "hangs: \(reports) of \(hangs) reported, \(stacks) with stacks; \(standstills) standstills of the process")
        // While the process stood still, the watch cannot know what a callout has taken.
        check((hangs - standstills...hangs).contains(reports), "a hang was not reported, or twice")
        endOfChecks()
    }

    /// Compares the first third, without what it takes to warm up, with the last one.
    private func judge(_ rows: [Row]) {
        let third = rows.count / 3
        let (first, last) = (rows[5..<third], rows[(2 * third)...])
        func median(_ rows: ArraySlice<Row>, _ value: (Row) -> Int) -> Int { rows.map(value).sorted()[rows.count / 2] }
        func show(_ what: String, _ value: (Row) -> Int, atMost limit: (Int) -> Int, line: UInt = #line) {
            let (before, after) = (median(first, value), median(last, value))
            print("\(what): median \(before) in the first third, \(after) in the last")
            check(after <= limit(before), "\(what) has grown", line: line)
        }
        // Caches with a limit may fill late, such as the functions of a library in which a hang is first seen. A leak of
        // one byte in ten callouts would exceed this allowance.
        show("resident memory, KiB", \.usage.memory, atMost: { $0 + max(4096, $0 / 20) })
        show("descriptors", \.usage.descriptors, atMost: { $0 + 2 })
        show("threads", \.usage.threads, atMost: { $0 + 2 })
        // A machine does other things, too: what grows with time would be far above twice.
        show("lateness of timers, p50, µs", \.lateness.median, atMost: { 2 * $0 + 100 })
        show("lateness of timers, p99, µs", \.lateness.late, atMost: { 2 * $0 + 1000 })
        print("callouts: \(rows.last?.done ?? 0)")
    }
}

/// What was seen in one second.
struct Row {
    let second: Int
    let usage: Usage
    let lateness: Lateness.Percentiles
    let done: Int

    static let heading = "second\tmemory KiB\tdescriptors\tthreads\tlateness p50 µs\tlateness p99 µs\tcallouts\n"
    var line: String {
        "\(second)\t\(usage.memory)\t\(usage.descriptors)\t\(usage.threads)\t\(lateness.median)\t\(lateness.late)\t\(done)\n"
    }
}
