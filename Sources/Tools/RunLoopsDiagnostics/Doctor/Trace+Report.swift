// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop.Trace {
    /// A trace read back from its JSON, as slices, for summaries and advice.
    ///
    /// Thread safety: a value; any thread.
    public struct Report: Sendable {
        /// The maximum size of a text that ``init(json:)`` reads, in bytes.
        public static let maxTextLength = 256 << 20
        /// The maximum number of JSON values in a text; the events of a text of ``maxTextLength`` bytes have fewer.
        private static let maxValues = 1 << 25

        /// The reason why a text is not read as a trace.
        public enum ReadingError: Error, Equatable, CustomStringConvertible {
            /// The text is not JSON; the value is the offset of the first error, in bytes from the beginning.
            case notJSON(at: Int)
            /// The text is JSON, but not a trace; the value describes the fault and the event that has it.
            case notTrace(String)
            /// The text is longer than ``maxTextLength``, or has more values than any trace of that length; the value
            /// says which.
            case tooLarge(String)

            /// The error in words.
            public var description: String {
                switch self {
                case .notJSON(let offset): "not JSON, from byte \(offset) on"
                case .notTrace(let what): "no trace: \(what)"
                case .tooLarge(let what): "too large for a trace: \(what)"
                }
            }
        }

        /// A run, a turn, a sleep or a callout, with its times in microseconds from the trace's beginning.
        struct Slice: Sendable {
            var name: String
            /// The kind of the slice: run, turn, sleep, or the kind of callout.
            var kind: String
            var thread: Int
            /// The number of slices that contain this slice.
            var depth: Int
            var start: Double
            var end: Double
            var details: JSON?
            /// The index of the innermost slice that contains this slice.
            var parent: Int?
            /// The index of the innermost run that contains this slice.
            var run: Int?
            /// Whether the slice had not ended when the trace was taken.
            var isUnfinished = false

            var length: Double { end - start }
            func detail(_ name: String) -> Double? { details?[name]?.number }
            /// The time by which a timer fired later than its tolerance allows, in microseconds; `nil` if that is not
            /// known.
            var lateness: Double? { detail("waited").map { max(0, $0 - (detail("tolerance") ?? 0)) } }
            var wokenBy: String? { details?["wokenBy"]?.string }
            var isCallout: Bool { !["run", "turn", "sleep", "wake-up"].contains(kind) }
        }

        /// The program's file name.
        public let program: String
        /// The number of older events that had been overwritten.
        public let lost: Int
        /// The slices in the order in which they began on their thread, outer slices first.
        let slices: [Slice]
        let threadNames: [Int: String]
        let loops: [LoopItemsReport]
        let foundationTimerOverdue: Double?
        let programEnded: Bool

        /// Reads the JSON of ``Trace/chromeJSON()``.
        ///
        /// A text that is not a trace is refused with an error, and never ends the program.
        ///
        /// - Throws: The reason why the text is not a trace.
        ///
        /// - Complexity: O(n) in the length of the text, which is at most ``maxTextLength`` bytes; needs up to fifteen
        ///   times as much memory as the text.
        public init(json text: String) throws(ReadingError) {
            if text.utf8.count > Self.maxTextLength { throw .tooLarge("it has \(text.utf8.count) bytes") }
            let json: JSON
            do {
                json = try JSON(parsing: text, most: Self.maxValues)
            } catch {
                switch error {
                case .malformed(let offset): throw .notJSON(at: offset)
                case .tooManyValues: throw .tooLarge("it has more than \(Self.maxValues) values")
                }
            }
            guard let events = json["traceEvents"]?.array else { throw .notTrace("it has no traceEvents") }
            var builder = SliceBuilder()
            for (index, event) in events.enumerated() {
                if let complaint = builder.add(event) { throw .notTrace("event \(index) \(complaint)") }
            }
            if let complaint = builder.complaintAtEnd { throw .notTrace(complaint) }
            let header = json["otherData"]
            program = header?["program"]?.string ?? "a program"
            lost = header?["lost"].flatMap(Int.init(json:)) ?? 0
            loops = header?["loops"].flatMap([LoopItemsReport].init(json:)) ?? []
            foundationTimerOverdue = header?["foundationTimerOverdue"]?.number
            programEnded = header?["programEnded"].flatMap(Bool.init(json:)) ?? false
            slices = builder.slices
            threadNames = builder.threadNames
        }

        func threadName(_ thread: Int) -> String { threadNames[thread] ?? "thread \(thread)" }
    }
}

