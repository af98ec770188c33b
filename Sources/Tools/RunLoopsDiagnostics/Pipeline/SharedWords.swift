// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoopsLibC
internal import Synchronization

/// An array of words that one thread writes and any thread reads, without locks; all words are zero at first.
///
/// A single word can be read at any time. Words that belong together follow a version word, which is odd while they are
/// written: a sequence lock. The writer never waits. A reader that finds the version changed after reading has read a
/// mixture, and discards it.
// Unchecked: the words are atomics, and the pointer does not change.
final class SharedWords: @unchecked Sendable {
    let count: Int
    // SAFETY: `count` words, zero at first, given back in deinit; an atomic is laid out as what it holds.
    private let words: UnsafeMutablePointer<Atomic<UInt64>>

    init(count: Int) {
        self.count = count
        // calloc: the system gives the pages when they are touched, so that a short recording takes little.
        guard let memory = calloc(count, MemoryLayout<UInt64>.stride) else {
            fatalError("Out of memory for \(count) words about a run loop: record with a smaller capacity.")
        }
        words = memory.bindMemory(to: Atomic<UInt64>.self, capacity: count)
    }

    deinit { free(words) }

    @inline(__always)
    subscript(index: Int) -> UInt64 {
        get {
            assert(0..<count ~= index)
            return words[index].load(ordering: .relaxed)
        }
        set {
            assert(0..<count ~= index)
            words[index].store(newValue, ordering: .relaxed)
        }
    }

    /// Adds to a word with a load and a store: an atomic addition costs twenty times as much, and a single writer does
    /// not need it.
    @inline(__always)
    func add(_ index: Int, _ number: UInt64 = 1) { self[index] = self[index] &+ number }

    /// Begins to write words that belong together; `version` is the index of their version word.
    ///
    /// Called by the writing thread. This is not a function that takes a closure, because the compiler does not inline
    /// such a function everywhere.
    @inline(__always)
    func beginWriting(version: Int = 0) {
        self[version] = self[version] &+ 1
        // The odd number before the words: partner of the fence in read.
        atomicMemoryFence(ordering: .releasing)
    }

    /// Ends the writing that ``beginWriting(version:)`` has begun.
    @inline(__always)
    func endWriting(version: Int = 0) {
        // The words before the even number.
        words[version].store(self[version] &+ 1, ordering: .releasing)
    }

    /// Returns the value that `body` reads, and its version; `nil` if the words were written meanwhile.
    ///
    /// Thread safety: any thread.
    @inline(__always)
    func read<Result>(version: Int = 0, _ body: () -> Result) -> (result: Result, version: UInt64)? {
        // acquiring: pairs with the release of the even number, so that the words of this version are seen.
        let number = words[version].load(ordering: .acquiring)
        guard number & 1 == 0 else { return nil }
        let result = body()
        // A word of a later version seen above means that its odd number is seen below.
        atomicMemoryFence(ordering: .acquiring)
        return self[version] == number ? (result, number) : nil
    }

    /// Returns a copy of all words, if the first word is the version of all others.
    ///
    /// Thread safety: any thread. Repeats the copy until the writing thread has not written meanwhile.
    func snapshot() -> [UInt64] {
        while true {
            if let (words, _) = read({ (0..<count).map { self[$0] } }) { return words }
            // The writer may have lost its processor in the middle.
            sched_yield()
        }
    }
}
