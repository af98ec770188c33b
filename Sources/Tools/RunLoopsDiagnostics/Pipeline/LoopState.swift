// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// The activity of a loop's thread.
package enum LoopActivity: UInt64, Sendable, CaseIterable {
    /// No run is in progress: the thread does something else.
    case outside
    /// The loop is in a run, and not asleep.
    case busy
    /// Asleep in a run.
    case asleep
}

/// The present activity of one loop and its counts so far: written by its thread, read by any thread at any time, also while a
/// callout hangs.
///
/// The one stack of open callouts, which every subscriber of the loop uses. The state outlives the loop: it
/// has no reference to it.
// Unchecked: what is not shared words belongs to the loop's thread, or never changes.
final class LoopState: LabelHolder, @unchecked Sendable {
    /// One callout under way.
    struct Frame: Sendable {
        var callee: RunLoop.Trace.Event.Callee
        /// The label as two words, valid while the callout is under way.
        var words: (text: UInt64, line: UInt64)
        /// The label itself, in a snapshot.
        var kept: ItemLabel?
        /// Nanoseconds of the loop's monotonic clock.
        var since: Int64
        /// How long the loop had slept by then: what it sleeps inside is not the callout's.
        var slept: Int64
        /// Since when it was wanted; 0 where this is not known.
        var wanted: Int64

        /// The loop's thread, while the callout is under way; of a snapshot any thread at any time.
        var label: ItemLabel? { kept ?? LabelKeeper.label(words.text, words.line) }
    }

    /// The state at one instant.
    struct Snapshot: Sendable {
        var activity = LoopActivity.outside
        /// Since when, in nanoseconds of the loop's monotonic clock: since the thread woke up or the outermost run
        /// began, since it fell asleep, since the last run ended.
        var since: Int64 = 0
        /// How many runs are in progress, one inside the other.
        var depth = 0
        /// The callouts under way, outermost first; those beyond the sixteenth are not known.
        var callouts: [Frame] = []
        /// Turns, so far.
        var turns: UInt64 = 0
        /// Callouts begun, so far, by kind.
        var calloutCounts: [RunLoop.Trace.Event.Callee: UInt64] = [:]
        /// Sleeps that were ended by each cause, so far.
        var wakings: [RunLoop.Trace.Event.Waking.Cause: UInt64] = [:]
        /// Nanoseconds asleep in all sleeps that have ended.
        var slept: Int64 = 0
        /// Nanoseconds awake in all stretches that have ended.
        var busy: Int64 = 0
    }

    /// The words after the version.
    private enum Field: Int {
        case activity = 1
        case since, depth, open, turns, slept, busy
        static let wakings = 8
        static let callouts = wakings + RunLoop.Trace.Event.Waking.Cause.allCases.count
        static let frames = callouts + RunLoop.Trace.Event.Callee.allCases.count
    }

    private static let mostOpen = 16
    private static let wordsAFrame = 6

    let thread: Int32
    /// The kernel of a loop with a time of its own; `nil` for the system's, so that no open descriptors are kept.
    private let kernel: (any Kernel)?
    private let words = SharedWords(count: Field.frames + mostOpen * wordsAFrame)

    /// Keeps the labels of all that subscribers write about this loop.
    let labels = LabelKeeper()

    /// The loop's thread, or the only thread that knows the loop.
    init(_ loop: RunLoop) {
        thread = loop.threadID
        kernel = loop.virtualKernel
        // In the middle of a run its depth is not known; one is the most likely.
        let isInRun = loop.currentMode != nil
        self[.depth] = isInRun ? 1 : 0
        enter(isInRun ? .busy : .outside, UInt64(bitPattern: now))
        labels.add(self)
    }

    /// The loop's monotonic time, in nanoseconds; any thread.
    @inline(__always)
    var now: Int64 {
        if let kernel { return kernel.now(.monotonic) }
        return SystemCalls.now(.monotonic)
    }

    // MARK: Writing: the loop's thread

    /// Notes an event that changes the state: any but `wanted`, and of the points passed only the one before timers.
    @inline(__always)
    func note(_ event: LoopEvent, at time: Int64, depth: UInt16) {
        words.beginWriting()
        note(event, UInt64(bitPattern: time), depth)
        words.endWriting()
    }

