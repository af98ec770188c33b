// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop.Trace.Report {
    /// What a terminal shows of a trace: turns, what woke the loop, the slowest callouts, how late and how long.
    ///
    /// - Parameter width: How many columns there are.
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
        let end = slices.map(\.end).max() ?? 0
        let loops = Set(slices.filter { $0.kind == "run" }.map(\.thread)).count
        let turns = slices.count { $0.kind == "turn" }
        let callouts = slices.count(where: \.isCallout)
        let overwritten = lost > 0 ? ", \(lost) older events overwritten" : ""
        return
            "\(program): \(Self.time(end)), \(loops) loop\(loops == 1 ? "" : "s"), \(turns) turns, \(callouts) callouts\(overwritten)"
    }

    // MARK: Figures

    /// What ended sleeps, most often first.
    var ledger: [(name: String, count: Int)] {
        var counts: [String: Int] = [:]
        for slice in slices where slice.kind == "sleep" {
            let by = slice.detail("by").map { " by \(threadName(Int($0)))" } ?? ""
            counts[(slice.details["wokenBy"]?.string ?? "something") + by, default: 0] += 1
        }
        return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, $0.value) }
    }

    /// Callouts by label, the longest first.
    var slowest: [(worst: Slice, count: Int)] {
        var found: [String: (worst: Slice, count: Int)] = [:]
        for slice in slices where slice.isCallout {
            let key = slice.kind + " " + slice.name
            let other = found[key]
            let worst = other.map { $0.worst.length >= slice.length ? $0.worst : slice } ?? slice
            found[key] = (worst, (other?.count ?? 0) + 1)
        }
        return found.values.sorted { $0.worst.length > $1.worst.length }
    }

    /// How late timers were.
    var lateness: [Double] { slices.filter { $0.kind == "timer" }.compactMap { $0.detail("waited") } }

    /// How long others waited.
    var latency: [Double] { slices.filter { $0.isCallout && $0.kind != "timer" }.compactMap { $0.detail("waited") } }

    /// How long each turn was awake.
    var awake: [Double] {
        var result: [Double] = []
        // Slices stand in the order in which they begin on their thread: a sleep belongs to the turns that are open.
        var open: [(index: Int, slice: Slice)] = []
        for slice in slices {
            open.removeAll { $0.slice.thread != slice.thread || $0.slice.end <= slice.start }
            if slice.kind == "turn" {
                open.append((result.count, slice))
                result.append(slice.length)
            } else if slice.kind == "sleep" {
                for turn in open { result[turn.index] -= slice.length }
            }
        }
        return result
    }

    // MARK: Words

    /// Microseconds in the unit that fits.
    static func time(_ microseconds: Double) -> String {
        let (value, unit) =
            switch abs(microseconds) {
            case ..<1000: (microseconds, "µs")
            case ..<1e6: (microseconds / 1000, "ms")
            default: (microseconds / 1e6, "s")
            }
        let tenths = Int((value * 10).rounded())
        return abs(value) < 100 ? "\(tenths / 10).\(abs(tenths % 10)) \(unit)" : "\(Int(value.rounded())) \(unit)"
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
                let length = most > 0 ? max(1, Int((row.size / most * Double(room)).rounded())) : 1
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
