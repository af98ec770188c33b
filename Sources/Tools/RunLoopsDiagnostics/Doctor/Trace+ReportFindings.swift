// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop.Trace.Report {
    /// A probable problem of the recorded program, with a remedy.
    public struct Finding: Sendable, Equatable {
        /// The kinds of problems that can be found.
        public enum Kind: String, Sendable, CaseIterable {
            /// A timer without tolerance wakes a loop that has nothing else to do, ten times a second or more.
            case wakesIdleLoop
            /// A source was signalled without a wake-up, and the loop's thread continued to sleep.
            case signalledNotWoken
            /// A block was posted with `wake: false`, and the loop's thread continued to sleep.
            case blockNotWoken
            /// A timer of Foundation's main loop is due, and no thread runs that loop.
            case foundationLoopNotRun
            /// The poll descriptor of a loop is readable, and the loop's host does not run the loop.
            case hostDoesNotRun
            /// Items are in no mode that is ever run.
            case modeNeverRun
            /// An item of the common modes was added to a common mode only after the loop had run in that mode without
            /// the item.
            case commonTooLate
            /// A repeating timer did not fire for seconds, because the loop ran in modes without the timer.
            case stoodStill
            /// A descriptor was closed while a descriptor source watched it.
            case descriptorClosed
            /// An object that works as long as it is retained was released before it could work.
            case releasedAtOnce
            /// A repeating timer was late each time it fired.
            case neverOnTime
            /// A callout took longer than a frame of a display.
            case takesFrame
            /// More than three runs of a loop are nested.
            case nestedTooDeep
        }

        /// The kind.
        public var kind: Kind
        /// The subject of the finding: the label of an item, or the name of a thread.
        public var subject: String
        /// The problem and its remedy, in a sentence or two.
        public var text: String

        init(_ kind: Kind, _ subject: String, _ text: String) {
            (self.kind, self.subject, self.text) = (kind, subject, text)
        }
    }

    /// Returns the probable problems of the recorded program, the most certain first.
    ///
    /// - Complexity: O(n log n) in the slices.
    public func findings() -> [Finding] {
        Finding.Kind.allCases.flatMap { kind -> [Finding] in
            switch kind {
            case .wakesIdleLoop: timersThatWakeIdleLoops()
            case .signalledNotWoken: sleptThrough("source", kind) + unservedAtEnd("source", kind)
            case .blockNotWoken: sleptThrough("block", kind) + unservedAtEnd("block", kind)
            case .foundationLoopNotRun: foundationLoopNotRun()
            case .hostDoesNotRun: hostsThatDoNotRun()
            case .modeNeverRun: itemsInModesNeverRun()
            case .commonTooLate: itemsThatBecameCommonLate()
            case .stoodStill: timersThatStoodStill()
            case .descriptorClosed: descriptorsClosed()
            case .releasedAtOnce: objectsReleasedAtOnce()
            case .neverOnTime: timersThatAreNeverOnTime()
            case .takesFrame: calloutsThatTakeFrames()
            case .nestedTooDeep: runsTooDeep()
            }
        }
    }

    // MARK: Limits, in microseconds where they are times

    /// The duration of a frame at sixty frames a second.
    private static var frame: Double { 16_667 }
    /// If the thread sleeps for at least this long after a signal, no wake-up followed the signal.
    private static var sleepAfterSignal: Double { 10_000 }
    /// The shortest delay of a timer of Foundation's loop that is reported: a loop that ran until the program ended may
    /// be late by less.
    private static var second: Double { 1_000_000 }
    private static var idleShare: Double { 0.1 }
    private static var wakesASecond: Double { 10 }
    private static var fewestFires: Int { 5 }
    private static var deepestRun: Double { 3 }

    // MARK: Timers

    /// The fires of each repeating timer, by thread and label.
    private var repeatingTimers: [(thread: Int, name: String, fires: [Slice])] {
        let repeating = slices.filter { $0.kind == "timer" && $0.detail("interval") ?? 0 > 0 }
        // A slash comes after the digits: two threads never share a key.
        return Dictionary(grouping: repeating) { "\($0.thread)/\($0.name)" }.values
            .filter { $0.count >= Self.fewestFires }.map { ($0[0].thread, $0[0].name, $0) }
            .sorted { ($0.1, $0.0) < ($1.1, $1.0) }
    }

    private func timersThatWakeIdleLoops() -> [Finding] {
        // The turns, by number, whose sleep a timer ended.
        let wokenByTimer = Set(
            slices.lazy.filter { $0.kind == "sleep" && $0.wokenBy == "timer" }.compactMap(\.parent))
        return repeatingTimers.compactMap { thread, name, fires in
            guard fires.allSatisfy({ $0.detail("tolerance") == 0 }), idles(thread),
                let first = fires.first, let last = fires.last, last.start > first.start
            else { return nil }
            let wakes = fires.dropFirst().count { fire in fire.parent.map(wokenByTimer.contains) ?? false }
            let rate = Double(wakes) * 1e6 / (last.start - first.start)
            // A little below the limit: a timer of 100 ms is what the limit is about.
            guard rate >= Self.wakesASecond * 0.95 else { return nil }
            return Finding(
                .wakesIdleLoop, name,
                "The timer “\(name)” has no tolerance and wakes \(threadName(thread)), which is otherwise idle, \(Int(clamping: rate)) times a second. Give it a tolerance, so that it fires together with others, or a longer interval."
            )
        }
    }

    /// Whether the loop of the thread has been asleep for most of its runs.
    private func idles(_ thread: Int) -> Bool {
        let own = slices.filter { $0.thread == thread }
        let running = own.filter { $0.kind == "run" && $0.depth == 0 }.reduce(0) { $0 + $1.length }
        let asleep = own.filter { $0.kind == "sleep" }.reduce(0) { $0 + $1.length }
        return running > 0 && asleep >= running * (1 - Self.idleShare)
    }

    private func timersThatAreNeverOnTime() -> [Finding] {
        repeatingTimers.compactMap { thread, name, fires in
            let excess = fires.map { fire in
                (fire.lateness ?? 0) - max(1000, (fire.detail("interval") ?? 0) / 10)
            }
            guard let least = excess.min(), least > 0 else { return nil }
            let late = fires.compactMap(\.lateness).min() ?? 0
            return Finding(
                .neverOnTime, name,
                "The timer “\(name)” was late by \(Self.time(late)) or more each of the \(fires.count) times, and \(threadName(thread)) never kept its date. Its interval is too short for what the loop does, or the mode it is in runs too seldom."
            )
        }
    }

    // MARK: Others

    /// Finds sources and blocks that were signalled or posted, but waited through a sleep of the run that later served
    /// them, until something else ended the sleep.
    private func sleptThrough(_ callee: String, _ kind: Finding.Kind) -> [Finding] {
        var told: Set<String> = []
        let sleeps = Dictionary(grouping: slices.filter { $0.kind == "sleep" }, by: \.thread)
        return slices.compactMap { slice in
            guard slice.kind == callee, !told.contains(slice.name), let wanted = slice.detail("wanted") else {
                return nil
            }
            let sleptOn = (sleeps[slice.thread] ?? []).between(wanted, slice.start).first { sleep in
                sleep.run == slice.run && sleep.wokenBy != "wake-up"
                    && sleep.end - max(sleep.start, wanted) >= Self.sleepAfterSignal
            }
            guard let sleptOn else { return nil }
            told.insert(slice.name)
            let length = sleptOn.end - max(sleptOn.start, wanted)
            return self.sleptOn(kind, slice.name, slice.thread, length, "until something else woke it")
        }
    }

    func sleptOn(_ kind: Finding.Kind, _ subject: String, _ thread: Int, _ length: Double, _ until: String) -> Finding {
        let slept = "\(threadName(thread)) slept on for \(Self.time(length)), \(until)."
        let text =
            kind == .blockNotWoken
            ? "The block of \(subject) was posted without a wake-up, and \(slept) Leave out wake: false, or call wakeUp() on the loop after posting."
            : "The source “\(subject)” was signalled, and \(slept) Call wakeUp() on the loop after signal()."
        return Finding(kind, subject, text)
    }

    private func foundationLoopNotRun() -> [Finding] {
        guard let overdue = foundationTimerOverdue, overdue >= Self.second else { return [] }
        return [
            Finding(
                .foundationLoopNotRun, "Foundation's main loop",
                "A timer of Foundation's main loop has been due for \(Self.time(overdue)), and nobody runs that loop. Link RunLoopsFoundation, with which this package's main loop serves it, or use a timer of this package."
            )
        ]
    }

    private func calloutsThatTakeFrames() -> [Finding] {
        let runs = Set(slices.lazy.filter { $0.kind == "run" }.compactMap(\.parent))
        // A callout that has a run inside takes as long as that one wants.
        let long = slices.enumerated().filter { index, slice in
            slice.isCallout && slice.length >= Self.frame && !runs.contains(index)
        }
        let worst = Dictionary(long.map { ($1.kind + $1.name, $1) }) { $0.length >= $1.length ? $0 : $1 }
        return worst.values.sorted { $0.length > $1.length }.map { slice in
            Finding(
                .takesFrame, slice.name,
                "The \(slice.kind) “\(slice.name)” kept \(threadName(slice.thread)) busy for \(Self.time(slice.length)) at once, more than a frame of a display (16.7 ms). Do it in parts, or on another thread."
            )
        }
    }

    private func runsTooDeep() -> [Finding] {
        let runs = slices.filter { $0.kind == "run" }.map { ($0.thread, $0.detail("depth") ?? 0) }
        return Dictionary(runs, uniquingKeysWith: max).filter { $0.value > Self.deepestRun }.sorted { $0.key < $1.key }
            .map { thread, depth in
                Finding(
                    .nestedTooDeep, threadName(thread),
                    "\(threadName(thread)) had \(Int(clamping: depth)) runs inside each other. The outer ones go on only when all inner ones have ended: return to the loop, and let it call you again."
                )
            }
    }
}

extension [RunLoop.Trace.Report.Slice] {
    /// The slices that end after `start` and begin before `end`: sleeps of one thread, which follow each other.
    fileprivate func between(_ start: Double, _ end: Double) -> ArraySlice<RunLoop.Trace.Report.Slice> {
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = (low + high) / 2
            if self[middle].end <= start { low = middle + 1 } else { high = middle }
        }
        return self[low...].prefix { $0.start < end }
    }
}
