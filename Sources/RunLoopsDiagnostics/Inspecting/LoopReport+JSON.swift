// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Reports as they travel.
internal import RunLoops

extension ProcessReport {
    func json() -> String {
        var json = JSONWriter()
        json.open("{")
        json.name("process")
        json.value(Int64(process))
        json.name("program")
        json.value(program)
        json.name("time")
        json.value(time)
        json.name("loops")
        json.open("[")
        for loop in loops { loop.write(to: &json) }
        json.close("]")
        json.close("}")
        return json.text
    }

    /// - Parameter process: Its number as the kernel gives it here: the one in the text is the process's own idea.
    init?(_ json: JSON, process: Int32) {
        guard let program = json["program"]?.string, let loops = json["loops"]?.array else { return nil }
        self.process = process
        self.program = program
        // A double has bits for 104 days of nanoseconds; after that they are a little rounded.
        time = json.integer("time") ?? 0
        self.loops = []
        for loop in loops {
            guard let loop = LoopReport(loop) else { return nil }
            self.loops.append(loop)
        }
    }
}

extension LoopReport {
    func write(to json: inout JSONWriter) {
        func number(_ name: StaticString, _ value: Int64, _ json: inout JSONWriter) {
            json.name(name)
            json.value(value)
        }
        func text(_ name: StaticString, _ value: String?, _ json: inout JSONWriter) {
            guard let value else { return }
            json.name(name)
            json.value(value)
        }
        json.open("{")
        number("thread", Int64(thread), &json)
        text("name", name, &json)
        number("main", isMain ? 1 : 0, &json)
        text("activity", activity.rawValue, &json)
        number("since", since, &json)
        number("depth", Int64(depth), &json)
        text("mode", mode, &json)
        number("locked", isLocked ? 1 : 0, &json)
        number("turns", Int64(clamping: turns), &json)
        number("calloutCount", Int64(clamping: calloutCount), &json)
        number("slept", slept, &json)
        text("description", description, &json)
        json.name("wakings")
        json.open("[")
        for count in wakings { json.value(Int64(clamping: count)) }
        json.close("]")
        json.name("callouts")
        json.open("[")
        for callout in callouts {
            json.open("{")
            text("kind", callout.kind, &json)
            text("label", callout.label, &json)
            text("place", callout.place, &json)
            number("since", callout.since, &json)
            json.close("}")
        }
        json.close("]")
        json.name("timers")
        json.open("[")
        for timer in timers {
            json.open("{")
            text("label", timer.label, &json)
            number("due", timer.due, &json)
            number("interval", timer.interval, &json)
            number("tolerance", timer.tolerance, &json)
            json.close("}")
        }
        json.close("]")
        if let statistics {
            json.name("statistics")
            statistics.write(to: &json)
        }
        json.close("}")
    }

    /// Nothing that another process sends is believed to be there, or to be small.
    init?(_ json: JSON) {
        guard let thread = json.integer("thread"), let activity = json["activity"]?.string.flatMap(Activity.init)
        else { return nil }
        self.thread = Int32(truncatingIfNeeded: thread)
        self.activity = activity
        name = json["name"]?.string ?? ""
        isMain = json.integer("main") == 1
        since = json.integer("since") ?? 0
        depth = Int(json.integer("depth") ?? 0)
        mode = json["mode"]?.string
        isLocked = json.integer("locked") == 1
        turns = UInt64(clamping: json.integer("turns") ?? 0)
        calloutCount = UInt64(clamping: json.integer("calloutCount") ?? 0)
        slept = json.integer("slept") ?? 0
        description = json["description"]?.string
        wakings = (json["wakings"]?.array ?? []).map { UInt64(clamping: $0.integer ?? 0) }
        callouts = (json["callouts"]?.array ?? []).map {
            Callout(
                kind: $0["kind"]?.string ?? "", label: $0["label"]?.string ?? "", place: $0["place"]?.string,
                since: $0.integer("since") ?? 0)
        }
        statistics = json["statistics"].flatMap { RunLoop.Statistics($0) }
        timers = (json["timers"]?.array ?? []).map {
            Timer(
                label: $0["label"]?.string ?? "", due: $0.integer("due") ?? 0, interval: $0.integer("interval") ?? 0,
                tolerance: $0.integer("tolerance") ?? 0)
        }
    }
}

extension JSON {
    /// A number that is whole and not too large to be in 64 bits; otherwise `nil`.
    var integer: Int64? { number.flatMap { Int64(exactly: $0) } }

    func integer(_ name: String) -> Int64? { self[name]?.integer }
}
