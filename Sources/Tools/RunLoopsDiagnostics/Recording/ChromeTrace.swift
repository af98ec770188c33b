// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// A trace as Chrome's trace events, which Perfetto reads too.
///
/// Every thread is a track. Runs, turns, sleeps and callouts are nested slices (`B` and `E`), the points of a turn are
/// instants (`i`), and each wake-up is a flow from the thread that requested it to the sleep that it ended (`s` and
/// `f`). A slice that had not ended when the trace was taken ends with the trace, and is marked as unfinished. Times
/// are in microseconds from the earliest event.
struct ChromeTrace {
    private var bytes: [UInt8] = []
    private let trace: RunLoop.Trace
    private let origin: Int64
    private var flows: Int64 = 0
    /// Wake-ups by threads without a loop; each becomes a slice, in which its flow begins.
    private var strangers: [(thread: Int32, time: Int64, flow: Int64)] = []

    // Of the loop that is being written.
    private var thread: Int32 = 0
    /// The slices that are open, innermost last.
    private var open: [Slice] = []
    /// The time of the latest beginning or end.
    private var latest: Int64 = 0
    /// A callout that has begun; the next event may say how long it waited.
    private var pending: (time: Int64, callee: RunLoop.Trace.Event.Callee, label: String)?

    private enum Slice { case run, turn, callout, sleep }

