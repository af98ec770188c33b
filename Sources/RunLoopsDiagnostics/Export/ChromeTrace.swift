// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// A trace as Chrome's trace events, which Perfetto reads too.
///
/// Every thread is a track. Runs, turns, sleeps and callouts are slices that nest (`B` and `E`), the points of a turn
/// are instants (`i`), and each wake-up is a flow from its waker to the sleep it ended (`s` and `f`). The process's own
/// begin is the first event, so that numbers stay short.
struct ChromeTrace {
    private var json = JSONWriter()
    private let trace: RunLoop.Trace
    private let origin: Int64
    private var flows: Int64 = 0
    /// Wake-ups by threads that have no loop: each becomes a slice of its own, for its flow to begin in.
    private var strangers: [(thread: Int32, time: Int64, flow: Int64)] = []

    // Of the loop that is being written.
    private var thread: Int32 = 0
    /// The slices that are open, innermost last.
    private var open: [Slice] = []
    /// A callout that has begun and whose wait, if it is known, is the next event.
    private var pending: (time: Int64, callee: RunLoop.Trace.Event.Callee, label: String)?

    private enum Slice { case run, turn, callout }

    static func text(_ trace: RunLoop.Trace) -> String {
        var writer = ChromeTrace(trace)
        writer.write()
        return writer.json.text
    }

    private init(_ trace: RunLoop.Trace) {
        self.trace = trace
        origin = trace.loops.compactMap { $0.events.first?.time }.min() ?? trace.loops.first?.pages.first?.time ?? 0
    }

    private mutating func write() {
        json.open("{")
        json.name("displayTimeUnit")
        json.value("ns")
        json.name("otherData")
        json.open("{")
        json.name("program")
        json.value(trace.program)
        json.name("lost")
        json.value(Int64(trace.loops.reduce(0) { $0 + $1.lost }))
        json.name("loopsNotRecorded")
        json.value(Int64(trace.loopsNotRecorded))
        json.name("loops")
        json.open("[")
        for loop in trace.loops { json.items(of: loop, origin: origin) }
        json.close("]")
        json.close("}")
        json.name("traceEvents")
        json.open("[")
        names()
        for loop in trace.loops { write(loop) }
        for (thread, time, flow) in strangers { writeStranger(thread, time, flow) }
        json.newLine()
        json.close("]")
        json.close("}")
    }

    // MARK: Events

    private mutating func begin(_ phase: String, _ name: String, _ category: String, _ time: Int64, _ thread: Int32) {
        json.newLine()
        json.open("{")
        json.name("ph")
        json.value(phase)
        json.name("pid")
        json.value(Int64(trace.process))
        json.name("tid")
        json.value(Int64(thread))
        json.name("ts")
        json.microseconds(time - origin)
        if phase == "E" { return }
        json.name("name")
        json.value(name)
        json.name("cat")
        json.value(category)
    }

    private mutating func end() { json.close("}") }

    private mutating func metadata(_ name: String, _ thread: Int32, _ value: String) {
        begin("M", name, "__metadata", origin, thread)
        json.name("args")
        json.open("{")
        json.name("name")
        json.value(value)
        json.close("}")
        end()
    }

    private mutating func names() {
        metadata("process_name", trace.process, trace.program)
        for loop in trace.loops {
            let name = loop.name.isEmpty ? "thread \(loop.thread)" : loop.name
            metadata("thread_name", loop.thread, loop.isMain ? "main loop" : "loop of \(name)")
        }
    }

    private mutating func write(_ loop: RunLoop.Trace.Loop) {
        thread = loop.thread
        open = []
        pending = nil
        // Without their beginnings, which were overwritten, ends mean nothing; a run that goes on is opened again.
        var last = origin
        for event in loop.events {
            write(event)
            last = event.time
        }
        flushCallout(nil)
        while !open.isEmpty { closeSlice(last) }
    }

