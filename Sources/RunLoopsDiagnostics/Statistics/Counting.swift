// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import Synchronization

// Numbers that one thread adds to and any thread reads: a load and a store, not an atomic addition, which costs twenty
// times as much and which a single writer does not need.

extension Atomic<UInt64> {
    @inline(__always)
    borrowing func addAlone(_ number: UInt64) { store(load(ordering: .relaxed) &+ number, ordering: .relaxed) }
}

extension Atomic<Int64> {
    @inline(__always)
    borrowing func addAlone(_ number: Int64) { store(load(ordering: .relaxed) &+ number, ordering: .relaxed) }
}

/// A row of such numbers, zero at first.
// Unchecked: the words are atomics, and the pointer does not change.
final class AtomicRow: @unchecked Sendable {
    let count: Int
    // SAFETY: `count` words, initialised as a whole, given back in deinit.
    private let words: UnsafeMutablePointer<Atomic<UInt64>>

    init(count: Int) {
        self.count = count
        words = .allocate(capacity: count)
        for index in 0..<count { (words + index).initialize(to: Atomic(0)) }
    }

    deinit { words.deallocate() }

    @inline(__always)
    func add(_ index: Int, _ number: UInt64 = 1) { words[index].addAlone(number) }

    @inline(__always)
    subscript(index: Int) -> UInt64 {
        get { words[index].load(ordering: .relaxed) }
        set { words[index].store(newValue, ordering: .relaxed) }
    }
}

/// A histogram of durations that one thread adds to and any thread reads.
final class AtomicHistogram: Sendable {
    private let counts = AtomicRow(count: RunLoop.DurationHistogram.stepCount)
    private let sum = Atomic<Int64>(0)
    private let longest = Atomic<Int64>(0)

    @inline(__always)
    func add(_ nanoseconds: Int64) {
        counts.add(RunLoop.DurationHistogram.step(nanoseconds))
        sum.addAlone(max(nanoseconds, 0))
        if nanoseconds > longest.load(ordering: .relaxed) { longest.store(nanoseconds, ordering: .relaxed) }
    }

    func snapshot() -> RunLoop.DurationHistogram {
        var histogram = RunLoop.DurationHistogram()
        for index in 0..<counts.count { histogram.counts[index] = counts[index] }
        histogram.sum = sum.load(ordering: .relaxed)
        histogram.longest = longest.load(ordering: .relaxed)
        return histogram
    }
}

/// What was spent in callouts, by kind and label: a table of fixed size.
final class CalloutTable: Sendable {
    private static let mostEntries = 256
    /// Twice as many slots as entries, so that looking ends soon.
    private static let mask = UInt64(mostEntries * 2 - 1)
    private static let wordsAnEntry = 6

    // An entry: kind plus one, label, line, count, total, longest. The kind is written last: what has one is whole.
    private let words = AtomicRow(count: mostEntries * 2 * wordsAnEntry)
    private let entries = Atomic<UInt64>(0)
    private let left = Atomic<UInt64>(0)

    /// The loop's thread.
    func add(_ callee: RunLoop.Trace.Event.Callee, _ label: (UInt64, UInt64), _ nanoseconds: Int64) {
        let kind = UInt64(callee.rawValue) + 1
        var slot = (label.0 >> 4 &+ label.1 &* 31 &+ kind) &* 0x9E37_79B9_7F4A_7C15 >> 32 & Self.mask
        while true {
            let entry = Int(slot) * Self.wordsAnEntry
            if words[entry] == kind, words[entry + 1] == label.0, words[entry + 2] == label.1 {
                return count(entry, nanoseconds)
            }
            if words[entry] == 0 {
                if entries.load(ordering: .relaxed) >= Self.mostEntries { return left.addAlone(1) }
                entries.addAlone(1)
                words[entry + 1] = label.0
                words[entry + 2] = label.1
                atomicMemoryFence(ordering: .releasing)
                words[entry] = kind
                return count(entry, nanoseconds)
            }
            slot = (slot + 1) & Self.mask
        }
    }

    private func count(_ entry: Int, _ nanoseconds: Int64) {
        words.add(entry + 3)
        words.add(entry + 4, UInt64(bitPattern: nanoseconds))
        if UInt64(bitPattern: nanoseconds) > words[entry + 5] { words[entry + 5] = UInt64(bitPattern: nanoseconds) }
    }

    /// Any thread, while the table of labels lives.
    ///
    /// Two items of one label are two entries, and counted together here.
    func snapshot() -> (dearest: [RunLoop.Statistics.Callouts], left: UInt64) {
        var found: [RunLoop.Statistics.Callouts] = []
        var indices: [String: [RunLoop.Trace.Event.Callee: Int]] = [:]
        for entry in stride(from: 0, to: words.count, by: Self.wordsAnEntry) {
            let kind = words[entry]
            guard kind > 0, let callee = RunLoop.Trace.Event.Callee(rawValue: UInt8(kind - 1)) else { continue }
            atomicMemoryFence(ordering: .acquiring)
            let label = LabelKeeper.text(words[entry + 1], words[entry + 2])
            let total = Int64(bitPattern: words[entry + 4])
            let longest = Int64(bitPattern: words[entry + 5])
            if let index = indices[label]?[callee] {
                found[index].count += words[entry + 3]
                found[index].total += total
                found[index].longest = max(found[index].longest, longest)
            } else {
                indices[label, default: [:]][callee] = found.count
                found.append(
                    RunLoop.Statistics.Callouts(
                        callee: callee, label: label, count: words[entry + 3], total: total, longest: longest))
            }
        }
        return (found.sorted { $0.total > $1.total }, left.load(ordering: .relaxed))
    }
}
