// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsLibC

/// The work that one client has started; it ends with the client.
///
/// Belongs to the inspector's thread.
final class InspectorSession {
    /// How long an answer waits for the lock of a loop, in nanoseconds.
    private static let patience: Int64 = 20_000_000
    private static let timersShown = 8

    private let loops: Subscription<InspectedLoop>
    private var meters: Subscription<LoopMeter>?
    private var recording: RunLoop.Recording?

    init(_ loops: Subscription<InspectedLoop>) { self.loops = loops }

    func answer(_ request: InspectorProtocol.Request) throws(InspectorProtocol.Refusal) -> [UInt8] {
        switch request {
        case .loops: return report(timers: 0, describes: false)
        case .dump: return report(timers: Self.timersShown, describes: true)
        case .tasks:
            let report: TaskReport
            do { report = try TaskReport(of: getpid()) } catch { throw InspectorProtocol.Refusal("it \(error)") }
            let answer = Array(report.answer.text.utf8)
            guard answer.count <= InspectorProtocol.maxAnswerLength else {
                throw InspectorProtocol.Refusal("it has too many tasks for an answer")
            }
            return answer
        case .statistics:
            if meters == nil {
                // A meter takes 50 kB, and threads may come and go by the thousand.
                let meters = Subscription<LoopMeter>(most: 256) { _, state in LoopMeter(state) }
                meters.follow(loops)
                self.meters = meters
            }
            return report(timers: Self.timersShown, describes: false)
        case .record(let capacity):
            guard recording == nil else { throw InspectorProtocol.Refusal("a recording is under way already") }
            let recording = RunLoop.Recording(capacity: capacity)
            recording.follow(loops)
            self.recording = recording
            return Array("{}".utf8)
        case .recorded:
            guard let recording else { throw InspectorProtocol.Refusal("no recording is under way") }
            recording.stop()
            self.recording = nil
            guard let json = recording.trace().chromeJSON(atMost: InspectorProtocol.maxAnswerLength) else {
                throw InspectorProtocol.Refusal("the recording is too long for an answer")
            }
            return Array(json.utf8)
        }
    }

    private func report(timers: Int, describes: Bool) -> [UInt8] {
        let reports = loops.present.map { member in
            var report = LoopReport(
                member.loop, member.stream, timers: timers, describes: describes, patience: Self.patience)
            report.statistics = meters?.subscriber(of: member.stream)?.read(endsRound: true).statistics
            return report
        }
        let process = ProcessReport(
            process: getpid(), program: RunLoop.Recording.programName, time: SystemCalls.now(.monotonic), loops: reports
        )
        return Array(process.document.text.utf8)
    }
}

/// The subscriber of a loop that can be inspected: only the loop's state is recorded.
final class InspectedLoop: LoopSubscriber {
    var isSilent: Bool { true }
    func hear(_ event: LoopEvent, at time: Int64, depth: UInt16) {}
}
