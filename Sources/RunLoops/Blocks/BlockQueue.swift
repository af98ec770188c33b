internal import Synchronization

/// A closure that waits for its turn, for one mode, for several, or for the common ones.
package final class Block: @unchecked Sendable {
    /// The first (in general the only) mode, and the others.
    let mode: RunLoopMode
    let otherModes: [RunLoopMode]
    package let body: () -> Void
    let label: ItemLabel
    /// The one put in before; written before the block is put in, read when it is taken out.
    @exclusivity(unchecked) fileprivate var previous: Unmanaged<Block>?

    package init(mode: RunLoopMode, otherModes: [RunLoopMode], label: ItemLabel, body: @escaping () -> Void) {
        self.mode = mode
        self.otherModes = otherModes
        self.label = label
        self.body = body
    }

    /// Whether it may run in `running`, which is marked as common or not.
    package func mayRun(in running: RunLoopMode, isCommon: Bool) -> Bool {
        if matches(mode, running, isCommon) { return true }
        return otherModes.contains { matches($0, running, isCommon) }
    }

    private func matches(_ mode: RunLoopMode, _ running: RunLoopMode, _ isCommon: Bool) -> Bool {
        mode == running || (isCommon && mode == .common)
    }

    var modes: [RunLoopMode] { [mode] + otherModes }
}

/// The blocks of a loop: any thread puts in, without a lock; the loop's thread takes out, first in, first out.
package final class BlockQueue: @unchecked Sendable {
    /// The newest block, or the mark that the queue is closed. Each block holds a reference of its own while queued.
    package init() {}

    private let newest = Atomic<UnsafeRawPointer?>(nil)
    /// Taken from there, oldest first, waiting for a run in one of their modes. The loop's thread alone.
    @exclusivity(unchecked) private(set) var waiting: [Block] = []

    // SAFETY: an address that no block can have.
    private static var closed: UnsafeRawPointer { UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped }

    deinit { close() }

    /// Puts a block in; one that comes after the end is released unrun. Any thread.
    ///
    /// Complexity: O(1).
    package func push(_ block: Block) {
        var old = newest.load(ordering: .relaxed)
        let pointer = UnsafeRawPointer(Unmanaged.passRetained(block).toOpaque())
        while true {
            if old == Self.closed {
                Unmanaged<Block>.fromOpaque(pointer).release()
                return
            }
            block.previous = old.map { Unmanaged.fromOpaque($0) }
            // sequentiallyConsistent: the block is there before the poster looks at the wake word; see WakeWord.
            let (exchanged, found) = newest.compareExchange(
                expected: old, desired: pointer, ordering: .sequentiallyConsistent)
            if exchanged { return }
            old = found
        }
    }

    /// Moves what other threads have put in to the end of what waits. The loop's thread.
    package func absorb() {
        guard newest.load(ordering: .sequentiallyConsistent) != nil else { return }
        takeNew(leaving: nil)
    }

    /// Whether nothing waits and nothing was put in. The loop's thread.
    package var isEmpty: Bool { waiting.isEmpty && newest.load(ordering: .sequentiallyConsistent) == nil }

    /// All that waits, in order, for a drain that gives back what it does not run.
    package func takeWaiting() -> [Block] {
        absorb()
        defer { waiting = [] }
        return waiting
    }

    /// Puts back what a drain did not run: before all that came during it.
    package func putBack(_ blocks: [Block]) {
        if waiting.isEmpty { waiting = blocks } else { waiting = blocks + waiting }
    }

    /// Releases all blocks unrun and those that will still come.
    package func close() {
        takeNew(leaving: Self.closed)
        waiting = []
    }

    private func takeNew(leaving mark: UnsafeRawPointer?) {
        guard let first = newest.exchange(mark, ordering: .sequentiallyConsistent), first != Self.closed else { return }
        let start = waiting.count
        var next: Unmanaged<Block>? = .fromOpaque(first)
        while let reference = next {
            let block = reference.takeRetainedValue()
            next = block.previous
            block.previous = nil
            waiting.append(block)
        }
        waiting[start...].reverse()
    }
}
