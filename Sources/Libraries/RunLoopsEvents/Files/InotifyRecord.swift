// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoops
internal import RunLoopsLibC
internal import RunLoopsSystem

/// The kernel's record of one change.
struct InotifyRecord: Equatable {
    var watch: CInt
    var mask: UInt32
    /// The same number for both halves of a move; 0 for all other changes.
    var cookie: UInt32 = 0
    var name = SystemText()
    /// How many bytes of the kernel's queue the record took.
    var size = MemoryLayout<inotify_event>.size

    func has(_ bits: CInt) -> Bool { mask & UInt32(bitPattern: bits) != 0 }

    /// The records in what was read from the descriptor.
    static func parse(_ bytes: UnsafeRawBufferPointer) -> [InotifyRecord] {
        let headerSize = MemoryLayout<inotify_event>.size
        var records: [InotifyRecord] = []
        var start = 0
        // The kernel gives whole records only.
        while start + headerSize <= bytes.count {
            let header = bytes.loadUnaligned(fromByteOffset: start, as: inotify_event.self)
            let end = min(bytes.count, start + headerSize + Int(header.len))
            records.append(
                InotifyRecord(
                    watch: header.wd, mask: header.mask, cookie: header.cookie,
                    // Padded with zeroes.
                    name: SystemText(prefixOf: bytes[(start + headerSize)..<end]), size: end - start))
            start = end
        }
        return records
    }
}

extension InotifyRecord {
    /// The records that are there: at most as many as a portion has room for.
    static func read(_ file: Descriptor) -> [InotifyRecord] {
        let portion = 65536
        return withUnsafeTemporaryAllocation(byteCount: portion, alignment: 16) { buffer in
            let count = rl_read(file.number, buffer.baseAddress, portion)
            return count > 0 ? parse(UnsafeRawBufferPointer(rebasing: buffer[..<Int(count)])) : []
        }
    }
}

/// Both halves of moves, found in a row of records.
struct MovePairs {
    /// The second half of the move that has begun at a place.
    private var seconds: [Int: Int] = [:]
    private var paired: Set<Int> = []
    /// Whether there is a first half without a second: the second half may still come.
    private(set) var isIncomplete = false

    init(_ records: [InotifyRecord]) {
        var firsts: [UInt32: Int] = [:]
        for (place, record) in records.enumerated() {
            if record.has(IN_MOVED_FROM) {
                firsts[record.cookie] = place
            } else if record.has(IN_MOVED_TO), let first = firsts.removeValue(forKey: record.cookie) {
                seconds[first] = place
                paired.insert(place)
            }
        }
        isIncomplete = !firsts.isEmpty
    }

    /// The place of the second half of the move that begins at `place`.
    func second(of place: Int) -> Int? { seconds[place] }

    /// Whether the record at `place` is the second half of a move that has been reported with its first half.
    func isSecond(_ place: Int) -> Bool { paired.contains(place) }
}
