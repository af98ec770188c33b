// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Findings about items that are never served.

internal import RunLoops

extension RunLoop.Trace.Report {
    // MARK: Limits, in microseconds

    /// The shortest time in the same modes after which an item is reported: a newer item may still be added to another
    /// mode.
    private static var longEnough: Double { 1_000_000 }
    /// A common item is reported if its mode ran without it for at least this long.
    private static var standstill: Double { 250_000 }
    /// The shortest time without a repeating timer that is reported: shorter drags and dialogs are left out.
    private static var longStandstill: Double { 2_000_000 }
    /// The shortest wait for a wake-up that is reported: a wake-up that was requested arrives sooner.
    private static var unserved: Double { 100_000 }

    /// The loops whose items were recorded, with the last page of each.
    private var looks: [(loop: LoopItemsReport, last: LoopItemsReport.Page)] {
        loops.compactMap { loop in loop.pages.last.map { (loop, $0) } }
    }

    // MARK: A mode nobody runs

    /// Finds timers, sources and descriptor sources whose modes have never been run.
    func itemsInModesNeverRun() -> [Finding] {
        looks.flatMap { loop, last -> [Finding] in
            // A program that has ended without a run has forgotten the run, however soon it ended.
            let isForgotten = programEnded && loop.modesRun.isEmpty
            let idle = last.items.filter { item in
                item.kind != "observer" && Set(item.modes).isDisjoint(with: loop.modesRun)
                    && (isForgotten || last.time - loop.firstSeen(item) >= Self.longEnough)
            }
            return Dictionary(grouping: idle) { $0.modes.sorted() }.sorted { $0.key.lexicographicallyPrecedes($1.key) }
                .map { modes, items in neverRun(modes, items, loop) }
        }
    }

    private func neverRun(_ modes: [String], _ items: [LoopItemsReport.Item], _ loop: LoopItemsReport) -> Finding {
        let thread = threadName(loop.thread)
        let names = Self.list(items.map { "the \($0.kind) “\($0.label)”" })
        let waits = items.count == 1 ? "waits" : "wait"
        let text =
            loop.modesRun.isEmpty
            ? "Nobody runs \(thread), and \(names) \(waits) in it for ever. Run the loop, or add to one that runs."
            : "Nobody runs \(thread) in the mode \(Self.list(modes)), and \(names) \(waits) there for ever. Run that mode, or add to one of those that are run: \(Self.list(loop.modesRun.sorted()))."
        return Finding(.modeNeverRun, Self.list(modes), text)
    }

    // MARK: Common, too late

    /// Finds common items that are in a mode now, but were missing from that mode during earlier runs in it.
    func itemsThatBecameCommonLate() -> [Finding] {
        looks.flatMap { loop, last in
            last.items.filter(\.isCommon).flatMap { item in
                item.modes.sorted().compactMap { mode in
                    let missed = timeWithout(item, in: mode, loop)
                    return missed >= Self.standstill ? cameLate(item, mode, missed, loop) : nil
                }
            }
        }
    }

    private func cameLate(
        _ item: LoopItemsReport.Item, _ mode: String, _ missed: Double, _ loop: LoopItemsReport
    ) -> Finding {
        Finding(
            .commonTooLate, item.label,
            "The \(item.kind) “\(item.label)” is for all common modes, but came to \(mode) too late: \(threadName(loop.thread)) had run in that mode for \(Self.time(missed)) without it, while it was in others. Mark modes as common before they run first, and add to .common at once."
        )
    }

    /// Returns how long the loop ran in the mode while the item was in other modes of the loop, but not in this mode.
    private func timeWithout(_ item: LoopItemsReport.Item, in mode: String, _ loop: LoopItemsReport) -> Double {
        zip(loop.pages, loop.pages.dropFirst()).reduce(0) { sum, pages in
            let same = pages.0.items.filter { $0.isSame(as: item) }
            if same.isEmpty || same.contains(where: { $0.modes.contains(mode) }) { return sum }
            return sum + timeRun(in: mode, loop.thread, from: pages.0.time, to: pages.1.time)
        }
    }

    /// Returns how long runs in the mode were the innermost runs, in microseconds.
    private func timeRun(in mode: String, _ thread: Int, from start: Double, to end: Double) -> Double {
        let runs = slices.filter { $0.kind == "run" && $0.thread == thread && $0.start < end && $0.end > start }
        func overlap(_ slice: Slice) -> Double { min(slice.end, end) - max(slice.start, start) }
        return runs.filter { $0.name == "run \(mode)" }.reduce(0) { sum, run in
            let depth = run.detail("depth") ?? 0
            let inner = runs.filter {
                $0.detail("depth") == depth + 1 && $0.start >= run.start && $0.end <= run.end
            }
            return sum + overlap(run) - inner.reduce(0) { $0 + overlap($1) }
        }
    }

