internal import RunLoops

/// Times the callouts of one loop.
// Unchecked: all of it belongs to the loop's thread.
final class SlowCalloutListener: LoopListener, @unchecked Sendable {
    private struct Open {
        var callee: LoopEvent.Callee
        var label: ItemLabel
        var since: Int64
        /// What the loop had slept in all.
        var slept: Int64
    }

    private struct Told {
        var at: Int64
        var leftOut = 0
    }

    /// More labels than this are forgotten all at once.
    private static let mostLabels = 256

    private let limits: [Int64]
    private let pause: Int64
    private let handler: @Sendable (SlowCallout) -> Void

    @exclusivity(unchecked) private var open: [Open] = []
    @exclusivity(unchecked) private var slept: Int64 = 0
    @exclusivity(unchecked) private var told: [String: Told] = [:]

    init(
        _ limits: SlowCalloutWatch.Limits, _ pause: Int64, _ handler: @escaping @Sendable (SlowCallout) -> Void
    ) {
        self.limits = limits.nanoseconds
        self.pause = pause
        self.handler = handler
        open.reserveCapacity(8)
    }

    func hear(_ event: LoopEvent, at time: Int64, depth: UInt16) {
        switch event {
        case .calls(let callee, let label): open.append(Open(callee: callee, label: label, since: time, slept: slept))
        case .returns:
            // None of the callout that was under way when the watch began.
            guard let callout = open.popLast() else { return }
            let taken = (time - callout.since) - (slept - callout.slept)
            if taken >= limits[Int(TraceEvent.Callee(callout.callee).rawValue)] { tell(callout, taken, time, depth) }
        case .wakes(let waking): slept += time - waking.asleepSince
        default: break
        }
    }

    @inline(never)
    private func tell(_ callout: Open, _ taken: Int64, _ time: Int64, _ depth: UInt16) {
        let kind = TraceEvent.Callee(callout.callee)
        let key = "\(kind) \(callout.label.text)"
        if var before = told[key], time - before.at < pause {
            before.leftOut += 1
            told[key] = before
            return
        }
        if told.count >= Self.mostLabels { told = [:] }
        let leftOut = told.updateValue(Told(at: time), forKey: key)?.leftOut ?? 0
        handler(
            SlowCallout(
                kind: kind, label: callout.label.text, place: callout.label.place, duration: .nanoseconds(taken),
                limit: .nanoseconds(limits[Int(kind.rawValue)]), depth: Int(depth), leftOut: leftOut))
    }
}
