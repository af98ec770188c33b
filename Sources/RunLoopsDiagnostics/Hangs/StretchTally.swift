// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// What the callouts of the present stretch of work took, and of the last one that went past the limit: written by the
/// loop's thread, read by any.
// Unchecked: all that is shared is atomic.
final class StretchTally: @unchecked Sendable {
    /// What the callouts with one label took.
    struct Entry: Sendable {
        var callee: RunLoop.Trace.Event.Callee
        var label: ItemLabel?
        var count: Int
        /// In nanoseconds; at least so much.
        var time: Int64
    }

    /// One stretch.
    struct Stretch: Sendable {
        var began: Int64 = 0
        /// 0 while it lasts.
        var ended: Int64 = 0
        /// Callouts that have returned.
        var callouts = 0
        /// The longest of them.
        var longest: Entry?
        /// By label, the greatest first.
        var commonest: [Entry] = []
    }

    private enum Field: Int {
        case began, ended, callouts, used, longestTime, longestSince, longestCallee, longestLabel, longestLine
    }

    private static let fields = 9
    private static let entries = 8
    private static let entryWords = 5
    private static let stretchWords = fields + entries * entryWords

    private let limit: Int64
    /// Odd while the words are being written.
    private let version = Atomic<UInt64>(0)
    /// Which half the present stretch is in.
    private let present = Atomic<Int>(0)
    // SAFETY: two stretches, zero at first, given back in deinit.
    private let words: UnsafeMutablePointer<Atomic<UInt64>>

    init(limit: Int64) {
        self.limit = limit
        words = .allocate(capacity: 2 * Self.stretchWords)
        for index in 0..<2 * Self.stretchWords { (words + index).initialize(to: Atomic(0)) }
    }

    deinit { words.deallocate() }

    // MARK: Writing: the loop's thread

    func begins(at time: Int64) {
        write {
            let stretch = presentWords
            set(stretch, .began, UInt64(bitPattern: time))
            for field in [Field.ended, .callouts, .used, .longestTime] { set(stretch, field, 0) }
        }
    }

    /// Whether it went past the limit.
    @discardableResult
    func ends(at time: Int64) -> Bool {
        let stretch = presentWords
        guard time &- Int64(bitPattern: get(stretch, .began)) >= limit else { return false }
        write {
            set(stretch, .ended, UInt64(bitPattern: time))
            // The stretch stays until the next stretch that is as long.
            present.store(1 - present.load(ordering: .relaxed), ordering: .relaxed)
            set(presentWords, .began, UInt64(bitPattern: time))
            for field in [Field.ended, .callouts, .used, .longestTime] { set(presentWords, field, 0) }
        }
        return true
    }

    func returns(callee: UInt64, label: UInt64, line: UInt64, since: Int64, at time: Int64) {
        let stretch = presentWords
        // What a run inside it slept, and what was before, is not of this stretch.
        let taken = UInt64(max(0, time &- max(since, Int64(bitPattern: get(stretch, .began)))))
        write {
            set(stretch, .callouts, get(stretch, .callouts) &+ 1)
            if isLongest(stretch, taken, since) {
                set(stretch, .longestTime, taken)
                set(stretch, .longestSince, UInt64(bitPattern: since))
                set(stretch, .longestCallee, callee)
                set(stretch, .longestLabel, label)
                set(stretch, .longestLine, line)
            }
            count(stretch, callee, label, line, taken)
        }
    }

    /// A callout with the longest callout inside it is not to blame, unless it took as much again by itself.
    private func isLongest(_ stretch: UnsafeMutablePointer<Atomic<UInt64>>, _ taken: UInt64, _ since: Int64) -> Bool {
        let longest = get(stretch, .longestTime)
        guard taken > longest else { return false }
        let isAround = longest > 0 && since <= Int64(bitPattern: get(stretch, .longestSince))
        return !isAround || taken >= longest * 2
    }

