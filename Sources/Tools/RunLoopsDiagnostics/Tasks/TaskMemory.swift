// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsStackSampling

/// Memory in which tasks are found and read: of this process, of another one, or of a test.
protocol TaskMemory {
    /// The number of bytes that are read at a time when many are needed; a power of two.
    var blockSize: Int { get }

    /// Copies the memory from an address on.
    ///
    /// - Returns: Whether the whole buffer could be filled; its contents are undefined otherwise.
    func read(_ address: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Bool

    /// Copies parts of the memory one behind the other, as near to one moment as the system can.
    ///
    /// - Returns: Whether all of them could be read; the buffer, which has their size, is undefined otherwise.
    func read(_ parts: [rl_memory_part], into buffer: UnsafeMutableRawBufferPointer) -> Bool
}

/// The whole memory of a process, in which tasks are searched.
protocol SearchableMemory: TaskMemory {
    /// The number of the process.
    var process: Int32 { get }
    /// Whether the process is this one.
    var isOwn: Bool { get }
    /// The kernel's list of the memory; empty once the process has ended.
    var list: [UInt8] { get }
    /// Finds the functions of the process.
    var symbolizer: Symbolizer { get }

    /// Returns the addresses at which a word is in the regions that can have tasks; each is a multiple of 16.
    ///
    /// - Parameter most: The maximum number of addresses.
    /// - Returns: The addresses, and the number of bytes that were looked at.
    func addresses(
        of word: UInt64, in regions: [ProcessMemory.Region], most: Int
    ) -> (addresses: [UInt64], bytes: UInt64)
}

extension TaskMemory {
    /// Four pages.
    var blockSize: Int { 16_384 }

    func read(_ parts: [rl_memory_part], into buffer: UnsafeMutableRawBufferPointer) -> Bool {
        readOneByOne(parts, into: buffer)
    }

    /// Copies parts of the memory one behind the other.
    func readOneByOne(_ parts: [rl_memory_part], into buffer: UnsafeMutableRawBufferPointer) -> Bool {
        var done = 0
        return parts.allSatisfy { part in
            let end = done + Int(part.size)
            defer { done = end }
            return read(part.address, into: UnsafeMutableRawBufferPointer(rebasing: buffer[done..<end]))
        }
    }

    /// Returns the number at an address; `nil` if it cannot be read.
    func number<Number: FixedWidthInteger & BitwiseCopyable>(_: Number.Type, at address: UInt64) -> Number? {
        var number: Number = 0
        // SAFETY: the buffer is the number, which has no invalid bits.
        return withUnsafeMutableBytes(of: &number) { read(address, into: $0) } ? number : nil
    }

    /// Returns `count` numbers of 64 bits from an address on; `nil` if they cannot all be read.
    func words(_ count: Int, at address: UInt64) -> [UInt64]? {
        var isRead = false
        let words = [UInt64](unsafeUninitializedCapacity: count) { buffer, filled in
            isRead = read(address, into: UnsafeMutableRawBufferPointer(buffer))
            filled = isRead ? count : 0
        }
        return isRead ? words : nil
    }

    /// Returns the text from an address up to a zero byte or `most` bytes; bytes that are not UTF-8 become U+FFFD.
    func text(at address: UInt64, most: Int) -> String? {
        var bytes: [UInt8] = []
        while bytes.count < most {
            // No piece crosses the end of a page, so that a text at the end of the memory can be read.
            let place = address &+ UInt64(bytes.count)
            var piece = [UInt8](repeating: 0, count: min(64 - Int(place % 64), most - bytes.count))
            guard piece.withUnsafeMutableBytes({ read(place, into: $0) }) else { return nil }
            if let end = piece.firstIndex(of: 0) {
                return String(decoding: bytes + piece[..<end], as: UTF8.self)
            }
            bytes += piece
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
