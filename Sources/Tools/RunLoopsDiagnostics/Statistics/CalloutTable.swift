// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import Synchronization

/// The time spent in callouts, by kind and label: a table of fixed size that keeps the most expensive callouts.
///
/// When the table is full, a new callout replaces the entry with the least weight, and begins with that weight (the
/// summary *space-saving* of Metwally, Agrawal and El Abbadi, 2005). A kind and label that takes more than a 256th of
/// the time is therefore always in the table, however many others there are. An entry contains the counts since it was
/// added; the counts of entries that were replaced count as not assigned.
// Unchecked: what is not shared words belongs to the loop's thread.
final class CalloutTable: LabelHolder, @unchecked Sendable {
    static let maxEntries = 256
    /// Masks a hash to an index; there are four times as many indices as entries, so that searches are short.
    private static let mask = maxEntries * 4 - 1

    /// The words of an entry: the first is the version of the next three; each of the others is read by itself.
    private enum Field: Int {
        case version
        /// The kind plus one; 0 for an entry that is not used.
        case kind
        case label, line, count, total, longest
        /// The total nanoseconds plus one for each callout, so that callouts that take no time have weight too.
        case weight
        /// The number of the round whose longest callout is in `recent`; `previous` is the longest callout of the round
        /// before.
        case round
        case recent, previous
    }
    private static let wordsAnEntry = 11
    /// The positions of the words after the entries: the number of used entries, the count and time of callouts in
    /// replaced entries, and the number of the present round.
    private static let used = maxEntries * wordsAnEntry
    private static let left = used + 1
    private static let leftTime = used + 2
    private static let round = used + 3

    private let labels: LabelKeeper
    private let words = SharedWords(count: round + 1)

    // The loop's thread.
    /// A hash table: each element is the number of an entry plus one, at the index of its kind and label; 0 is empty.
    @exclusivity(unchecked) private var places: [UInt16] = Array(repeating: 0, count: mask + 1)

    init(labels: LabelKeeper = LabelKeeper()) {
        self.labels = labels
        labels.add(self)
    }

    private subscript(_ entry: Int, _ field: Field) -> UInt64 {
        @inline(__always) get { words[entry * Self.wordsAnEntry + field.rawValue] }
        @inline(__always) set { words[entry * Self.wordsAnEntry + field.rawValue] = newValue }
    }

    // MARK: The loop's thread

    func add(_ callee: RunLoop.Trace.Event.Callee, _ label: (UInt64, UInt64), _ nanoseconds: Int64) {
        let kind = UInt64(callee.rawValue) + 1
        var place = Self.home(kind, label.0, label.1)
        while places[place] > 0 {
            let entry = Int(places[place]) - 1
            if self[entry, .kind] == kind, self[entry, .label] == label.0, self[entry, .line] == label.1 {
                return count(entry, nanoseconds)
            }
            place = (place + 1) & Self.mask
        }
        count(makeEntry(kind, label), nanoseconds)
    }

    private func count(_ entry: Int, _ nanoseconds: Int64) {
        let time = UInt64(max(0, nanoseconds))
        self[entry, .count] &+= 1
        self[entry, .total] &+= time
        self[entry, .weight] &+= time &+ 1
        if time > self[entry, .longest] { self[entry, .longest] = time }
        let round = words[Self.round]
        if self[entry, .round] != round {
            self[entry, .previous] = self[entry, .round] &+ 1 == round ? self[entry, .recent] : 0
            self[entry, .recent] = 0
            self[entry, .round] = round
        }
        if time > self[entry, .recent] { self[entry, .recent] = time }
    }

    @inline(never)
    private func makeEntry(_ kind: UInt64, _ label: (UInt64, UInt64)) -> Int {
        var entry = Int(words[Self.used])
        if entry < Self.maxEntries {
            words.add(Self.used)
        } else {
            entry = (0..<Self.maxEntries).min { self[$0, .weight] < self[$1, .weight] } ?? 0
            words.add(Self.left, self[entry, .count])
            words.add(Self.leftTime, self[entry, .total])
            forgetPlace(of: entry)
        }
        words.beginWriting(version: entry * Self.wordsAnEntry)
        (self[entry, .kind], self[entry, .label], self[entry, .line]) = (kind, label.0, label.1)
        for field in [Field.count, .total, .longest, .recent, .previous] { self[entry, field] = 0 }
        words.endWriting(version: entry * Self.wordsAnEntry)
        var place = home(of: entry)
        while places[place] > 0 { place = (place + 1) & Self.mask }
        places[place] = UInt16(entry + 1)
        return entry
    }

