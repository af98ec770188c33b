// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsStackSampling
internal import RunLoopsLibC

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

    /// The parts that were read since ``beginUse()``.
    private var parts: [rl_memory_part] = []
    /// Their bytes, and room for as many that are read again.
    private let copies = SharedScratch(count: 2 * maxCopied)
    private static var maxCopied: Int { 16_384 }
    private var copied = 0

    /// Begins to keep what is read.
    func beginUse() {
        parts.removeAll(keepingCapacity: true)
        copied = 0
    }

    /// Reads anew everything that was read since ``beginUse()``, and returns whether it is the same.
    ///
    /// The blocks are of different times. What is the same now was so together now.
    var isUnchanged: Bool {
        guard copied <= Self.maxCopied, let old = copies.bytes.baseAddress else { return false }
        // SAFETY: there is room for `maxCopied` bytes twice.
        let new = UnsafeMutableRawBufferPointer(start: old + Self.maxCopied, count: copied)
        return memory.read(parts, into: new) && memcmp(old, old + Self.maxCopied, copied) == 0
    }

    private func keep(_ address: UInt64, _ bytes: UnsafeMutableRawBufferPointer) {
        let end = copied + bytes.count
        if end <= Self.maxCopied {
            UnsafeMutableRawBufferPointer(rebasing: copies.bytes[copied..<end]).copyMemory(from: .init(bytes))
            parts.append(rl_memory_part(address: address, size: UInt64(bytes.count)))
        }
        copied = end
    }

    /// Forgets all blocks.
    func clear() { (slots, used) = ([:], 0) }

    func read(_ address: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Bool {
        var done = 0
        while done < buffer.count {
            let place = address &+ UInt64(done)
            let start = place - place % size
            guard let block = block(at: start) else {
                guard memory.read(address, into: buffer) else { return false }
                keep(address, buffer)
                return true
            }
            let inside = Int(place % size)
            let part = block[inside..<min(block.count, inside + buffer.count - done)]
            UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + part.count])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: part))
            done += part.count
        }
        keep(address, buffer)
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
