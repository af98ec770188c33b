// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop.Trace.Report {
    /// Returns a summary of the trace for a terminal: turns, causes of wake-ups, the slowest callouts, lateness and
    /// durations.
    ///
    /// - Parameter width: The width of the terminal, in columns.
    public func summary(width: Int = 80) -> [String] {
        var lines = [overview, ""]
        lines += section(
            "Who woke the loop", ledger.prefix(8).map { ($0.name, Double($0.count), "\($0.count)") }, width)
        lines += section(
            "Slowest callouts",
            slowest.prefix(8).map {
                ("\($0.worst.kind) \($0.worst.name)", $0.worst.length, "\(Self.time($0.worst.length)) of \($0.count)")
            }, width)
        lines += spread("Timers, late by", lateness)
        lines += spread("Others, waited", latency)
        lines += spread("Turns, awake for", awake)
        return lines
    }

    private var overview: String {
        // Not by its runs: the beginning of a run may have been overwritten. A wake-up is on the thread that wakes.
        let loops = Set(slices.filter { $0.kind != "wake-up" }.map(\.thread)).count
        let turns = slices.count { $0.kind == "turn" }
        let callouts = slices.count(where: \.isCallout)
        let overwritten = lost > 0 ? ", \(lost) older events overwritten" : ""
        return
            "\(program): \(Self.time(length)), \(loops) loop\(loops == 1 ? "" : "s"), \(turns) turns, \(callouts) callouts\(overwritten)"
    }

    // MARK: Figures

    /// How far the trace reaches back from its end, in microseconds.
    package var length: Double { slices.map(\.end).max() ?? 0 }

    /// The causes that ended sleeps, most frequent first.
    var ledger: [(name: String, count: Int)] {
        var counts: [String: Int] = [:]
        for slice in slices where slice.kind == "sleep" && !slice.isUnfinished {
            let by = slice.detail("by").map { " by \(threadName(Int(clamping: $0)))" } ?? ""
            counts[(slice.wokenBy ?? "something") + by, default: 0] += 1
        }
        return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, $0.value) }
    }

    /// Callouts by label, the longest first.
    var slowest: [(worst: Slice, count: Int)] {
        let callouts = slices.filter(\.isCallout).map { ($0.kind + " " + $0.name, (worst: $0, count: 1)) }
        let found = Dictionary(callouts) {
            ($0.worst.length >= $1.worst.length ? $0.worst : $1.worst, $0.count + $1.count)
        }
        return found.values.sorted { $0.worst.length > $1.worst.length }
    }

    /// How late each timer fired, beyond its tolerance, in microseconds.
    var lateness: [Double] { slices.filter { $0.kind == "timer" }.compactMap(\.lateness) }

    /// How long each callout other than a timer's had waited, in microseconds.
    var latency: [Double] { slices.filter { $0.isCallout && $0.kind != "timer" }.compactMap { $0.detail("waited") } }

    /// How long the loop was awake in each turn, in microseconds.
    var awake: [Double] {
        var asleep: [Int: Double] = [:]
        for slice in slices where slice.kind == "sleep" {
            // A sleep in an inner run belongs to the turns outside of it too.
            var outer = slice.parent
            while let index = outer {
                asleep[index, default: 0] += slice.length
                outer = slices[index].parent
            }
        }
        return slices.indices.filter { slices[$0].kind == "turn" }.map { slices[$0].length - (asleep[$0] ?? 0) }
    }

    // MARK: Words

    /// Formats a duration in microseconds with the unit that fits.
    static func time(_ microseconds: Double) -> String {
        let (value, unit) =
            switch abs(microseconds) {
            case ..<1000: (microseconds, "µs")
            case ..<1e6: (microseconds / 1000, "ms")
            default: (microseconds / 1e6, "s")
            }
        let tenths = Int(clamping: value * 10)
        return abs(value) < 100 ? "\(tenths / 10).\(abs(tenths % 10)) \(unit)" : "\(Int(clamping: value)) \(unit)"
    }

    private func section(_ title: String, _ rows: [(name: String, size: Double, text: String)], _ width: Int)
        -> [String]
    {
        guard let most = rows.map(\.size).max() else { return [] }
        let names = min(36, rows.map(\.name.count).max() ?? 0)
        let room = max(4, width - names - 22)
        return [title]
            + rows.map { row in
                let name = row.name.count > names ? "…" + row.name.suffix(names - 1) : row.name
                let length = most > 0 ? max(1, Int(clamping: row.size / most * Double(room))) : 1
                return "  " + String(repeating: " ", count: names - name.count) + name + "  "
                    + String(repeating: "█", count: length) + " " + row.text
            } + [""]
    }

    private func spread(_ title: String, _ values: [Double]) -> [String] {
        if values.isEmpty { return [] }
        let sorted = values.sorted()
        func part(_ share: Double) -> String {
            Self.time(max(0, sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]))
        }
        return [
            "\(title): half below \(part(0.5)), 99 of 100 below \(part(0.99)), at most \(part(1)) (\(values.count))"
        ]
    }
}

extension Int {
    /// Makes the nearest integer to any number, since a file may contain any number.
    init(clamping number: Double) {
        self = Int(exactly: number.rounded()) ?? (number < 0 ? .min : .max)
    }
}