    // MARK: Elsewhere

    /// Finds repeating timers that did not fire while the loop ran in modes that the timers are not in.
    func timersThatStoodStill() -> [Finding] {
        looks.flatMap { loop, last in
            last.items.filter { $0.kind == "timer" }.compactMap { item in
                let others = loop.modesRun.filter { !item.modes.contains($0) }
                if others.isEmpty || Set(item.modes).isDisjoint(with: loop.modesRun) { return nil }
                let fires = slices.filter {
                    $0.kind == "timer" && $0.thread == loop.thread && $0.name == item.label
                        && $0.detail("interval") ?? 0 > 0
                }
                // From the date of the next fire to that fire, or to the end of the trace.
                let waits = zip(fires, fires.dropFirst().map(\.start) + [last.time]).lazy.map { fire, next in
                    (from: fire.start + (fire.detail("interval") ?? 0), to: next)
                }.filter { $0.to - $0.from >= Self.longStandstill }
                let stood = waits.flatMap { wait in
                    others.map { ($0, timeRun(in: $0, loop.thread, from: wait.from, to: wait.to)) }
                }.max { $0.1 < $1.1 }
                guard let (mode, time) = stood, time >= Self.longStandstill else { return nil }
                return Finding(
                    .stoodStill, item.label,
                    "The timer “\(item.label)” stood still for \(Self.time(time)): it is not in the mode \(mode), in which \(threadName(loop.thread)) ran. Add it to .common, with \(mode) as a common mode, if it is to fire there too."
                )
            }
        }
    }

    // MARK: A host

    /// Finds loops whose hosts poll, and do not run the loop when its descriptor is readable.
    func hostsThatDoNotRun() -> [Finding] {
        loops.filter { $0.hostOverdue >= Self.longEnough }.map { loop in
            let name = threadName(loop.thread)
            return Finding(
                .hostDoesNotRun, name,
                "The poll descriptor of \(name) has been ready for \(Self.time(loop.hostOverdue)), and its host has not called runReady(in:). Call it each time the descriptor is readable."
            )
        }
    }

    // MARK: Closed

    /// Finds descriptor sources whose descriptors are closed.
    func descriptorsClosed() -> [Finding] {
        looks.flatMap { loop, last in
            last.items.filter(\.isClosed).map { item in
                Finding(
                    .descriptorClosed, item.label,
                    "The descriptor of “\(item.label)” was closed while \(threadName(loop.thread)) watched it: the source is never called again, and the number is another file's, or soon will be. Invalidate the source before you close the descriptor."
                )
            }
        }
    }

    // MARK: Released

    /// Finds objects that were released before they could work, which they report themselves (`Alarm.reportRelease`).
    func objectsReleasedAtOnce() -> [Finding] {
        let prefix = "released at once: "
        let released = slices.filter { $0.kind == "job" && $0.name.hasPrefix(prefix) }
        return Dictionary(grouping: released, by: \.name).sorted { $0.key < $1.key }.map { name, slices in
            let object = String(name.dropFirst(prefix.count))
            return Finding(
                .releasedAtOnce, object,
                "A \(object) of \(threadName(slices[0].thread)) was released right after it was started (\(slices.count) \(slices.count == 1 ? "time" : "times")), and never called its closure: it works as long as it is retained. Keep it in a property."
            )
        }
    }

    // MARK: Signalled, and asleep to the end

    /// Finds sources that were signalled and blocks that were posted without a wake-up, and that still waited in a
    /// sleeping loop when the trace ended.
    func unservedAtEnd(_ callee: String, _ kind: Finding.Kind) -> [Finding] {
        looks.flatMap { loop, last in
            last.unserved.filter { $0.kind == callee && last.time - $0.since >= Self.unserved }
                .map { sleptOn(kind, $0.label, loop.thread, last.time - $0.since, "to the end") }
        }
    }

    /// Joins words to a list: `a`, `a and b`, `a, b and 3 more`.
    private static func list(_ words: [String]) -> String {
        switch words.count {
        case 0...1: words.first ?? ""
        case 2...3: words.dropLast().joined(separator: ", ") + " and " + words[words.count - 1]
        default: words.prefix(2).joined(separator: ", ") + " and \(words.count - 2) more"
        }
    }
}

extension LoopItemsReport {
    /// Returns the time since which the item has been in the same modes without a break; the beginning of the recording
    /// for a loop that never ran.
    fileprivate func firstSeen(_ item: Item) -> Double {
        // Nobody looked in between.
        if modesRun.isEmpty { return pages.first?.time ?? 0 }
        return pages.reversed().prefix { $0.items.contains(item) }.last?.time ?? .infinity
    }
}
