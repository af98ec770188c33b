// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The blocks of a loop: any thread adds blocks; the loop's thread takes all of them at once, first in, first out.
///
/// The queue has a lock and contiguous memory. A lock-free queue would need an allocation for each block, and would
/// have to reverse the blocks in the end. The lock costs less: a posting thread holds it for ten instructions, and the
/// loop takes it once per drain. A block of the loop's own thread needs no lock while no other thread has added one
/// (Documentation/Decisions/0008-posting.md).
final class BlockQueue: @unchecked Sendable {
    private let lock = Lock()
    // Unchecked, here and below: each block and each turn uses these, and the check costs a block 23 %
    // (Documentation/Decisions/0010-what-things-cost.md).
    // Guarded by the lock.
    @exclusivity(unchecked) private var incoming = BlockBuffer()
    /// Whether the queue is closed; written by the loop's thread, with the lock held.
    @exclusivity(unchecked) private var isClosed = false
    /// Whether `incoming` has any blocks; written with the lock held.
    private let hasIncoming = Atomic<Bool>(false)

    // Used by the loop's thread alone.
    /// Blocks that no run has been able to run so far, oldest first.
    @exclusivity(unchecked) private var waiting = BlockBuffer()
    /// Empty memory, to be used again.
    @exclusivity(unchecked) private var spare = BlockBuffer()
    /// The mode in which none of the waiting blocks may run: a run in it need not look at them again.
    @exclusivity(unchecked) private var fruitless: (mode: RunLoop.Mode, isCommon: Bool)?

    init() {}

    // MARK: Any thread