    /// Removes an entry from the hash table, and moves later entries up, so that no gap separates an entry from its
    /// hash index.
    private func forgetPlace(of entry: Int) {
        var gap = home(of: entry)
        while Int(places[gap]) != entry + 1 { gap = (gap + 1) & Self.mask }
        var next = (gap + 1) & Self.mask
        while places[next] > 0 {
            let way = (next - home(of: Int(places[next]) - 1)) & Self.mask
            if way >= (next - gap) & Self.mask {
                places[gap] = places[next]
                gap = next
            }
            next = (next + 1) & Self.mask
        }
        places[gap] = 0
    }

    private func home(of entry: Int) -> Int { Self.home(self[entry, .kind], self[entry, .label], self[entry, .line]) }

    private static func home(_ kind: UInt64, _ label: UInt64, _ line: UInt64) -> Int {
        let sum = label >> 4 &+ line &* 31 &+ kind
        return Int(truncatingIfNeeded: sum &* 0x9E37_79B9_7F4A_7C15 >> 32) & mask
    }

    func visitLabels(_ visit: (UInt64) -> Void) {
        for entry in 0..<Int(words[Self.used]) { visit(self[entry, .label]) }
    }

    // MARK: Any thread

    /// Adds the present figures of single callouts to `statistics`.
    ///
    /// - Parameter endsRound: Whether the search for the longest recent callouts begins anew for the next report; one
    ///   thread at a time.
    func read(into statistics: inout RunLoop.Statistics, endsRound: Bool = false) {
        let round = words[Self.round]
        // Before the look, so that a callout that ends meanwhile is in this round or in the next one.
        if endsRound { words[Self.round] = round &+ 1 }
        labels.reading {
            var found: [RunLoop.Statistics.Callouts] = []
            var indices: [String: [RunLoop.Trace.Event.Callee: Int]] = [:]
            for entry in 0..<Int(words[Self.used]) {
                guard let callouts = read(entry, round) else { continue }
                // Labels of several places may say the same.
                if let index = indices[callouts.label]?[callouts.callee] {
                    found[index].add(callouts)
                } else {
                    indices[callouts.label, default: [:]][callouts.callee] = found.count
                    found.append(callouts)
                }
            }
            statistics.dearest = found.sorted { $0.total > $1.total }
            statistics.notAssigned = words[Self.left]
            statistics.timeNotAssigned = Int64(clamping: words[Self.leftTime])
        }
    }

    /// Reads an entry.
    ///
    /// Called with the labels' lock held, so that a label that leaves the table meanwhile is not released.
    private func read(_ entry: Int, _ round: UInt64) -> RunLoop.Statistics.Callouts? {
        while true {
            let found = words.read(version: entry * Self.wordsAnEntry) {
                (0..<Self.wordsAnEntry).map { words[entry * Self.wordsAnEntry + $0] }
            }
            // The loop's thread is at this entry just now.
            guard let copy = found?.result else { continue }
            func number(_ field: Field) -> Int64 { Int64(clamping: copy[field.rawValue]) }
            guard let kind = UInt8(exactly: copy[Field.kind.rawValue]), kind > 0,
                let callee = RunLoop.Trace.Event.Callee(rawValue: kind - 1)
            else { return nil }
            let own = copy[Field.round.rawValue]
            return RunLoop.Statistics.Callouts(
                callee: callee, label: LabelKeeper.text(copy[Field.label.rawValue], copy[Field.line.rawValue]),
                count: copy[Field.count.rawValue], total: number(.total), longest: number(.longest),
                longestLately: own == round ? number(.recent) : own == round &+ 1 ? number(.previous) : 0)
        }
    }
}

extension RunLoop.Statistics.Callouts {
    fileprivate mutating func add(_ other: Self) {
        count &+= other.count
        total &+= other.total
        longest = max(longest, other.longest)
        longestLately = max(longestLately, other.longestLately)
    }
}
