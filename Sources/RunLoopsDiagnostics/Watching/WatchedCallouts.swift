// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import Synchronization

/// Looks at the length of each callout and run of one loop.
// Unchecked: what is not atomic belongs to the loop's thread, or never changes.
final class WatchedCallouts: OwnedListener, @unchecked Sendable {
    /// One callout or run under way.
    private struct Open {
        var since: Int64
        /// How long the loop had slept by then: what it sleeps inside is not the callout's.
        var slept: Int64
        var callee: RunLoop.Trace.Event.Callee?
        var label: ItemLabel?
        var mode: RunLoop.Mode?
        var wanted = Int64.min
    }

    /// What was said of one kind and label.
    private struct Told {
        var at: Int64
        var leftOut = 0
    }

    /// More labels than this are forgotten all at once.
    private static let mostLabels = 256

    private let identity: RunLoop.Identity
    /// In nanoseconds, by kind.
    private let limits: [Int64]
    private let pause: Int64
    private let watchesRuns: Bool
    private let handler: @Sendable (RunLoop.Watch.Event) -> Void
    private weak let loop: RunLoop?
    private let isOn = Atomic<Bool>(true)

    // The loop's thread.
    @exclusivity(unchecked) private var open: [Open] = []
    @exclusivity(unchecked) private var slept: Int64 = 0
    @exclusivity(unchecked) private var told: [String: Told] = [:]

    init(
        _ loop: RunLoop, limits: [Int64], pause: Int64, watchesRuns: Bool,
        _ handler: @escaping @Sendable (RunLoop.Watch.Event) -> Void
    ) {
        identity = RunLoop.Identity(loop)
        self.limits = limits
        self.pause = pause
        self.watchesRuns = watchesRuns
        self.handler = handler
        self.loop = loop
        open.reserveCapacity(16)
    }

    var isOver: Bool { loop == nil }

    func stop() { isOn.store(false, ordering: .relaxed) }

    func hear(_ event: LoopEvent, at time: Int64, depth: UInt16) {
        guard isOn.load(ordering: .relaxed) else { return }
        switch event {
        case .runBegins(let mode):
            open.append(Open(since: time, slept: slept, mode: mode))
        case .calls(let callee, let label):
            open.append(Open(since: time, slept: slept, callee: RunLoop.Trace.Event.Callee(callee), label: label))
        case .wanted(let wait):
            if wait.since > 0, !open.isEmpty { open[open.count - 1].wanted = wait.since }
        case .returns:
            // The watch may have come in the middle of one.
            if open.last?.callee != nil { end(open.removeLast(), time, depth) }
        case .wakes(let waking):
            slept &+= time - waking.asleepSince
        case .runEnds(let result):
            guard let mode = open.last?.mode else { return }
            let run = open.removeLast()
            if watchesRuns { tell(run, mode, result, time, depth) }
        case .passes, .sleeps: break
        }
    }

    private func end(_ call: Open, _ time: Int64, _ depth: UInt16) {
        guard let callee = call.callee else { return }
        let length = time - call.since - (slept - call.slept)
        if length > limits[Int(callee.rawValue)] { tell(call, callee, length, time, depth) }
    }

    @inline(never)
    private func tell(
        _ call: Open, _ callee: RunLoop.Trace.Event.Callee, _ length: Int64, _ time: Int64, _ depth: UInt16
    ) {
        let label = call.label?.text ?? ""
        guard let leftOut = leftOut("\(callee) \(label)", time) else { return }
        let slow = RunLoop.Watch.SlowCallout(
            loop: identity, callee: callee, label: label, place: call.label?.location, length: .nanoseconds(length),
            limit: .nanoseconds(limits[Int(callee.rawValue)]),
            waited: call.wanted == .min ? nil : .nanoseconds(max(0, call.since - call.wanted)), depth: Int(depth),
            leftOut: leftOut)
        handler(.slowCallout(slow))
    }

    /// How many callouts of its kind were left out since the last reported callout; `nil` if this one is left out too.
    private func leftOut(_ name: String, _ time: Int64) -> Int? {
        if pause == 0 { return 0 }
        if let last = told[name], time - last.at < pause {
            told[name]?.leftOut += 1
            return nil
        }
        if told.count >= Self.mostLabels { told = [:] }
        return told.updateValue(Told(at: time), forKey: name)?.leftOut ?? 0
    }

    @inline(never)
    private func tell(
        _ run: Open, _ mode: RunLoop.Mode, _ result: RunLoop.RunResult, _ time: Int64, _ depth: UInt16
    ) {
        let ended = RunLoop.Watch.EndedRun(
            loop: identity, mode: mode, result: result, length: .nanoseconds(time - run.since), depth: Int(depth))
        handler(.runEnded(ended))
    }
}