    /// Each label has one slot.
    ///
    /// Where two labels share a slot, the label that takes more time wins it in the end.
    private func count(
        _ stretch: UnsafeMutablePointer<Atomic<UInt64>>, _ callee: UInt64, _ label: UInt64, _ line: UInt64,
        _ time: UInt64
    ) {
        let hash = ((label >> 4) &+ line) &* 0x9E37_79B9_7F4A_7C15
        let slot = Int(truncatingIfNeeded: hash >> 61)
        let entry = stretch + Self.fields + slot * Self.entryWords
        let used = get(stretch, .used)
        let isUsed = used >> UInt64(slot) & 1 != 0
        if isUsed, entry[1].load(ordering: .relaxed) == label, entry[2].load(ordering: .relaxed) == line {
            entry[3].store(entry[3].load(ordering: .relaxed) &+ 1, ordering: .relaxed)
            entry[4].store(entry[4].load(ordering: .relaxed) &+ time, ordering: .relaxed)
            return
        }
        let present = entry[4].load(ordering: .relaxed)
        if isUsed, present > time { return entry[4].store(present - time, ordering: .relaxed) }
        set(stretch, .used, used | 1 << UInt64(slot))
        entry[0].store(callee, ordering: .relaxed)
        entry[1].store(label, ordering: .relaxed)
        entry[2].store(line, ordering: .relaxed)
        entry[3].store(1, ordering: .relaxed)
        entry[4].store(time, ordering: .relaxed)
    }

    @inline(__always)
    private func write(_ body: () -> Void) {
        let number = version.load(ordering: .relaxed)
        version.store(number &+ 1, ordering: .relaxed)
        // The odd number before the words: partner of the fence in read().
        atomicMemoryFence(ordering: .releasing)
        body()
        version.store(number &+ 2, ordering: .releasing)
    }

    private var presentWords: UnsafeMutablePointer<Atomic<UInt64>> {
        words + present.load(ordering: .relaxed) * Self.stretchWords
    }

    @inline(__always)
    private func get(_ stretch: UnsafeMutablePointer<Atomic<UInt64>>, _ field: Field) -> UInt64 {
        stretch[field.rawValue].load(ordering: .relaxed)
    }

    @inline(__always)
    private func set(_ stretch: UnsafeMutablePointer<Atomic<UInt64>>, _ field: Field, _ value: UInt64) {
        stretch[field.rawValue].store(value, ordering: .relaxed)
    }

    // MARK: Reading: any thread

    /// The present stretch, and the last stretch that went past the limit.
    func read() -> (present: Stretch, lastLong: Stretch) {
        while true {
            let number = version.load(ordering: .acquiring)
            if number & 1 == 0 {
                let half = present.load(ordering: .relaxed)
                let copy = (0..<2 * Self.stretchWords).map { words[$0].load(ordering: .relaxed) }
                // A word of a later state seen above means that its odd number is seen below.
                atomicMemoryFence(ordering: .acquiring)
                if version.load(ordering: .relaxed) == number {
                    let halves = [copy.prefix(Self.stretchWords), copy.suffix(Self.stretchWords)].map(Array.init)
                    return (Self.stretch(halves[half]), Self.stretch(halves[1 - half]))
                }
            }
            // The writer may have lost its processor in the middle.
            sched_yield()
        }
    }

    private static func stretch(_ words: [UInt64]) -> Stretch {
        func field(_ field: Field) -> UInt64 { words[field.rawValue] }
        var stretch = Stretch(
            began: Int64(bitPattern: field(.began)), ended: Int64(bitPattern: field(.ended)),
            callouts: Int(field(.callouts)))
        if stretch.callouts > 0, field(.longestTime) > 0 {
            stretch.longest = entry(
                field(.longestCallee), field(.longestLabel), field(.longestLine), 1, field(.longestTime))
        }
        stretch.commonest = (0..<entries).filter { field(.used) >> UInt64($0) & 1 != 0 }.map { slot in
            let at = fields + slot * entryWords
            return entry(words[at], words[at + 1], words[at + 2], words[at + 3], words[at + 4])
        }.sorted { $0.time > $1.time }
        return stretch
    }

    private static func entry(
        _ callee: UInt64, _ label: UInt64, _ line: UInt64, _ count: UInt64, _ time: UInt64
    ) -> Entry {
        Entry(
            callee: RunLoop.Trace.Event.Callee(rawValue: UInt8(truncatingIfNeeded: callee)) ?? .block,
            label: LabelKeeper.label(label, line), count: Int(count), time: Int64(bitPattern: time))
    }
}
