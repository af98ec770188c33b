// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop.Trace {
    /// A trace read back from its JSON, as slices, for summaries and advice.
    ///
    /// Thread safety: a value; any thread.
    public struct Report: Sendable {
        /// Why a file is not a trace.
        public enum ReadingError: Error, Equatable, CustomStringConvertible {
            /// The text is not JSON; says where, in bytes from the beginning.
            case notJSON(at: Int)
            /// The text is JSON, but not a trace; says what is wrong with which event.
            case notTrace(String)

            /// The error in words.
            public var description: String {
                switch self {
                case .notJSON(let offset): "not JSON, from byte \(offset) on"
                case .notTrace(let what): "no trace: \(what)"
                }
            }
        }

        /// A run, a turn, a sleep or a callout, with when it was, in microseconds from the trace's beginning.
        struct Slice: Sendable {
            var name: String
            /// What the slice is: run, turn, sleep, or the kind of callout.
            var kind: String
            var thread: Int
            /// How many slices this slice is inside of.
            var depth: Int
            var start: Double
            var end: Double
            var details: [String: JSON]
            /// The innermost slice that this slice is inside of.
            var parent: Int?

            var length: Double { end - start }
            func detail(_ name: String) -> Double? { details[name]?.number }
            var isCallout: Bool { !["run", "turn", "sleep", "wake-up"].contains(kind) }
        }

        /// The program's file name.
        public let program: String
        /// How many older events had been overwritten.
        public let lost: Int
        /// The slices in the order in which they began on their thread, outer slices first.
        let slices: [Slice]
        let threadNames: [Int: String]
        let loops: [LoopItemsReport]

        /// Reads the JSON of ``Trace/chromeJSON()``.
        ///
        /// - Throws: what is wrong with it.
        ///
        /// - Complexity: O(n) in the text.
        public init(json text: String) throws(ReadingError) {
            let json: JSON
            do { json = try JSON(text) } catch { throw .notJSON(at: error.offset) }
            guard let events = json["traceEvents"]?.array else { throw .notTrace("it has no traceEvents") }
            var builder = SliceBuilder()
            for (index, event) in events.enumerated() {
                if let complaint = builder.add(event) { throw .notTrace("event \(index) \(complaint)") }
            }
            if let complaint = builder.complaintAtEnd { throw .notTrace(complaint) }
            program = json["otherData"]?["program"]?.string ?? "a program"
            lost = Int(json["otherData"]?["lost"]?.number ?? 0)
            loops = (json["otherData"]?["loops"]?.array ?? []).map { LoopItemsReport($0) }
            slices = builder.slices
            threadNames = builder.threadNames
        }

        func threadName(_ thread: Int) -> String { threadNames[thread] ?? "thread \(thread)" }
    }
}

/// Puts slices together, and holds the events to the rules of the format while it does.
struct SliceBuilder {
    private(set) var slices: [RunLoop.Trace.Report.Slice] = []
    private(set) var threadNames: [Int: String] = [:]
    private var open: [Int: [Int]] = [:]
    private var latest: [Int: Double] = [:]
    private var flowsBegun: Set<Double> = []
    private var flowsEnded: Set<Double> = []

    /// What is wrong with the event, or `nil`.
    mutating func add(_ event: JSON) -> String? {
        guard let phase = event["ph"]?.string else { return "has no phase" }
        guard let thread = event["tid"]?.number.map({ Int($0) }), event["pid"]?.number != nil else {
            return "has no thread or no process"
        }
        guard let time = event["ts"]?.number else { return "has no time" }
        if phase != "E", event["name"]?.string == nil { return "has no name" }
        switch phase {
        case "M":
            guard let name = event["args"]?["name"]?.string else { return "names nothing" }
            if event["name"]?.string == "thread_name" { threadNames[thread] = name }
        case "B":
            if time < latest[thread] ?? time { return "begins before the one before it on its thread" }
            latest[thread] = time
            open[thread, default: []].append(slices.count)
            begin(event, thread, time)
        case "E":
            if time < latest[thread] ?? time { return "ends before the one before it on its thread" }
            latest[thread] = time
            guard let index = open[thread]?.popLast() else { return "ends what has not begun" }
            slices[index].end = time
        case "X":
            guard let length = event["dur"]?.number, length >= 0 else { return "has no length" }
            begin(event, thread, time)
            slices[slices.count - 1].end = time + length
        case "i":
            guard ["t", "p", "g"].contains(event["s"]?.string) else { return "is an instant without scope" }
        case "s", "f":
            guard let flow = event["id"]?.number else { return "is a flow without number" }
            if phase == "s" { flowsBegun.insert(flow) } else { flowsEnded.insert(flow) }
        default: return "has the unknown phase \(phase)"
        }
        return nil
    }

    /// What is wrong with the whole trace, or `nil`.
    var complaintAtEnd: String? {
        if open.values.contains(where: { !$0.isEmpty }) { return "a slice has no end" }
        return flowsBegun == flowsEnded ? nil : "a flow has one end only"
    }

    private mutating func begin(_ event: JSON, _ thread: Int, _ time: Double) {
        let isNested = event["ph"]?.string == "B"
        // The slice itself is open already.
        let outer = isNested ? open[thread]?.dropLast() : open[thread]?[...]
        let parent = isNested ? outer?.last : nil
        var details: [String: JSON] = [:]
        if case .object(let members) = event["args"] { details = members }
        slices.append(
            RunLoop.Trace.Report.Slice(
                name: event["name"]?.string ?? "", kind: event["cat"]?.string ?? "", thread: thread,
                depth: outer?.count ?? 0, start: time,
                end: time, details: details, parent: parent))
    }
}
