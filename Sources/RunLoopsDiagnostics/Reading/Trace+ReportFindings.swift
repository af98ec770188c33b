// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop.Trace.Report {
    /// Something that is probably wrong, with what to do about it.
    public struct Finding: Sendable, Equatable {
        /// Kinds of what can be found.
        public enum Kind: String, Sendable, CaseIterable {
            /// A timer without tolerance wakes a loop that has nothing else to do, ten times a second or more.
            case wakesIdleLoop
            /// A source was signalled, and the thread slept on.
            case signalledNotWoken
            /// Items are in no mode that is ever run.
            case modeNeverRun
            /// A common item was not in a mode while that was run, and is now.
            case commonTooLate
            /// A repeating timer was late every time.
            case neverOnTime
            /// A callout took longer than a frame of a display.
            case takesFrame
            /// Runs inside runs inside runs.
            case nestedTooDeep
        }

        /// The kind.
        public var kind: Kind
        /// What it is about: the label of an item, or the name of a thread.
        public var subject: String
        /// What is wrong and what helps, in a sentence or two.
        public var text: String
    }

    /// What is probably wrong with the recorded program, the most certain first.
    ///
    /// - Complexity: O(n log n) in the slices.
    public func findings() -> [Finding] {
        Finding.Kind.allCases.flatMap { kind -> [Finding] in
            switch kind {
            case .wakesIdleLoop: timersThatWakeIdleLoops()
            case .signalledNotWoken: signalsThatWokeNobody() + signalsStillUnserved()
            case .modeNeverRun: itemsInModesNeverRun()
            case .commonTooLate: itemsThatBecameCommonLate()
            case .neverOnTime: timersThatAreNeverOnTime()
            case .takesFrame: calloutsThatTakeFrames()
            case .nestedTooDeep: runsTooDeep()
            }
        }
    }

    // MARK: Limits, in microseconds where they are times

    /// Sixty frames a second.
    private static var frame: Double { 16_667 }
    /// A signal that waits this long while the thread sleeps was not followed by a wake-up.
    private static var sleepAfterSignal: Double { 10_000 }
    private static var idleShare: Double { 0.1 }
    private static var wakesASecond: Double { 10 }
    private static var fewestFires: Int { 5 }
    private static var deepestRun: Double { 3 }

    // MARK: Timers

    /// The fires of each repeating timer, by thread and label.
    private var repeatingTimers: [(thread: Int, name: String, fires: [Slice])] {
        struct Key: Hashable {
            let thread: Int
            let name: String
        }
        var found: [Key: [Slice]] = [:]
        for slice in slices where slice.kind == "timer" && slice.detail("interval") ?? 0 > 0 {
            found[Key(thread: slice.thread, name: slice.name), default: []].append(slice)
        }
        return found.filter { $0.value.count >= Self.fewestFires }
            .map { ($0.key.thread, $0.key.name, $0.value) }
            .sorted { ($0.1, $0.0) < ($1.1, $1.0) }
    }

    private func timersThatWakeIdleLoops() -> [Finding] {
        let wokenByTimer = turnsWokenByTimer()
        return repeatingTimers.compactMap { thread, name, fires in
            guard fires.allSatisfy({ $0.detail("tolerance") == 0 }), idles(thread),
                let first = fires.first, let last = fires.last, last.start > first.start
            else { return nil }
            let wakes = fires.dropFirst().count { fire in fire.parent.map(wokenByTimer.contains) ?? false }
            let rate = Double(wakes) * 1e6 / (last.start - first.start)
            // A little below the limit: a timer of 100 ms is what the limit is about.
            guard rate >= Self.wakesASecond * 0.95 else { return nil }
            return Finding(
                kind: .wakesIdleLoop, subject: name,
                text:
                    "The timer “\(name)” has no tolerance and wakes \(threadName(thread)), which is otherwise idle, \(Int(rate.rounded())) times a second. Give it a tolerance, so that it fires together with others, or a longer interval."
            )
        }
    }

    /// The turns, by number, whose sleep a timer ended.
    private func turnsWokenByTimer() -> Set<Int> {
        Set(slices.lazy.filter { $0.kind == "sleep" && $0.details["wokenBy"]?.string == "timer" }.compactMap(\.parent))
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
                let allowed = max(1000, (fire.detail("interval") ?? 0) / 10) + (fire.detail("tolerance") ?? 0)
                return (fire.detail("waited") ?? 0) - allowed
            }
            guard let least = excess.min(), least > 0 else { return nil }
            let late = fires.compactMap { $0.detail("waited") }.min() ?? 0
            return Finding(
                kind: .neverOnTime, subject: name,
                text:
                    "The timer “\(name)” was late by \(Self.time(late)) or more each of the \(fires.count) times, and \(threadName(thread)) never kept its date. Its interval is too short for what the loop does, or the mode it is in runs too seldom."
            )
        }
    }

    // MARK: Others

    private func signalsThatWokeNobody() -> [Finding] {
        var told: Set<String> = []
        var found: [Finding] = []
        let sleeps = Dictionary(grouping: slices.filter { $0.kind == "sleep" }, by: \.thread)
        for slice in slices where slice.kind == "source" && !told.contains(slice.name) {
            guard let signalled = slice.detail("wanted") else { continue }
            // Asleep after the signal, and woken in the end by something that had nothing to do with it.
            let sleptOn = (sleeps[slice.thread] ?? []).between(signalled, slice.start).filter { sleep in
                sleep.details["wokenBy"]?.string != "wake-up"
                    && sleep.end - max(sleep.start, signalled) >= Self.sleepAfterSignal
            }
            guard let sleep = sleptOn.first else { continue }
            told.insert(slice.name)
            let length = Self.time(sleep.end - max(sleep.start, signalled))
            found.append(
                Finding(
                    kind: .signalledNotWoken, subject: slice.name,
                    text:
                        "The source “\(slice.name)” was signalled, and \(threadName(slice.thread)) slept on for \(length), until something else woke it. Call wakeUp() on the loop after signal()."
                ))
        }
        return found
    }

    private func calloutsThatTakeFrames() -> [Finding] {
        let runs = Set(slices.lazy.filter { $0.kind == "run" }.compactMap(\.parent))
        var worst: [String: Slice] = [:]
        for (index, slice) in slices.enumerated()
        // A callout that has a run inside takes as long as that one wants.
        where slice.isCallout && slice.length >= Self.frame && !runs.contains(index) {
            let key = slice.kind + slice.name
            if slice.length > worst[key]?.length ?? 0 { worst[key] = slice }
        }
        return worst.values.sorted { $0.length > $1.length }.map { slice in
            Finding(
                kind: .takesFrame, subject: slice.name,
                text:
                    "The \(slice.kind) “\(slice.name)” kept \(threadName(slice.thread)) busy for \(Self.time(slice.length)) at once, more than a frame of a display (16.7 ms). Do it in parts, or on another thread."
            )
        }
    }

    private func runsTooDeep() -> [Finding] {
        var deepest: [Int: Double] = [:]
        for slice in slices where slice.kind == "run" {
            deepest[slice.thread] = max(deepest[slice.thread] ?? 0, slice.detail("depth") ?? 0)
        }
        return deepest.filter { $0.value > Self.deepestRun }.sorted { $0.key < $1.key }.map { thread, depth in
            Finding(
                kind: .nestedTooDeep, subject: threadName(thread),
                text:
                    "\(threadName(thread)) had \(Int(depth)) runs inside each other. The outer ones go on only when all inner ones have ended: return to the loop, and let it call you again."
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
