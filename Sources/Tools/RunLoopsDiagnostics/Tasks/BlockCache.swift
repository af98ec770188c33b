// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Memory that is read in whole blocks, each of them once.
final class BlockCache<Memory: TaskMemory>: TaskMemory {
    /// The maximum number of blocks; when there are more, all are read anew.
    private static var maxBlocks: Int { 1024 }

    private let memory: Memory
    private let size: UInt64
    // Where tasks are not searched: the copies would be found as tasks again.
    private let scratch: SharedScratch
    /// The positions of blocks in the scratch by their addresses; `nil` for one that cannot be read as a whole.
    private var slots: [UInt64: Int?] = [:]
    private var used = 0

    init(_ memory: Memory) {
        self.memory = memory
        size = UInt64(memory.blockSize)
        scratch = SharedScratch(count: Self.maxBlocks * memory.blockSize)
    }

    /// The block of the reads since ``beginUse()``.
    private var usedBlock: UInt64?
    /// Whether all reads since ``beginUse()`` were in one block, which is of one time.
    private(set) var isOfOneBlock = true

    /// Begins to observe which blocks are read.
    func beginUse() { (usedBlock, isOfOneBlock) = (nil, true) }

    /// Forgets all blocks.
    func clear() { (slots, used) = ([:], 0) }

    func read(_ address: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Bool {
        var done = 0
        while done < buffer.count {
            let place = address &+ UInt64(done)
            let start = place - place % size
            if let usedBlock, usedBlock != start { isOfOneBlock = false }
            usedBlock = start
            guard let block = block(at: start) else {
                isOfOneBlock = false
                return memory.read(address, into: buffer)
            }
            let inside = Int(place % size)
            let part = block[inside..<min(block.count, inside + buffer.count - done)]
            UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + part.count])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: part))
            done += part.count
        }
        return true
    }

    private func block(at start: UInt64) -> UnsafeMutableRawBufferPointer? {
        if let slot = slots[start] { return slot.map(bytes) }
        if used == Self.maxBlocks { clear() }
        guard memory.read(start, into: bytes(used)) else {
            slots[start] = .some(nil)
            return nil
        }
        slots[start] = .some(used)
        used += 1
        return bytes(used - 1)
    }

    private func bytes(_ slot: Int) -> UnsafeMutableRawBufferPointer {
        // SAFETY: there are `maxBlocks` slots.
        UnsafeMutableRawBufferPointer(rebasing: scratch.bytes[slot * Int(size)..<(slot + 1) * Int(size)])
    }
}
