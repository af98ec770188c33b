// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Statistics as they travel.
internal import RunLoops

extension RunLoop.Statistics {
    /// More different callouts than these are not sent: what is looked for is among the dearest.
    private static let mostCallouts = 64

    func write(to json: inout JSONWriter) {
        json.open("{")
        json.name("turns")
        json.value(Int64(clamping: turns))
        json.name("asleep")
        json.value(asleep)
        json.name("busy")
        json.value(busy)
        json.name("wakings")
        Self.write(RunLoop.Trace.Event.Waking.Cause.allCases.map { wakings[$0] ?? 0 }, to: &json)
        json.name("callouts")
        Self.write(RunLoop.Trace.Event.Callee.allCases.map { callouts[$0] ?? 0 }, to: &json)
        json.name("stretches")
        stretches.write(to: &json)
        json.name("lateness")
        lateness.write(to: &json)
        json.name("latency")
        json.open("[")
        for (callee, histogram) in latency.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            json.value(Int64(callee.rawValue))
            histogram.write(to: &json)
        }
        json.close("]")
        json.name("dearest")
        json.open("[")
        for entry in dearest.prefix(Self.mostCallouts) {
            json.open("[")
            json.value(Int64(entry.callee.rawValue))
            json.value(entry.label)
            json.value(Int64(clamping: entry.count))
            json.value(entry.total)
            json.value(entry.longest)
            json.close("]")
        }
        json.close("]")
        json.close("}")
    }

    private static func write(_ numbers: [UInt64], to json: inout JSONWriter) {
        json.open("[")
        for number in numbers { json.value(Int64(clamping: number)) }
        json.close("]")
    }

    /// Nothing that another process sends is believed to be there, or to be small.
    init?(_ json: JSON) {
        self.init()
        guard let turns = json.integer("turns"), let stretches = RunLoop.DurationHistogram(json["stretches"]),
            let lateness = RunLoop.DurationHistogram(json["lateness"])
        else { return nil }
        self.turns = UInt64(clamping: turns)
        self.stretches = stretches
        self.lateness = lateness
        asleep = json.integer("asleep") ?? 0
        busy = json.integer("busy") ?? 0
        for (cause, count) in zip(RunLoop.Trace.Event.Waking.Cause.allCases, json["wakings"]?.array ?? []) {
            wakings[cause] = UInt64(clamping: count.integer ?? 0)
        }
        for (callee, count) in zip(RunLoop.Trace.Event.Callee.allCases, json["callouts"]?.array ?? []) {
            callouts[callee] = UInt64(clamping: count.integer ?? 0)
        }
        let latencies = json["latency"]?.array ?? []
        for index in stride(from: 0, to: latencies.count - 1, by: 2) {
            if let callee = RunLoop.Trace.Event.Callee(latencies[index]),
                let histogram = RunLoop.DurationHistogram(latencies[index + 1])
            {
                latency[callee] = histogram
            }
        }
        dearest = (json["dearest"]?.array ?? []).compactMap { Callouts($0) }
    }
}

extension RunLoop.Statistics.Callouts {
    fileprivate init?(_ json: JSON) {
        guard let parts = json.array, parts.count == 5, let callee = RunLoop.Trace.Event.Callee(parts[0]),
            let label = parts[1].string
        else { return nil }
        self.init(
            callee: callee, label: label, count: UInt64(clamping: parts[2].integer ?? 0),
            total: parts[3].integer ?? 0, longest: parts[4].integer ?? 0)
    }
}

extension RunLoop.Trace.Event.Callee {
    fileprivate init?(_ json: JSON) {
        guard let number = json.integer, let callee = Self(rawValue: UInt8(truncatingIfNeeded: number)) else {
            return nil
        }
        self = callee
    }
}

extension RunLoop.DurationHistogram {
    /// Only the steps in which there is something: each with its number.
    fileprivate func write(to json: inout JSONWriter) {
        json.open("{")
        json.name("sum")
        json.value(sum)
        json.name("longest")
        json.value(longest)
        json.name("steps")
        json.open("[")
        for (step, count) in counts.enumerated() where count > 0 {
            json.value(Int64(step))
            json.value(Int64(clamping: count))
        }
        json.close("]")
        json.close("}")
    }

    fileprivate init?(_ json: JSON?) {
        self.init()
        guard let json, let steps = json["steps"]?.array else { return nil }
        sum = json.integer("sum") ?? 0
        longest = json.integer("longest") ?? 0
        for index in stride(from: 0, to: steps.count - 1, by: 2) {
            guard let step = steps[index].integer, counts.indices.contains(Int(step)) else { return nil }
            // Bounded, so that no sum of them overflows.
            counts[Int(step)] = UInt64(min(max(0, steps[index + 1].integer ?? 0), 1 << 48))
        }
    }
}
