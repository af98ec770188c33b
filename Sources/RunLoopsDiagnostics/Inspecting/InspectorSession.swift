// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// What one client has begun: it ends with the client.
///
/// Belongs to the inspector's thread.
final class InspectorSession {
    /// How long a loop's lock is waited for: an answer is wanted while somebody looks.
    private static let patience: Int64 = 20_000_000
    private static let timersShown = 8

    private let loops: InspectedLoops
    private var meters: InspectorMeters?
    private var recording: RunLoop.Recording?
    private var trace: RunLoop.Trace?
    /// Of each loop that was there at its beginning, by thread: the time, and the mode of the run under way.
    private var beginnings: [Int32: Beginning] = [:]

    private struct Beginning {
        var time: Int64
        var mode: RunLoop.Mode?
    }

    init(_ loops: InspectedLoops) { self.loops = loops }

    deinit { endRecording() }

    func answer(_ request: InspectorProtocol.Request) throws(InspectorProtocol.Refusal) -> [UInt8] {
        switch request {
        case .loops: return report(timers: 0, describes: false)
        case .dump: return report(timers: Self.timersShown, describes: true)
        case .statistics:
            let meters = meters ?? InspectorMeters(loops)
            self.meters = meters
            return report(timers: Self.timersShown, describes: false, meters)
        case .record(let capacity):
            guard recording == nil else { throw InspectorProtocol.Refusal("a recording is under way already") }
            beginRecording(capacity)
            return Array("{}".utf8)
        case .recorded:
            guard let recording else { throw InspectorProtocol.Refusal("no recording is under way") }
            endRecording()
            let trace = completed(recording.trace())
            self.trace = trace
            return Array(TraceTransfer.contents(trace).utf8)
        case .events(let loop):
            guard let trace, loop < trace.loops.count else { throw InspectorProtocol.Refusal("nothing is recorded") }
            return TraceTransfer.encode(trace.loops[loop].events)
        }
    }

    private func report(timers: Int, describes: Bool, _ meters: InspectorMeters? = nil) -> [UInt8] {
        let reports = loops.all.map { inspected in
            var report = LoopReport(inspected, timers: timers, describes: describes, patience: Self.patience)
            let awake = report.activity == .busy ? report.since : 0
            report.statistics = meters?.statistics(of: inspected, awake: awake)
            return report
        }
        let process = ProcessReport(
            process: getpid(), program: RunLoop.Recording.programName, time: SystemCalls.now(.monotonic), loops: reports
        )
        return Array(process.json().utf8)
    }

    // MARK: Recording

    private func beginRecording(_ capacity: Int) {
        let recording = RunLoop.Recording(capacity: capacity)
        self.recording = recording
        trace = nil
        beginnings = [:]
        for inspected in loops.all {
            let mode = inspected.loop.snapshot(patience: Self.patience)?.mode
            beginnings[inspected.status.thread] = Beginning(
                time: inspected.now, mode: mode.map { RunLoop.Mode($0) })
        }
        loops.follow(self) { recording.record($0.loop, through: $0.announcer) }
    }

    private func endRecording() {
        guard let recording else { return }
        loops.unfollow(self)
        recording.stop()
        self.recording = nil
    }

    /// With a beginning for the runs that were under way when the recording began: what is outside of everything would
    /// belong to no run.
    private func completed(_ trace: RunLoop.Trace) -> RunLoop.Trace {
        var trace = trace
        for index in trace.loops.indices {
            let loop = trace.loops[index]
            guard loop.lost == 0, var first = loop.events.first, let beginning = beginnings[loop.thread] else {
                continue
            }
            if case .runBegan = first.kind { continue }
            var time = first.time
            if case .woke(var waking) = first.kind {
                // The sleep may be an hour old: its part before the recording is not shown.
                waking.asleepSince = max(waking.asleepSince, beginning.time)
                first.kind = .woke(waking)
                trace.loops[index].events[0] = first
                time = min(time, waking.asleepSince)
            }
            let mode = beginning.mode ?? "a mode"
            let runs = (1...max(1, first.depth)).map {
                RunLoop.Trace.Event(time: time, depth: $0, kind: .runBegan(mode))
            }
            trace.loops[index].events.insert(contentsOf: runs, at: 0)
        }
        return trace
    }
}
