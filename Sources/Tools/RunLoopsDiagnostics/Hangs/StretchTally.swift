// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// The times that callouts took in the present stretch of work, and in the last stretch that exceeded the limit.
///
/// The loop's thread writes them, any thread reads them.
final class StretchTally: LabelHolder {
    /// The time that the callouts with one label took.
    struct Entry: Sendable {
        var callee: RunLoop.Trace.Event.Callee
        var label: ItemLabel?
        /// The number of callouts that have returned; 0 for a callout that is under way.
        var count: Int
        /// The total time of the callouts, in nanoseconds; the true total may be greater.
        var time: Int64

        /// The entry as a report contains it.
        var callout: RunLoop.HangWatch.Report.Callout {
            RunLoop.HangWatch.Report.Callout(
                kind: callee, label: label?.text ?? "", place: label?.location,
                duration: .nanoseconds(time), count: count)
        }
    }

    /// A stretch of work.
    struct Stretch: Sendable {
        var began: Int64 = 0
        /// When the stretch ended, in nanoseconds of the monotonic clock; 0 while it lasts.
        var ended: Int64 = 0
        /// The number of callouts that have returned.
        var callouts = 0
        /// The callout that took the most time.
        var longest: Entry?
        /// The entries by label, the longest time first.
        var commonest: [Entry] = []

        /// Returns the stretch with one of the callouts under way added: the innermost that has taken at least half as
        /// long as the outermost.
        func adding(_ open: [LoopState.Frame], since: Int64, now: Int64) -> Stretch {
            func time(_ frame: LoopState.Frame) -> Int64 { max(0, now - max(frame.since, since)) }
            guard let outermost = open.first, let guilty = open.last(where: { time($0) * 2 >= time(outermost) }) else {
                return self
            }
            let present = Entry(callee: guilty.callee, label: guilty.label, count: 0, time: time(guilty))
            var stretch = self
            // A callout that is under way counts once, not once more for each that is inside it.
            stretch.callouts += 1
            if present.time > longest?.time ?? 0 { stretch.longest = present }
            stretch.commonest = (commonest + [present]).sorted { $0.time > $1.time }
            return stretch
        }
    }

    /// The words that describe one stretch; the words of its entries follow.
    private enum Field: Int {
        case began, ended, callouts, used, longestTime, longestSince, longestCallee, longestLabel, longestLine
        static let count = 9
    }

    private static let entries = 8
    private static let entryWords = 5
    private static let stretchWords = Field.count + entries * entryWords
    /// The positions of the two stretches, after the version word and the word with the position of the present
    /// stretch.
    private static let halves = [2, 2 + stretchWords]

    private let limit: Int64
    private let labels: LabelKeeper
    private let words = SharedWords(count: halves[1] + stretchWords)

    init(limit: Int64, labels: LabelKeeper = LabelKeeper()) {
        self.limit = limit
        self.labels = labels
        words[1] = UInt64(Self.halves[0])
        labels.add(self)
    }

    // MARK: Writing: the loop's thread

    func begins(at time: Int64) {
        words.beginWriting()
        reset(at: time)
        words.endWriting()
    }

    /// Ends the present stretch; returns whether the stretch exceeded the limit.
    @discardableResult
    func ends(at time: Int64) -> Bool {
        guard time &- Int64(bitPattern: self[.began]) >= limit else { return false }
        words.beginWriting()
        self[.ended] = UInt64(bitPattern: time)
        // The stretch stays until the next stretch that is as long.
        words[1] = UInt64(Self.halves[0] + Self.halves[1]) - words[1]
        reset(at: time)
        words.endWriting()
        return true
    }

    func returns(_ callout: LoopState.Frame, at time: Int64) {
        // The time before this stretch is not counted; a nested run that slept has begun a new stretch.
        let taken = UInt64(max(0, time &- max(callout.since, Int64(bitPattern: self[.began]))))
        words.beginWriting()
        self[.callouts] &+= 1
        if isLongest(taken, callout.since) {
            self[.longestTime] = taken
            self[.longestSince] = UInt64(bitPattern: callout.since)
            self[.longestCallee] = UInt64(callout.callee.rawValue)
            self[.longestLabel] = callout.words.text
            self[.longestLine] = callout.words.line
        }
        count(callout, taken)
        words.endWriting()
    }