    @inline(__always)
    private func note(_ event: LoopEvent, _ time: UInt64, _ depth: UInt16) {
        switch event {
        case .runBegins:
            self[.depth] = UInt64(depth)
            // A nested run goes on with what its callout has begun.
            if self[.activity] != LoopActivity.busy.rawValue { enter(.busy, time) }
        case .passes: self[.turns] &+= 1
        case .calls(let callee, let label): push(RunLoop.Trace.Event.Callee(callee), label, time)
        case .wanted: break
        case .returns: if self[.open] > 0 { self[.open] &-= 1 }
        case .sleeps:
            endStretch(time)
            enter(.asleep, time)
        case .wakes(let waking):
            words.add(Field.wakings + Int(waking.cause.rawValue))
            self[.slept] &+= time &- UInt64(bitPattern: waking.asleepSince)
            enter(.busy, time)
        case .runEnds:
            self[.depth] = UInt64(depth) - min(UInt64(depth), 1)
            guard depth <= 1 else { return }
            endStretch(time)
            enter(.outside, time)
        }
    }

    private func enter(_ activity: LoopActivity, _ time: UInt64) {
        self[.activity] = activity.rawValue
        self[.since] = time
    }

    private func endStretch(_ time: UInt64) {
        if self[.activity] == LoopActivity.busy.rawValue { self[.busy] &+= time &- self[.since] }
    }

    @inline(__always)
    private func push(_ callee: RunLoop.Trace.Event.Callee, _ label: ItemLabel, _ time: UInt64) {
        words.add(Field.callouts + Int(callee.rawValue))
        let index = Int(self[.open])
        self[.open] = UInt64(index + 1)
        guard index < Self.mostOpen else { return }
        let at = Field.frames + index * Self.wordsAFrame
        (words[at], (words[at + 1], words[at + 2])) = (UInt64(callee.rawValue), labels.keep(label))
        (words[at + 3], words[at + 4], words[at + 5]) = (time, self[.slept], 0)
    }

    /// Since when the innermost callout was wanted: nobody else reads it, so there is no new version.
    @inline(__always)
    func noteReady(since: Int64) {
        guard let index = innermostIndex else { return }
        words[index + 5] = UInt64(bitPattern: max(0, since))
    }

    @inline(__always)
    private subscript(_ field: Field) -> UInt64 {
        get { words[field.rawValue] }
        set { words[field.rawValue] = newValue }
    }

    // MARK: Reading: the loop's thread

    private var innermostIndex: Int? {
        let open = Int(self[.open])
        return open > 0 && open <= Self.mostOpen ? Field.frames + (open - 1) * Self.wordsAFrame : nil
    }

    /// The innermost callout, which is still there when its return is heard; `nil` beyond the sixteenth.
    @inline(__always)
    var innermost: Frame? {
        innermostIndex.map { index in Self.frame { words[index + $0] } }
    }

    func visitLabels(_ visit: (UInt64) -> Void) {
        for index in 0..<Self.mostOpen { visit(words[Field.frames + index * Self.wordsAFrame + 1]) }
    }

    /// How long the callout has taken by now, without the sleeps of runs inside it.
    @inline(__always)
    func length(of frame: Frame, at time: Int64) -> Int64 {
        max(0, time - frame.since - (Int64(bitPattern: self[.slept]) - frame.slept))
    }

    // MARK: Reading: any thread

    /// The state now.
    func snapshot() -> Snapshot { labels.reading { take() } }

    private func take() -> Snapshot {
        let words = words.snapshot()
        func number(_ field: Field) -> UInt64 { words[field.rawValue] }
        func signed(_ field: Field) -> Int64 { Int64(bitPattern: number(field)) }
        return Snapshot(
            activity: LoopActivity(rawValue: number(.activity)) ?? .outside, since: signed(.since),
            depth: Int(number(.depth)),
            callouts: (0..<min(Int(number(.open)), Self.mostOpen)).map { index in
                var frame = Self.frame { words[Field.frames + index * Self.wordsAFrame + $0] }
                frame.kept = LabelKeeper.label(frame.words.text, frame.words.line)
                return frame
            },
            turns: number(.turns), calloutCounts: Self.counts(words[Field.callouts...]),
            wakings: Self.counts(words[Field.wakings...]), slept: signed(.slept), busy: signed(.busy))
    }

    private static func counts<Kind: CaseIterable>(_ words: ArraySlice<UInt64>) -> [Kind: UInt64] {
        Dictionary(uniqueKeysWithValues: zip(Kind.allCases, words))
    }

    @inline(__always)
    private static func frame(_ word: (Int) -> UInt64) -> Frame {
        Frame(
            callee: RunLoop.Trace.Event.Callee(rawValue: UInt8(truncatingIfNeeded: word(0))) ?? .block,
            words: (word(1), word(2)), since: Int64(bitPattern: word(3)), slept: Int64(bitPattern: word(4)),
            wanted: Int64(bitPattern: word(5)))
    }
}