/// Builds slices from the events of a trace, and checks that the events follow the rules of the format.
private struct SliceBuilder {
    /// The maximum distance of a time from the trace's beginning, in microseconds: a century, so that figures stay
    /// exact and finite.
    private static let furthest = 100 * 366 * 86_400e6
    /// The maximum number of slices inside each other; a thread's stack has no room for more runs.
    private static let deepest = 10_000

    private(set) var slices: [RunLoop.Trace.Report.Slice] = []
    private(set) var threadNames: [Int: String] = [:]
    private var open: [Int: [Int]] = [:]
    private var latest: [Int: Double] = [:]
    private var flowsBegun: Set<Int64> = []
    private var flowsEnded: Set<Int64> = []

    /// Adds an event; returns the event's fault, or `nil` if it has none.
    mutating func add(_ event: JSON) -> String? {
        guard let phase = event["ph"]?.string else { return "has no phase" }
        guard let thread = event["tid"].flatMap(Int.init(json:)), event["pid"]?.integer != nil else {
            return "has no thread or no process"
        }
        guard let time = event["ts"]?.number else { return "has no time" }
        if abs(time) > Self.furthest { return "is a century away" }
        if phase != "E", event["name"]?.string == nil { return "has no name" }
        switch phase {
        case "M":
            guard let name = event["args"]?["name"]?.string else { return "names nothing" }
            if event["name"]?.string == "thread_name" { threadNames[thread] = name }
        case "B":
            if time < latest[thread] ?? time { return "begins before the one before it on its thread" }
            latest[thread] = time
            let depth = open[thread]?.count ?? 0
            if depth == Self.deepest { return "is inside of \(depth) others" }
            begin(event, thread, time, depth, parent: open[thread]?.last)
            open[thread, default: []].append(slices.count - 1)
        case "E":
            if time < latest[thread] ?? time { return "ends before the one before it on its thread" }
            latest[thread] = time
            guard let index = open[thread]?.popLast() else { return "ends what has not begun" }
            slices[index].end = time
            slices[index].isUnfinished = event["args"]?["unfinished"] != nil
        case "X":
            guard let length = event["dur"]?.number, 0...Self.furthest ~= length else { return "has no length" }
            begin(event, thread, time, open[thread]?.count ?? 0, parent: nil)
            slices[slices.count - 1].end = time + length
        case "i":
            guard ["t", "p", "g"].contains(event["s"]?.string) else { return "is an instant without scope" }
        case "s", "f":
            guard let flow = event["id"]?.integer else { return "is a flow without number" }
            if phase == "s" { flowsBegun.insert(flow) } else { flowsEnded.insert(flow) }
        default: return "has the unknown phase \(phase)"
        }
        return nil
    }

    /// The fault of the whole trace; `nil` if it has none.
    var complaintAtEnd: String? {
        if open.values.contains(where: { !$0.isEmpty }) { return "a slice has no end" }
        return flowsBegun == flowsEnded ? nil : "a flow has one end only"
    }

    private mutating func begin(_ event: JSON, _ thread: Int, _ time: Double, _ depth: Int, parent: Int?) {
        slices.append(
            RunLoop.Trace.Report.Slice(
                name: event["name"]?.string ?? "", kind: event["cat"]?.string ?? "", thread: thread, depth: depth,
                start: time, end: time, details: event["args"], parent: parent,
                run: parent.flatMap { slices[$0].kind == "run" ? $0 : slices[$0].run }))
    }
}
