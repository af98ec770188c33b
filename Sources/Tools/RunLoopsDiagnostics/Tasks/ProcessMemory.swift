// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import CRunLoopsStackSampling
internal import RunLoopsLibC
internal import RunLoopsSystem

/// The memory of a process, or of this one, read while the process goes on.
///
/// The descriptor stays with the program that the process executes: it reads nothing once that program has ended, even
/// if another process gets the number.
final class ProcessMemory: SearchableMemory {
    /// One part of the memory, as listed by the kernel.
    struct Region {
        var start: UInt64
        var end: UInt64
        /// Whether tasks can be in the region: it is writable, private, not of a file, and can be filled.
        var canHaveTasks: Bool
        var path: ArraySlice<UInt8>
    }

    /// The reason why the memory of a process cannot be read.
    enum Refusal: Error, Equatable {
        case noProcess
        case notPermitted
        /// A process without memory: it has ended and its parent has not asked for its status, or it is the kernel's.
        case empty
    }

    /// The maximum size of the kernel's list in bytes; a process has 65,530 regions at most, unless it is permitted more.
    private static let maxListBytes = 64 << 20
    private static let pageSize = UInt64(sysconf(CInt(_SC_PAGESIZE)))
    /// The size up to which a region is searched: twice the machine's memory, which leaves as much for swap.
    ///
    /// A region that is larger cannot be filled, so it is no heap. The sanitizers have tables of 15 TiB, and to ask which of
    /// their pages were touched takes minutes.
    private static let maxRegionBytes = max(64 << 30, 2 * UInt64(max(0, sysconf(CInt(_SC_PHYS_PAGES)))) * pageSize)

    let process: Int32
    /// Whether the process is this one, which needs no rights.
    let isOwn: Bool
    private let memory: PrivateDescriptor
    private let scratch: SharedScratch
    /// One word for each page; without it all pages are read.
    private let pages: PrivateDescriptor?

    /// Opens the memory of a process.
    ///
    /// - Parameters:
    ///   - process: The number of the process. Its memory can be read by those who may trace it.
    ///   - asksForPages: Whether pages that the process has never touched are left out of a search.
    init(of process: Int32, asksForPages: Bool = true) throws(Refusal) {
        self.process = process
        isOwn = process == getpid()
        scratch = SharedScratch(count: Self.pieceBytes)
        let memory = Self.open(process, "mem")
        guard memory >= 0 else { throw memory == -EACCES || memory == -EPERM ? .notPermitted : .noProcess }
        self.memory = PrivateDescriptor(adopting: memory)
        let pages = asksForPages ? Self.open(process, "pagemap") : -1
        self.pages = pages >= 0 ? PrivateDescriptor(adopting: pages) : nil
        if list.isEmpty { throw .empty }
    }

    private static func open(_ process: Int32, _ name: String) -> CInt {
        SystemText(prefixOf: "\(folder(process))/\(name)".utf8).withCString { rl_open($0, O_RDONLY, 0) }
    }

    /// The folder of a process in /proc; of this one, that of the calling thread, since the main thread's is empty once that
    /// thread has ended.
    static func folder(_ process: Int32) -> String { process == getpid() ? "/proc/thread-self" : "/proc/\(process)" }