    private mutating func write(_ event: RunLoop.Trace.Event) {
        if case .wanted(let wait) = event.kind { return flushCallout(wait) }
        flushCallout(nil)
        switch event.kind {
        case .wanted: break
        case .runBegan(let mode): openSlice(.run, "run \(mode)", "run", event.time, depth: event.depth)
        case .passed(let activity): pass(activity, event.time)
        case .calloutBegan(let callee, let label): pending = (event.time, callee, label)
        case .calloutEnded: closeSlices(event.time, through: .callout)
        case .woke(let waking): wake(waking, event.time)
        case .runEnded: closeSlices(event.time, through: .run)
        }
    }

    private mutating func openSlice(
        _ slice: Slice, _ name: String, _ category: String, _ time: Int64, depth: Int? = nil
    ) {
        begin("B", name, category, time, thread)
        if let depth {
            json.name("args")
            json.open("{")
            json.name("depth")
            json.value(Int64(depth))
            json.close("}")
        }
        end()
        open.append(slice)
    }

    private mutating func closeSlice(_ time: Int64) {
        begin("E", "", "", time, thread)
        end()
        open.removeLast()
    }

    /// Closes the open slices up to the innermost slice of that kind, and this slice too; nothing if there is none.
    private mutating func closeSlices(_ time: Int64, through slice: Slice) {
        guard let index = open.lastIndex(of: slice) else { return }
        // The beginning of the innermost callout was lost: what is open belongs to something outside of it.
        if slice == .callout, open[index...].contains(.run) { return }
        while open.count > index { closeSlice(time) }
    }

    // MARK: What a loop does

    private mutating func pass(_ activity: RunLoop.Activities, _ time: Int64) {
        if activity == .beforeTimers || activity == .exit, open.last == .turn { closeSlice(time) }
        if activity == .beforeTimers { openSlice(.turn, "turn", "turn", time) }
        begin("i", String(activity.description.dropFirst().dropLast()), "step", time, thread)
        json.name("s")
        json.value("t")
        end()
    }

    /// Begins the callout that is pending, if one is.
    private mutating func flushCallout(_ wait: RunLoop.Trace.Event.Wait?) {
        guard let (time, callee, label) = pending else { return }
        pending = nil
        begin("B", label, callee.description, time, thread)
        if let wait, wait.since != .min {
            json.name("args")
            json.open("{")
            json.name("wanted")
            json.microseconds(wait.since - origin)
            json.name("waited")
            json.microseconds(time - wait.since)
            if wait.thread != 0 {
                json.name("by")
                json.value(Int64(wait.thread))
            }
            if callee == .timer {
                json.name("tolerance")
                json.microseconds(wait.tolerance)
                json.name("interval")
                json.microseconds(wait.interval)
            }
            json.close("}")
        }
        end()
        open.append(.callout)
    }

    private mutating func wake(_ waking: RunLoop.Trace.Event.Waking, _ time: Int64) {
        begin("B", "asleep", "sleep", waking.asleepSince, thread)
        json.name("args")
        json.open("{")
        json.name("wokenBy")
        json.value(waking.cause.description)
        if waking.thread != 0 {
            json.name("by")
            json.value(Int64(waking.thread))
            json.name("latency")
            json.microseconds(time - waking.calledAt)
        }
        json.close("}")
        end()
        if waking.thread != 0 { flow(waking, time) }
        begin("E", "", "", time, thread)
        end()
    }

    private mutating func flow(_ waking: RunLoop.Trace.Event.Waking, _ time: Int64) {
        flows += 1
        if trace.loops.contains(where: { $0.thread == waking.thread }) {
            begin("s", "wake-up", "wake-up", waking.calledAt, waking.thread)
            json.name("id")
            json.value(flows)
            end()
        } else {
            strangers.append((waking.thread, waking.calledAt, flows))
        }
        begin("f", "wake-up", "wake-up", time, thread)
        json.name("id")
        json.value(flows)
        json.name("bp")
        json.value("e")
        end()
    }

    private mutating func writeStranger(_ thread: Int32, _ time: Int64, _ flow: Int64) {
        begin("X", "wakes a loop", "wake-up", time, thread)
        json.name("dur")
        json.microseconds(1000)
        end()
        begin("s", "wake-up", "wake-up", time, thread)
        json.name("id")
        json.value(flow)
        end()
    }
}
