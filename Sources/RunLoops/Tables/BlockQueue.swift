internal import Synchronization

/// The blocks of a loop: any thread puts in; the loop's thread takes all that is there at once, first in, first out.
///
/// A lock and a row of memory. A queue without locks would take an allocation a block and a reversal at the end; a
/// lock that is held for ten instructions by posters, and once a drain by the loop, costs less. What the loop's own
/// thread puts in needs no lock while nobody else has put anything in
/// (Documentation/Decisions/0008-posting.md).
package final class BlockQueue: @unchecked Sendable {
    private let lock = Lock()
    // Guarded by the lock.
    @exclusivity(unchecked) private var incoming = BlockBuffer()
    /// Written by the loop's thread, with the lock held.
    @exclusivity(unchecked) private var isClosed = false
    /// Whether `incoming` has any; written with the lock held.
    private let hasIncoming = Atomic<Bool>(false)

    // The loop's thread alone.
    /// Those that no run could run so far, oldest first.
    @exclusivity(unchecked) private var waiting = BlockBuffer()
    /// Empty memory, to be used again.
    @exclusivity(unchecked) private var spare = BlockBuffer()
    /// The mode that none of the waiting ones may run in: they need not be looked at again in it.
    @exclusivity(unchecked) private var fruitless: (mode: RunLoop.Mode, isCommon: Bool)?

    package init() {}

    /// Puts a block in; one that comes after the end is released unrun.
    ///
    /// Any thread.
    ///
    /// Complexity: O(1) amortised.
    @inline(__always)
    package func push(_ block: consuming Block) {
        lock.lock()
        if isClosed {
            lock.unlock()
            return
        }
        incoming.append(block)
        // sequentiallyConsistent: the block is there before the poster looks at the wake word; see WakeWord.
        if !hasIncoming.load(ordering: .relaxed) { hasIncoming.store(true, ordering: .sequentiallyConsistent) }
        lock.unlock()
    }

    /// Puts a block in from the loop's own thread.
    ///
    /// Straight behind those that wait, unless blocks of other threads have come, which may be what this one follows.
    ///
    /// Complexity: O(1) amortised; no lock while no other thread has put anything in.
    @inline(__always)
    package func pushHere(_ block: consuming Block) {
        // acquiring: who has seen a block put in by another thread sees that it is there.
        if isClosed || hasIncoming.load(ordering: .acquiring) { return push(block) }
        waiting.append(block)
        fruitless = nil
    }

    /// Whether nothing waits and nothing was put in.
    ///
    /// The loop's thread.
    @inline(__always)
    package var isEmpty: Bool { waiting.isEmpty && !hasIncoming.load(ordering: .sequentiallyConsistent) }

    /// Whether another thread has put one in since the loop looked, or there are more than `count`.
    ///
    /// The loop's thread.
    func hasMore(than count: Int) -> Bool {
        hasIncoming.load(ordering: .sequentiallyConsistent) || waiting.count > count
    }

    /// How many of those that the loop has looked at, or put in itself, wait.
    ///
    /// The loop's thread.
    var waitingCount: Int { waiting.count }

    /// Whether a block waits that may run in the mode.
    ///
    /// The loop's thread.
    package func hasBlock(in mode: RunLoop.Mode, isCommon: Bool) -> Bool {
        if isEmpty { return false }
        absorb()
        return waiting.contains { $0.mayRun(in: mode, isCommon: isCommon) }
    }

    /// Whether a block waits that may run in the mode, and that a run in it must not sleep over.
    ///
    /// The loop's thread, on its way to sleep: from then on a block of another thread comes with a wake-up.
    @inline(__always)
    func hasWakingBlock(in mode: RunLoop.Mode, isCommon: Bool) -> Bool {
        isEmpty ? false : findWakingBlock(mode, isCommon)
    }

    @inline(never)
    private func findWakingBlock(_ mode: RunLoop.Mode, _ isCommon: Bool) -> Bool {
        absorb()
        if let fruitless, fruitless == (mode, isCommon) { return false }
        return waiting.contains { $0.wakes && $0.mayRun(in: mode, isCommon: isCommon) }
    }

    /// Runs `body` with each block that may run in the mode, in order; the others keep their place.
    ///
    /// The loop's thread.
    ///
    /// Blocks that are put in meanwhile wait for the next drain, and a nested drain sees only those.
    /// - Parameter isCommon: Asked anew for each block, since a callout may mark the mode.
    @inline(__always)
    package func drain(in mode: RunLoop.Mode, isCommon: () -> Bool, run body: (borrowing Block) -> Void) {
        if isEmpty { return }
        if !hasIncoming.load(ordering: .sequentiallyConsistent), let fruitless, fruitless == (mode, isCommon()) {
            return
        }
        absorb()
        let wasCommon = isCommon()
        var batch = BlockBuffer()
        swap(&batch, &waiting)
        swap(&waiting, &spare)
        var kept = BlockBuffer()
        while let block = batch.next() {
            if block.mayRun(in: mode, isCommon: isCommon()) { body(block) } else { kept.append(block) }
        }
        batch.reset()
        // What a nested drain has kept came later, and has not been looked at here.
        fruitless = kept.isEmpty || !waiting.isEmpty ? nil : (mode, wasCommon)
        if !kept.isEmpty {
            kept.append(all: &waiting)
            swap(&waiting, &kept)
        }
        swap(&spare, &batch)
    }

    /// How many were put in that the loop has not looked at.
    ///
    /// Any thread.
    package var incomingCount: Int { lock.withLock { incoming.count } }

    /// Those that were put in and did not run yet, for descriptions: place and modes.
    ///
    /// Any thread; those that the loop has looked at, or put in itself, are known to the loop's thread only.
    func picture(onLoopsThread: Bool) -> [String] {
        (onLoopsThread ? waiting.picture : []) + lock.withLock { incoming.picture }
    }

    /// Releases all blocks unrun, and those that will still come.
    package func close() {
        var waste = BlockBuffer()
        lock.withLock {
            isClosed = true
            swap(&waste, &incoming)
        }
        waiting = BlockBuffer()
    }

    /// Moves what was put in to the end of what waits.
    private func absorb() {
        guard hasIncoming.load(ordering: .sequentiallyConsistent) else { return }
        fruitless = nil
        if waiting.isEmpty { waiting.reset() }
        lock.lock()
        hasIncoming.store(false, ordering: .sequentiallyConsistent)
        if waiting.isEmpty {
            swap(&incoming, &waiting)
            lock.unlock()
        } else {
            var taken = BlockBuffer()
            swap(&taken, &incoming)
            lock.unlock()
            waiting.append(all: &taken)
        }
    }
}
