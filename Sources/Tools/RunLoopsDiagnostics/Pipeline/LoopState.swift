// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// The activity of a loop's thread.
package enum LoopActivity: UInt64, Sendable, CaseIterable {
    /// No run is in progress: the thread does something else.
    case outside
    /// The loop is in a run, and not asleep.
    case busy
    /// The loop sleeps in a run.
    case asleep
}

/// The present activity of one loop and its counts so far. The loop's thread writes them; any thread reads them at any time,
/// also while a callout hangs.
///
/// All subscribers of the loop use this object's stack of open callouts. The state has no reference to the loop, and may
/// outlive it.
// Unchecked: what is not shared words belongs to the loop's thread, or never changes.
final class LoopState: LabelHolder, @unchecked Sendable {
    /// One callout under way.
    struct Frame: Sendable {
        var callee: RunLoop.Trace.Event.Callee
        /// The label as two words, valid while the callout is under way.
        var words: (text: UInt64, line: UInt64)
        /// The label itself, in a snapshot.
        var kept: ItemLabel?
        /// When the callout began, in nanoseconds of the loop's monotonic clock.
        var since: Int64
        /// How long the loop had slept before the callout began, in nanoseconds: sleeps inside the callout do not count
        /// as its time.
        var slept: Int64
        /// When the callout became ready, in nanoseconds of the loop's monotonic clock; 0 if that is not known.
        var wanted: Int64

        /// The label of the callout.
        ///
        /// The loop's thread may read it while the callout is under way; any thread may read it in a snapshot.
        var label: ItemLabel? { kept ?? LabelKeeper.label(words.text, words.line) }
    }

    /// The state at one instant.
    struct Snapshot: Sendable {
        var activity = LoopActivity.outside
        /// When the present activity began, in nanoseconds of the loop's monotonic clock: when the thread woke up or
        /// the outermost run began, when it fell asleep, or when the last run ended.
        var since: Int64 = 0
        /// How many runs are in progress, one inside the other.
        var depth = 0
        /// The callouts under way, outermost first; only the sixteen outermost are known.
        var callouts: [Frame] = []
        /// The number of turns so far.
        var turns: UInt64 = 0
        /// The number of callouts begun so far, by kind.
        var calloutCounts: [RunLoop.Trace.Event.Callee: UInt64] = [:]
        /// The number of sleeps so far that each cause has ended.
        var wakings: [RunLoop.Trace.Event.Waking.Cause: UInt64] = [:]
        /// The total duration of all sleeps that have ended, in nanoseconds.
        var slept: Int64 = 0
        /// The total duration of all stretches awake that have ended, in nanoseconds.
        var busy: Int64 = 0
    }

    /// The positions of the words after the version.
    private enum Field: Int {
        case activity = 1
        case since, depth, open, turns, slept, busy
        static let wakings = 8
        static let callouts = wakings + RunLoop.Trace.Event.Waking.Cause.allCases.count
        static let frames = callouts + RunLoop.Trace.Event.Callee.allCases.count
    }

    private static let maxOpen = 16
    private static let wordsAFrame = 6

    let thread: Int32
    /// The kernel of a loop with a virtual clock; `nil` for the system's kernel, whose descriptors would otherwise stay
    /// open.
    private let kernel: (any Kernel)?
    private let words = SharedWords(count: Field.frames + maxOpen * wordsAFrame)

    /// The keeper of all labels that subscribers record of this loop.
    let labels = LabelKeeper()

    /// Called by the loop's thread, or by the only thread that knows the loop.
    init(_ loop: RunLoop) {
        thread = loop.threadID
        kernel = loop.virtualKernel
        // In the middle of a run its depth is not known; one is the most likely.
        let isInRun = loop.currentMode != nil
        self[.depth] = isInRun ? 1 : 0
        enter(isInRun ? .busy : .outside, UInt64(bitPattern: now))
        labels.add(self)
    }

    /// The present time of the loop's monotonic clock, in nanoseconds; any thread.
    @inline(__always)
    var now: Int64 {
        if let kernel { return kernel.now(.monotonic) }
        return SystemCalls.now(.monotonic)
    }

    // MARK: Writing: the loop's thread

    /// Records an event that changes the state: any event except `wanted`, and except points of a turn other than the
    /// one before timers.
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
        guard index < Self.maxOpen else { return }
        let at = Field.frames + index * Self.wordsAFrame
        (words[at], (words[at + 1], words[at + 2])) = (UInt64(callee.rawValue), labels.keep(label))
        (words[at + 3], words[at + 4], words[at + 5]) = (time, self[.slept], 0)
    }

    /// Records when the innermost callout became ready; without a new version, because only the loop's thread reads
    /// this value.
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
        return open > 0 && open <= Self.maxOpen ? Field.frames + (open - 1) * Self.wordsAFrame : nil
    }

    /// The innermost callout, also while subscribers are called for its return; `nil` for a callout inside sixteen
    /// others.
    @inline(__always)
    var innermost: Frame? {
        innermostIndex.map { index in Self.frame { words[index + $0] } }
    }

    func visitLabels(_ visit: (UInt64) -> Void) {
        for index in 0..<Self.maxOpen { visit(words[Field.frames + index * Self.wordsAFrame + 1]) }
    }

    /// Returns how long the callout has taken until `time`, without the sleeps of runs inside it, in nanoseconds.
    @inline(__always)
    func length(of frame: Frame, at time: Int64) -> Int64 {
        max(0, time - frame.since - (Int64(bitPattern: self[.slept]) - frame.slept))
    }

    // MARK: Reading: any thread

    /// Returns the present state.
    func snapshot() -> Snapshot { labels.reading { take() } }

    private func take() -> Snapshot {
        let words = words.snapshot()
        func number(_ field: Field) -> UInt64 { words[field.rawValue] }
        func signed(_ field: Field) -> Int64 { Int64(bitPattern: number(field)) }
        return Snapshot(
            activity: LoopActivity(rawValue: number(.activity)) ?? .outside, since: signed(.since),
            depth: Int(number(.depth)),
            callouts: (0..<min(Int(number(.open)), Self.maxOpen)).map { index in
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