    /// Adds a block; after ``close()``, releases the block without running it.
    ///
    /// - Complexity: O(1) amortised.
    @inline(__always)
    func push(_ block: consuming Block) {
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

    /// The number of added blocks that the loop has not looked at.
    var incomingCount: Int { lock.withLock { incoming.count } }

    /// Describes the blocks that have not run yet, each with its location and modes.
    ///
    /// On another thread, leaves out the blocks that the loop has looked at or has added itself.
    func picture(onLoopsThread: Bool) -> [String] {
        (onLoopsThread ? waiting.picture : []) + lock.withLock { incoming.picture }
    }

    // MARK: The loop's thread

    /// Adds a block on the loop's own thread.
    ///
    /// The block is put directly behind the waiting blocks. If other threads have added blocks, it is put behind these,
    /// because it may have to follow one of them.
    ///
    /// - Complexity: O(1) amortised; no lock while no other thread has put anything in.
    @inline(__always)
    func pushHere(_ block: consuming Block) {
        // acquiring: a thread that knows that another thread has added a block sees here that the block is there.
        if isClosed || hasIncoming.load(ordering: .acquiring) { return push(block) }
        waiting.append(block)
        fruitless = nil
    }

    /// Whether there are neither waiting blocks nor blocks that other threads have added.
    @inline(__always)
    var isEmpty: Bool { waiting.isEmpty && !hasIncoming.load(ordering: .sequentiallyConsistent) }

    /// Whether another thread has added a block since the loop looked, or more than `count` blocks wait.
    func hasMore(than count: Int) -> Bool {
        hasIncoming.load(ordering: .sequentiallyConsistent) || waiting.count > count
    }

    /// The number of waiting blocks that the loop has looked at, or added itself.
    var waitingCount: Int { waiting.count }

    /// Whether a block waits that may run in the mode.
    func hasBlock(in mode: RunLoop.Mode, isCommon: Bool) -> Bool {
        if isEmpty { return false }
        absorb()
        return waiting.contains { $0.mayRun(in: mode, isCommon: isCommon) }
    }

    /// Whether a block waits that may run in the mode and must run before the run sleeps.
    ///
    /// Called on the loop's thread when it is on its way to sleep: a block that another thread posts later comes with a
    /// wake-up.
    @inline(__always)
    func hasWakingBlock(in mode: RunLoop.Mode, isCommon: Bool) -> Bool {
        isEmpty ? false : findWakingBlock(mode, isCommon)
    }

    private func findWakingBlock(_ mode: RunLoop.Mode, _ isCommon: Bool) -> Bool {
        absorb()
        if let fruitless, fruitless == (mode, isCommon) { return false }
        return waiting.contains { $0.wakes && $0.mayRun(in: mode, isCommon: isCommon) }
    }

    /// Runs `body` with each block that may run in the mode, in order; the other blocks stay where they are in the
    /// queue.
    ///
    /// Blocks that are added during the call wait for the next drain, and a nested drain sees only these new blocks.
    /// - Parameter isCommon: Called anew for each block, since a callout may mark the mode.
    @inline(__always)
    func drain(in mode: RunLoop.Mode, isCommon: () -> Bool, run body: (borrowing Block) -> Void) {
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
        // Blocks that a nested drain has kept came later, and have not been looked at here.
        fruitless = kept.isEmpty || !waiting.isEmpty ? nil : (mode, wasCommon)
        if !kept.isEmpty {
            kept.append(all: &waiting)
            swap(&waiting, &kept)
        }
        swap(&spare, &batch)
    }

    /// Releases the queued blocks without running them; blocks that are added later are released too.
    func close() {
        var waste = BlockBuffer()
        lock.withLock {
            isClosed = true
            swap(&waste, &incoming)
        }
        waiting = BlockBuffer()
    }

    /// Moves the added blocks to the end of the waiting blocks.
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

/// A posted closure, for one mode, for several, or for the common modes.
///
/// The structure cannot be copied, so that a call of the closure does no reference counting.
struct Block: ~Copyable {
    let body: () -> Void
    /// Where the block was added; the highest bit of the line says whether the block wakes the loop, so that a block
    /// takes only 32 bytes.
    private let location: CodeLocation
    let modes: BlockModes

    private static let wakeBit: UInt32 = 1 << 31

    @inline(__always)
    init(modes: BlockModes, wakes: Bool, location: CodeLocation, body: consuming @escaping () -> Void) {
        self.body = body
        self.modes = modes
        self.location = CodeLocation(
            file: location.file, line: location.line & ~Self.wakeBit | (wakes ? Self.wakeBit : 0))
    }

    /// Whether a run in which the block may run must not sleep before the block has run.
    @inline(__always)
    var wakes: Bool { location.line & Self.wakeBit != 0 }

    /// Whether the block may run in `running`, which is marked as common or not.
    @inline(__always)
    borrowing func mayRun(in running: RunLoop.Mode, isCommon: Bool) -> Bool {
        modes.includes(running, isCommon: isCommon)
    }

    /// Returns a block whose closure calls `around` with this block's closure.
    consuming func wrapped(_ around: @escaping (() -> Void) -> Void) -> Block {
        let body = body
        return Block(modes: modes, wakes: wakes, location: location) { around(body) }
    }

    var label: ItemLabel { .location(file: location.file, line: location.line & ~Self.wakeBit) }
}

/// The modes that a block may run in, as one number: the number of one mode, or the number of an array of several
/// modes.
///
/// Arrays are interned as names of modes are: a program uses few different arrays, and they are kept until the process
/// ends.
struct BlockModes: Equatable, Sendable {
    private static let isList: UInt32 = 1 << 31
    private static let lists = InternTable<[RunLoop.Mode]>()

    private let number: UInt32

    @inline(__always)
    init(_ mode: RunLoop.Mode) { number = mode.number }

    /// Stores an array of modes as one number.
    ///
    /// - Precondition: at least one mode.
    init(_ modes: [RunLoop.Mode]) {
        number = modes.count == 1 ? modes[0].number : Self.lists.number(of: modes) | Self.isList
    }

    /// Whether a run in `running`, which is marked as common or not, is in one of the modes.
    @inline(__always)
    func includes(_ running: RunLoop.Mode, isCommon: Bool) -> Bool {
        if number == running.number { return true }
        if number & Self.isList == 0 { return isCommon && number == RunLoop.Mode.common.number }
        return listIncludes(running, isCommon)
    }

    private func listIncludes(_ running: RunLoop.Mode, _ isCommon: Bool) -> Bool {
        all.contains { $0 == running || (isCommon && $0 == .common) }
    }

    var all: [RunLoop.Mode] {
        number & Self.isList == 0 ? [RunLoop.Mode(number: number)] : Self.lists[number & ~Self.isList]
    }
}

/// Blocks in contiguous memory: they are added at the end, and moved out one after the other from the beginning.
struct BlockBuffer: ~Copyable {
    // SAFETY: of `capacity` blocks, initialised from `first` up to `end`; without capacity nobody looks where it
    // points.
    private var base = Self.nowhere
    private var capacity = 0
    private var first = 0
    private var end = 0

    private static var nowhere: UnsafeMutablePointer<Block> {
        UnsafeMutablePointer(bitPattern: MemoryLayout<Block>.alignment).unsafelyUnwrapped
    }

    init() {}

    deinit {
        (base + first).deinitialize(count: end - first)
        if capacity > 0 { base.deallocate() }
    }

    var isEmpty: Bool { first == end }
    var count: Int { end - first }

    @inline(__always)
    mutating func append(_ block: consuming Block) {
        if end == capacity { grow() }
        (base + end).initialize(to: block)
        end += 1
    }

    /// Takes out the first block.
    @inline(__always)
    mutating func next() -> Block? {
        if isEmpty { return nil }
        first += 1
        return (base + first - 1).move()
    }

    /// Moves all of `other` to the end of this one.
    mutating func append(all other: inout BlockBuffer) {
        while let block = other.next() { append(block) }
        other.reset()
    }

    /// Makes an empty buffer use its memory from the beginning again.
    ///
    /// If less than a quarter of a large memory was used since the last call, half of it is released, so that the
    /// memory of a burst does not stay allocated.
    ///
    /// - Precondition: empty.
    mutating func reset() {
        let used = end
        first = 0
        end = 0
        if capacity > 1024, used < capacity / 4 {
            base.deallocate()
            capacity /= 2
            base = .allocate(capacity: capacity)
        }
    }

    func contains(where condition: (borrowing Block) -> Bool) -> Bool {
        for index in first..<end where condition(base[index]) { return true }
        return false
    }

    var picture: [String] {
        (first..<end).map { index in
            let (label, modes) = (base[index].label, base[index].modes)
            return "<Block \(label.text)>{\(modes.all.map(\.rawValue).joined(separator: ", "))}"
        }
    }

    private mutating func grow() {
        let larger = max(16, capacity * 2)
        let new = UnsafeMutablePointer<Block>.allocate(capacity: larger)
        new.moveInitialize(from: base + first, count: count)
        if capacity > 0 { base.deallocate() }
        base = new
        capacity = larger
        end = count
        first = 0
    }
}