    func read(_ address: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Bool {
        count(address, into: buffer).bytes == buffer.count
    }

    func read(_ parts: [rl_memory_part], into buffer: UnsafeMutableRawBufferPointer) -> Bool {
        // A filter of system calls may end a program that reads its own memory in this way, but not by its file. Another
        // process may have the number by now: its memory is not what was read before.
        !isOwn && rl_copy_parts(process, parts, parts.count, buffer.baseAddress, buffer.count)
            || readOneByOne(parts, into: buffer)
    }

    /// Copies the memory from an address on, and returns the number of bytes up to what cannot be read, and whether the
    /// process has no memory any longer.
    private func count(_ address: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> (bytes: Int, isEnded: Bool) {
        guard let start = buffer.baseAddress, let place = off_t(exactly: address) else { return (0, false) }
        var done = 0
        while done < buffer.count {
            // SAFETY: `done` is less than the size of the buffer.
            let count = pread(memory.number, start + done, buffer.count - done, place &+ off_t(done))
            if count <= 0 { return (done, count == 0) }
            done += count
        }
        return (done, false)
    }

    var symbolizer: Symbolizer { Symbolizer(isOwn ? .own : .process(process)) }

    /// Calls `body` with a function of C that copies from this memory, on this thread.
    func use(_ body: (rl_copy) -> Void) {
        rl_use_memory(memory.number)
        body(rl_copy_used_memory)
        rl_use_memory(-1)
    }

    /// The kernel's list of the process's memory as it is now; empty once the process has ended.
    var list: [UInt8] {
        let path = SystemText(prefixOf: "\(Self.folder(process))/maps".utf8)
        var (list, size) = ([UInt8](), 1 << 16)
        repeat {
            size *= 4
            list = [UInt8](file: path, count: size)
        } while list.count == size && size < Self.maxListBytes
        return list
    }

    /// Returns the regions of a list in the order of their addresses.
    ///
    /// The kernel lists a region that grows while it makes the list a second time, with its new size. No two of the returned
    /// regions overlap.
    static func regions(_ list: [UInt8]) -> [Region] {
        var last: UInt64 = 0
        return list.split(separator: UInt8(ascii: "\n")).compactMap { line in
            // start-end rights offset device inode path
            let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
            guard fields.count >= 5, let dash = fields[0].firstIndex(of: UInt8(ascii: "-")),
                let start = UInt64(String(decoding: fields[0][..<dash], as: UTF8.self), radix: 16),
                let end = UInt64(String(decoding: fields[0][(dash + 1)...], as: UTF8.self), radix: 16), start < end,
                last < end
            else { return nil }
            defer { last = end }
            let path = fields.count > 5 ? fields[5].drop { $0 == UInt8(ascii: " ") } : []
            let rights = String(decoding: fields[1], as: UTF8.self)
            return Region(
                start: max(start, last), end: end,
                canHaveTasks: rights.hasPrefix("rw") && rights.hasSuffix("p") && path.first != UInt8(ascii: "/")
                    && !path.elementsEqual("[vvar]".utf8) && end - start <= maxRegionBytes,
                path: path)
        }
    }

    // MARK: Finding a word

    private static let pieceBytes = 4 << 20

    /// Returns the addresses at which a word is in the regions that can have tasks; each is a multiple of 16.
    ///
    /// - Parameter most: The maximum number of addresses.
    /// - Returns: The addresses, and the number of bytes that were looked at: pages that the process has never touched
    ///   are left out.
    /// - Complexity: O(n) in the pages that the process has touched.
    func addresses(of word: UInt64, in regions: [Region], most: Int) -> (addresses: [UInt64], bytes: UInt64) {
        var (found, looked) = ([UInt64](), UInt64(0))
        let piece = scratch.bytes
        for region in regions where region.canHaveTasks {
            var place = region.start
            while place < region.end, found.count < most {
                let end = min(region.end, place &+ UInt64(Self.pieceBytes))
                for touched in touched(place..<end) {
                    var start = touched.lowerBound
                    while start < touched.upperBound {
                        // SAFETY: no part is longer than a piece.
                        let part = UnsafeMutableRawBufferPointer(rebasing: piece[..<Int(touched.upperBound - start)])
                        let (count, isEnded) = count(start, into: part)
                        if isEnded { return (found, looked) }
                        looked += UInt64(count)
                        Self.append(&found, word, in: part.baseAddress, count, at: start, most: most)
                        // A page may have been given back meanwhile; those behind it are read.
                        start += (UInt64(count) / Self.pageSize + 1) * Self.pageSize
                    }
                }
                place = end
            }
        }
        return (found, looked)
    }

    private static func append(
        _ found: inout [UInt64], _ word: UInt64, in memory: UnsafeMutableRawPointer?, _ count: Int, at address: UInt64,
        most: Int
    ) {
        guard let memory else { return }
        // SAFETY: `count` bytes at `memory` are initialized, and aligned to 16 bytes.
        let words = memory.assumingMemoryBound(to: UInt64.self)
        var index = 0
        while index < count / 8 {
            if words[index] == word, found.count < most { found.append(address &+ UInt64(index * 8)) }
            index += 2
        }
    }

    /// Returns the parts of a range of pages that the process has touched: in memory or swapped out.
    private func touched(_ range: Range<UInt64>) -> [Range<UInt64>] {
        let count = Int((range.upperBound - range.lowerBound) / Self.pageSize)
        guard let pages, count > 0 else { return [range] }
        var isRead = false
        let entries = [UInt64](unsafeUninitializedCapacity: count) { buffer, filled in
            let place = off_t(range.lowerBound / Self.pageSize * 8)
            isRead = pread(pages.number, buffer.baseAddress, count * 8, place) == count * 8
            filled = isRead ? count : 0
        }
        guard isRead else { return [range] }
        var ranges: [Range<UInt64>] = []
        var start: Int?
        for index in 0...count {
            // Bit 63: present; bit 62: swapped out.
            let isTouched = index < count && entries[index] >> 62 != 0
            if isTouched, start == nil { start = index }
            if !isTouched, let first = start {
                let end = range.lowerBound + UInt64(index) * Self.pageSize
                ranges.append(range.lowerBound + UInt64(first) * Self.pageSize..<end)
                start = nil
            }
        }
        return ranges
    }
}