    static func text(_ trace: RunLoop.Trace) -> String {
        var writer = ChromeTrace(trace)
        writer.write()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private init(_ trace: RunLoop.Trace) {
        self.trace = trace
        let begins = trace.loops.compactMap { loop in
            loop.events.lazy.map(\.time).min() ?? loop.asleepSince ?? loop.pages.first?.time
        }
        origin = begins.min() ?? trace.end
    }

    private mutating func write() {
        let header: JSON = [
            "program": .string(trace.program),
            "lost": .integer(Int64(trace.loops.reduce(0) { $0 + $1.lost })),
            "loopsNotRecorded": .integer(Int64(trace.loopsNotRecorded)),
            "foundationTimerOverdue": trace.foundationTimerOverdue.map(JSON.microseconds),
            "programEnded": trace.programEnded ? .bool(true) : nil,
            "loops": .array(trace.loops.compactMap { LoopItemsReport($0, origin: origin).asJSON }),
        ]
        bytes += #"{"displayTimeUnit":"ns","otherData":\#(header.text),"traceEvents":["#.utf8
        name("process_name", trace.process, trace.program)
        for loop in trace.loops {
            let name = loop.name.isEmpty ? "thread \(loop.thread)" : loop.name
            self.name("thread_name", loop.thread, loop.isMain ? "main loop" : "loop of \(name)")
        }
        for loop in trace.loops { write(loop) }
        for (thread, time, flow) in strangers {
            emit("X", time, thread, ["name": "wakes a loop", "cat": "wake-up", "dur": .decimal(1)])
            emit("s", time, thread, ["name": "wake-up", "cat": "wake-up", "id": .integer(flow)])
        }
        bytes += "\n]}".utf8
    }

    // MARK: Events

    /// Writes an event, on a line of its own.
    private mutating func emit(_ phase: JSON, _ time: Int64, _ thread: Int32, _ rest: JSON) {
        bytes += (bytes.last == UInt8(ascii: "[") ? "\n" : ",\n").utf8
        let start: JSON = [
            "ph": phase, "pid": .integer(Int64(trace.process)), "tid": .integer(Int64(thread)),
            "ts": .microseconds(time - origin),
        ]
        guard case .object(let first) = start, case .object(let second) = rest else { return }
        JSON.object(first + second).write(to: &bytes)
    }

    private mutating func name(_ what: String, _ thread: Int32, _ name: String) {
        emit("M", origin, thread, ["name": .string(what), "cat": "__metadata", "args": ["name": .string(name)]])
    }

    private mutating func openSlice(
        _ slice: Slice, _ name: String, _ category: String, _ time: Int64, _ details: JSON? = nil
    ) {
        emit("B", time, thread, ["name": .string(name), "cat": .string(category), "args": details])
        latest = time
        open.append(slice)
    }

    private mutating func closeSlice(_ time: Int64, _ details: JSON? = nil) {
        emit("E", time, thread, ["args": details])
        latest = time
        open.removeLast()
    }

    /// Closes the innermost open slice of this kind and all slices inside it; does nothing if no such slice is open.
    private mutating func closeSlices(_ time: Int64, through slice: Slice) {
        guard let index = open.lastIndex(of: slice) else { return }
        // The beginning of the innermost callout was lost: what is open belongs to something outside of it.
        if slice == .callout, open[index...].contains(.run) { return }
        while open.count > index { closeSlice(time) }
    }

    // MARK: What a loop does

    private mutating func write(_ loop: RunLoop.Trace.Loop) {
        thread = loop.thread
        open = []
        latest = origin
        pending = nil
        // Without their beginnings, which were overwritten, ends mean nothing; a run that goes on is opened again.
        for event in Self.withWholeBeginnings(loop.events) { write(event) }
        flushCallout(nil)
        let end = max(trace.end, latest, loop.events.last?.time ?? latest)
        if let since = loop.asleepSince { openSlice(.sleep, "asleep", "sleep", min(max(since, latest), end)) }
        while !open.isEmpty { closeSlice(end, ["unfinished": 1]) }
    }

    /// Returns the events with adjusted beginnings: runs and callouts that were under way when the recording began must
    /// not begin after the events inside them.
    private static func withWholeBeginnings(_ events: [RunLoop.Trace.Event]) -> [RunLoop.Trace.Event] {
        var events = events
        let count = events.prefix { event in
            switch event.kind {
            case .runBegan, .calloutBegan, .wanted: true
            default: false
            }
        }.count
        for index in (0..<max(0, count - 1)).reversed() {
            events[index].time = min(events[index].time, events[index + 1].time)
        }
        return events
    }

    private mutating func write(_ event: RunLoop.Trace.Event) {
        if case .wanted(let wait) = event.kind { return flushCallout(wait) }
        flushCallout(nil)
        switch event.kind {
        case .wanted: break
        case .runBegan(let mode):
            openSlice(.run, "run \(mode)", "run", event.time, ["depth": .integer(Int64(event.depth))])
        case .passed(let activity): pass(activity, event.time)
        case .calloutBegan(let callee, let label): pending = (event.time, callee, label)
        case .calloutEnded: closeSlices(event.time, through: .callout)
        case .woke(let waking): wake(waking, event.time)
        case .runEnded: closeSlices(event.time, through: .run)
        }
    }

    private mutating func pass(_ activity: RunLoop.Activities, _ time: Int64) {
        if activity == .beforeTimers || activity == .exit, open.last == .turn { closeSlice(time) }
        if activity == .beforeTimers { openSlice(.turn, "turn", "turn", time) }
        let name = String(activity.description.dropFirst().dropLast())
        emit("i", time, thread, ["name": .string(name), "cat": "step", "s": "t"])
    }

    /// Writes the beginning of the pending callout, if there is one.
    private mutating func flushCallout(_ wait: RunLoop.Trace.Event.Wait?) {
        guard let (time, callee, label) = pending else { return }
        pending = nil
        let details = wait.flatMap { wait -> JSON? in
            if wait.since == .min { return nil }
            return [
                "wanted": .microseconds(wait.since - origin), "waited": .microseconds(time - wait.since),
                "by": wait.thread == 0 ? nil : .integer(Int64(wait.thread)),
                "tolerance": callee == .timer ? .microseconds(wait.tolerance) : nil,
                "interval": callee == .timer ? .microseconds(wait.interval) : nil,
            ]
        }
        openSlice(.callout, label, callee.description, time, details)
    }

    private mutating func wake(_ waking: RunLoop.Trace.Event.Waking, _ time: Int64) {
        let isCalled = waking.thread != 0
        // Of a sleep that is older than the recording, the part before it is not shown.
        openSlice(
            .sleep, "asleep", "sleep", min(max(waking.asleepSince, latest), time),
            [
                "wokenBy": .string(waking.cause.description),
                "by": isCalled ? .integer(Int64(waking.thread)) : nil,
                "latency": isCalled ? .microseconds(time - waking.calledAt) : nil,
            ])
        if isCalled { flow(waking, time) }
        closeSlice(time)
    }

    private mutating func flow(_ waking: RunLoop.Trace.Event.Waking, _ time: Int64) {
        flows += 1
        let id = JSON.integer(flows)
        if trace.loops.contains(where: { $0.thread == waking.thread }) {
            emit("s", waking.calledAt, waking.thread, ["name": "wake-up", "cat": "wake-up", "id": id])
        } else {
            strangers.append((waking.thread, waking.calledAt, flows))
        }
        emit("f", time, thread, ["name": "wake-up", "cat": "wake-up", "id": id, "bp": "e"])
    }
}