    private func reset(at time: Int64) {
        self[.began] = UInt64(bitPattern: time)
        for field in [Field.ended, .callouts, .used, .longestTime] { self[field] = 0 }
    }

    /// Whether a callout of this duration and beginning is the longest so far; a callout that contains the longest
    /// callout must have taken at least twice as long.
    private func isLongest(_ taken: UInt64, _ since: Int64) -> Bool {
        let longest = self[.longestTime]
        guard taken > longest else { return false }
        let isAround = longest > 0 && since <= Int64(bitPattern: self[.longestSince])
        return !isAround || taken >= longest * 2
    }

    /// Adds a callout's time to the slot of its label.
    ///
    /// If two labels share a slot, the label that takes more time has the slot in the end.
    private func count(_ callout: LoopState.Frame, _ time: UInt64) {
        let (label, line) = callout.words
        let hash = ((label >> 4) &+ line) &* 0x9E37_79B9_7F4A_7C15
        let slot = Int(truncatingIfNeeded: hash >> 61)
        let entry = Int(words[1]) + Field.count + slot * Self.entryWords
        let isUsed = self[.used] >> UInt64(slot) & 1 != 0
        if isUsed, words[entry + 1] == label, words[entry + 2] == line {
            words.add(entry + 3)
            return words.add(entry + 4, time)
        }
        if isUsed, words[entry + 4] > time {
            words[entry + 4] -= time
            return
        }
        self[.used] |= 1 << UInt64(slot)
        words[entry] = UInt64(callout.callee.rawValue)
        (words[entry + 1], words[entry + 2], words[entry + 3], words[entry + 4]) = (label, line, 1, time)
    }

    func visitLabels(_ visit: (UInt64) -> Void) { for index in 0..<words.count { visit(words[index]) } }

    /// A field of the present stretch.
    @inline(__always)
    private subscript(_ field: Field) -> UInt64 {
        get { words[Int(words[1]) + field.rawValue] }
        set { words[Int(words[1]) + field.rawValue] = newValue }
    }

    // MARK: Reading: any thread

    /// Returns the present stretch, and the last stretch that exceeded the limit.
    func read() -> (present: Stretch, lastLong: Stretch) {
        labels.reading {
            let copy = words.snapshot()
            let present = Int(copy[1])
            return (
                Self.stretch(copy[present...]), Self.stretch(copy[(Self.halves[0] + Self.halves[1] - present)...])
            )
        }
    }

    private static func stretch(_ words: ArraySlice<UInt64>) -> Stretch {
        let words = Array(words)
        func number(_ field: Field) -> UInt64 { words[field.rawValue] }
        func entry(_ callee: UInt64, _ label: UInt64, _ line: UInt64, _ count: UInt64, _ time: UInt64) -> Entry {
            Entry(
                callee: RunLoop.Trace.Event.Callee(rawValue: UInt8(truncatingIfNeeded: callee)) ?? .block,
                label: LabelKeeper.label(label, line), count: Int(count), time: Int64(bitPattern: time))
        }
        var stretch = Stretch(
            began: Int64(bitPattern: number(.began)), ended: Int64(bitPattern: number(.ended)),
            callouts: Int(number(.callouts)))
        if stretch.callouts > 0, number(.longestTime) > 0 {
            stretch.longest = entry(
                number(.longestCallee), number(.longestLabel), number(.longestLine), 1, number(.longestTime))
        }
        stretch.commonest = (0..<entries).filter { number(.used) >> UInt64($0) & 1 != 0 }.map { slot in
            let at = Field.count + slot * entryWords
            return entry(words[at], words[at + 1], words[at + 2], words[at + 3], words[at + 4])
        }.sorted { $0.time > $1.time }
        return stretch
    }
}
