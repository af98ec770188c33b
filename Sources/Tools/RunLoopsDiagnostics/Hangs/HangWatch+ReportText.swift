// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop.HangWatch.Report {
    /// The report as several lines of text for people; each line ends with a line feed.
    public var text: String {
        var lines = [headline, "Why: \(cause)."] + tasks.map { $0 + "." }
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
        if cause == .tasksInRing {
            return "Hang \(number): \(owner) has been asleep for \(duration.inMilliseconds), and tasks never resume."
        }
        let verb = stage == .began ? "has been hanging" : "hung"
        return "Hang \(number): \(owner) \(verb) for \(duration.inMilliseconds); its limit is \(limit.inMilliseconds)."
    }

    /// The report as a JSON object on one line, with durations in microseconds.
    public var json: String {
        let json: JSON = [
            "stage": stage == .began ? "began" : "ended", "number": .integer(Int64(number)),
            "thread": .integer(Int64(loop.thread)), "threadName": .string(loop.name), "isMain": loop.isMain ? 1 : 0,
            "mode": mode.map { .string($0.rawValue) }, "depth": .integer(Int64(depth)),
            "since": .integer(since.nanoseconds / 1000), "duration": duration.inMicroseconds,
            "standstill": standstill.inMicroseconds, "limit": limit.inMicroseconds,
            "cause": .string(cause.description), "processorTime": processorTime.inMicroseconds,
            "processorDelay": processorDelay.inMicroseconds, "callouts": .integer(Int64(calloutCount)),
            "leftOut": .integer(Int64(leftOut)), "callout": callout?.json,
            "commonest": .array(commonest.map(\.json)), "samples": .integer(Int64(samples)),
            "stackSamples": .integer(Int64(stackSamples)),
            "stack": .array(stack.map { .string($0.description) }),
            "tasks": tasks.isEmpty ? nil : .array(tasks.map { .string($0) }),
        ]
        return json.text
    }
}

extension RunLoop.HangWatch.Report.Callout {
    fileprivate var text: String {
        let made = place.flatMap { $0 == label ? nil : ", made at \($0)" } ?? ""
        let often = count > 1 ? "\(count) times, " : ""
        return "\(kind) \(label)\(made): \(often)\(duration.inMilliseconds)"
    }

    fileprivate var json: JSON {
        [
            "kind": .string(kind.description), "label": .string(label), "place": place.map { .string($0) },
            "duration": duration.inMicroseconds, "count": .integer(Int64(count)),
        ]
    }
}

extension Duration {
    fileprivate var inMicroseconds: JSON { .integer(clampedNanoseconds / 1000) }

    /// The duration with its unit, rounded for people.
    var inMilliseconds: String {
        let nanoseconds = max(0, clampedNanoseconds)
        if nanoseconds >= 10_000_000 { return "\(nanoseconds / 1_000_000) ms" }
        let hundredths = String(nanoseconds / 10_000 % 100)
        return "\(nanoseconds / 1_000_000).\(String(repeating: "0", count: 2 - hundredths.count))\(hundredths) ms"
    }
}
