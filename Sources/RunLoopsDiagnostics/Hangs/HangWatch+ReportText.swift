// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop.HangWatch.Report {
    /// The report for people: some lines, each with its end.
    public var text: String {
        var lines = [headline, "Why: \(cause)."]
        if let callout { lines.append((cause == .congestion ? "Commonest: " : "Callout: ") + callout.text) }
        if cause == .congestion {
            lines.append("Callouts: \(calloutCount)")
            lines += commonest.dropFirst().map { "  " + $0.text }
        }
        lines.append(
            "Mode \(mode?.rawValue ?? "unknown"), depth \(depth). Processor: \(processorTime.inMilliseconds) used, "
                + "\(processorDelay.inMilliseconds) waited for.")
        if standstill > .zero { lines.append("The process was stopped for \(standstill.inMilliseconds) beside that.") }
        if leftOut > 0 { lines.append("\(leftOut) like this one have not been reported since the last.") }
        if !stack.isEmpty { lines.append("Stack, in \(stackSamples) of \(samples) samples, innermost first:") }
        lines += stack.map { "  \($0)" }
        return lines.map { $0 + "\n" }.joined()
    }

    private var headline: String {
        let owner = loop.isMain ? "the main loop" : "the loop of thread \(loop.thread) (\(loop.name))"
        let verb = stage == .began ? "has been hanging" : "hung"
        return "Hang \(number): \(owner) \(verb) for \(duration.inMilliseconds); its limit is \(limit.inMilliseconds)."
    }

    /// The report as one line of JSON, durations in microseconds.
    public var json: String {
        var writer = JSONWriter()
        writer.open("{")
        writer.member("stage", stage == .began ? "began" : "ended")
        writer.member("number", number)
        writer.member("thread", Int(loop.thread))
        writer.member("threadName", loop.name)
        writer.member("isMain", loop.isMain ? 1 : 0)
        if let mode { writer.member("mode", mode.rawValue) }
        writer.member("depth", depth)
        writer.member("since", since.nanoseconds.microseconds)
        writer.member("duration", duration.inMicroseconds)
        writer.member("standstill", standstill.inMicroseconds)
        writer.member("limit", limit.inMicroseconds)
        writer.member("cause", cause.description)
        writer.member("processorTime", processorTime.inMicroseconds)
        writer.member("processorDelay", processorDelay.inMicroseconds)
        writer.member("callouts", calloutCount)
        writer.member("leftOut", leftOut)
        if let callout {
            writer.name("callout")
            writer.object(callout)
        }
        writer.name("commonest")
        writer.open("[")
        for callout in commonest { writer.object(callout) }
        writer.close("]")
        writer.member("samples", samples)
        writer.member("stackSamples", stackSamples)
        writer.name("stack")
        writer.open("[")
        for frame in stack { writer.value(frame.description) }
        writer.close("]")
        writer.close("}")
        return writer.text
    }
}

extension RunLoop.HangWatch.Report.Callout {
    fileprivate var text: String {
        let made = place.flatMap { $0 == label ? nil : ", made at \($0)" } ?? ""
        let often = count > 1 ? "\(count) times, " : ""
        return "\(kind) \(label)\(made): \(often)\(duration.inMilliseconds)"
    }
}

extension JSONWriter {
    fileprivate mutating func member(_ name: StaticString, _ text: String) {
        self.name(name)
        value(text)
    }

    fileprivate mutating func member(_ name: StaticString, _ number: Int) {
        self.name(name)
        value(Int64(number))
    }

    fileprivate mutating func object(_ callout: RunLoop.HangWatch.Report.Callout) {
        open("{")
        member("kind", callout.kind.description)
        member("label", callout.label)
        if let place = callout.place { member("place", place) }
        member("duration", callout.duration.inMicroseconds)
        member("count", callout.count)
        close("}")
    }
}

extension Int64 {
    fileprivate var microseconds: Int { Int(self / 1000) }
}

extension Duration {
    fileprivate var inMicroseconds: Int { clampedNanoseconds.microseconds }

    /// With its unit; exact enough for people.
    var inMilliseconds: String {
        let nanoseconds = clampedNanoseconds
        if nanoseconds >= 10_000_000 { return "\(nanoseconds / 1_000_000) ms" }
        let hundredths = String(nanoseconds / 10_000 % 100)
        return "\(nanoseconds / 1_000_000).\(String(repeating: "0", count: 2 - hundredths.count))\(hundredths) ms"
    }
}
