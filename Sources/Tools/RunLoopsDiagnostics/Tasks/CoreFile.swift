// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoopsLibC
internal import RunLoopsSystem

/// The memory of a process that has ended, as the kernel has written it to a core file.
///
/// Nothing in the file is trusted: tables are limited, arithmetic wraps, and what is not there cannot be read. Pages of files that
/// the kernel has left out are read from those files, if they are on this machine.
final class CoreFile: SearchableMemory {
    private struct Segment {
        var start: UInt64
        var end: UInt64
        /// The part that is in the file.
        var offset: UInt64
        var size: UInt64
        var flags: UInt32
    }

    private struct MappedFile {
        var start: UInt64
        var end: UInt64
        var offset: UInt64
        var path: SystemText
    }

    /// The maximum number of bytes of notes; 65,530 mapped files have fewer.
    private static let maxNoteBytes = 64 << 20
    private static let maxSegments = 1 << 17

    /// The number of the process.
    private(set) var process: Int32 = 0
    /// The path of the program.
    private(set) var program = SystemText(prefixOf: "".utf8)
    let isOwn = false

    private let file: PrivateDescriptor
    /// In ascending order of address.
    private var segments: [Segment] = []
    private var files: [MappedFile] = []

    /// Opens a core file.
    ///
    /// - Returns: `nil` if the file cannot be read, or is no core file of a 64-bit process.
    init?(path: SystemText) {
        let number = path.withCString { rl_open($0, O_RDONLY | O_NONBLOCK, 0) }
        guard number >= 0 else { return nil }
        file = PrivateDescriptor(adopting: number)
        let header = bytes(at: 0, count: 64)
        guard header.count == 64, header.number(UInt32.self, at: 0) == 0x464C_457F, header[4] == 2,
            header.number(UInt16.self, at: 16) == 4, header.number(UInt16.self, at: 54) == 56
        else { return nil }
        let table = header.number(UInt64.self, at: 32)
        var count = Int(header.number(UInt16.self, at: 56))
        if count == 0xFFFF {
            // More than fit: the number is in the first section.
            let section = bytes(at: header.number(UInt64.self, at: 40), count: 64)
            count = section.count == 64 ? Int(section.number(UInt32.self, at: 44)) : 0
        }
        let entries = bytes(at: table, count: min(count, Self.maxSegments) * 56)
        var notes: [UInt8] = []
        for place in stride(from: 0, to: entries.count - 55, by: 56) {
            let offset = entries.number(UInt64.self, at: place + 8)
            let start = entries.number(UInt64.self, at: place + 16)
            let size = entries.number(UInt64.self, at: place + 32)
            switch entries.number(UInt32.self, at: place) {
            case 1:
                let end = start &+ entries.number(UInt64.self, at: place + 40)
                guard start < end, size <= end - start else { continue }
                let flags = entries.number(UInt32.self, at: place + 4)
                segments.append(Segment(start: start, end: end, offset: offset, size: size, flags: flags))
            case 4: notes = bytes(at: offset, count: Int(clamping: min(size, UInt64(Self.maxNoteBytes))))
            default: break
            }
        }
        segments.sort { $0.start < $1.start }
        read(notes: notes)
        if segments.isEmpty || files.isEmpty { return nil }
    }

    private func bytes(at offset: UInt64, count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = Self.count(file.number, offset, into: UnsafeMutableRawBufferPointer(buffer))
        }
    }

    /// Reads from a file, and returns the number of bytes up to its end.
    private static func count(_ file: CInt, _ offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard let start = buffer.baseAddress, off_t(exactly: offset) != nil else { return 0 }
        var done = 0
        while done < buffer.count {
            let place = off_t(bitPattern: UInt(offset &+ UInt64(done)))
            // SAFETY: `done` is less than the size of the buffer.
            let count = pread(file, start + done, buffer.count - done, place)
            if count <= 0 { break }
            done += count
        }
        return done
    }

    // MARK: Notes

    private func read(notes: [UInt8]) {
        var place = 0
        var entry: UInt64 = 0
        while place + 12 <= notes.count {
            let nameSize = Int(notes.number(UInt32.self, at: place))
            let size = Int(notes.number(UInt32.self, at: place + 4))
            let body = place + 12 + (nameSize + 3) / 4 * 4
            guard body <= notes.count, size <= notes.count - body else { break }
            switch notes.number(UInt32.self, at: place + 8) {
            // The state of a thread; the first is the one that had the signal.
            case 1 where process == 0 && size >= 36: process = notes.number(Int32.self, at: body + 32)
            // The facts about the process.
            case 3 where size >= 28: process = notes.number(Int32.self, at: body + 24)
            // The kernel's list for the program: the address of the program's own table.
            case 6:
                for pair in stride(from: body, to: body + size - 15, by: 16)
                where notes.number(UInt64.self, at: pair) == 3 {
                    entry = notes.number(UInt64.self, at: pair + 8)
                }
            case 0x4649_4C45: readFiles(notes[body..<body + size])
            default: break
            }
            place = body + (size + 3) / 4 * 4
        }
        program = mappedFile(at: entry)?.path ?? files.first?.path ?? program
    }

    private func readFiles(_ slice: ArraySlice<UInt8>) {
        let note = Array(slice)
        guard note.count >= 16 else { return }
        let page = note.number(UInt64.self, at: 8)
        let most = (note.count - 16) / 24
        let count = Int(clamping: min(note.number(UInt64.self, at: 0), UInt64(most)))
        let names = note[(16 + count * 24)...].split(separator: 0, maxSplits: count, omittingEmptySubsequences: false)
        files = zip(0..<count, names).map { index, name in
            let place = 16 + index * 24
            return MappedFile(
                start: note.number(UInt64.self, at: place), end: note.number(UInt64.self, at: place + 8),
                offset: note.number(UInt64.self, at: place + 16) &* page, path: SystemText(prefixOf: name))
        }.filter { $0.start < $0.end }
        files.sort { $0.start < $1.start }
    }

    // MARK: Memory

    private func segment(at address: UInt64) -> Segment? {
        let index = segments.partitioningIndex { $0.start > address }
        guard index > 0, address < segments[index - 1].end else { return nil }
        return segments[index - 1]
    }

    private func mappedFile(at address: UInt64) -> MappedFile? {
        let index = files.partitioningIndex { $0.start > address }
        guard index > 0, address < files[index - 1].end else { return nil }
        return files[index - 1]
    }

    private var opened: [SystemText: PrivateDescriptor?] = [:]

    func read(_ address: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Bool {
        var done = 0
        while done < buffer.count {
            let place = address &+ UInt64(done)
            guard let segment = segment(at: place) else { return false }
            let part = UnsafeMutableRawBufferPointer(
                rebasing: buffer[done..<min(buffer.count, done + Int(clamping: segment.end - place))])
            let inside = place - segment.start
            let count: Int
            if inside < segment.size {
                let present = UnsafeMutableRawBufferPointer(
                    rebasing: part[..<min(part.count, Int(clamping: segment.size - inside))])
                count = Self.count(file.number, segment.offset &+ inside, into: present)
            } else {
                count = readMapped(place, into: part)
            }
            if count == 0 { return false }
            done += count
        }
        return true
    }

    /// Reads a page that the kernel has left out because it is in a file.
    private func readMapped(_ address: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard let mapped = mappedFile(at: address) else { return 0 }
        if opened[mapped.path] == nil {
            let number = mapped.path.withCString { rl_open($0, O_RDONLY | O_NONBLOCK, 0) }
            opened[mapped.path] = .some(number >= 0 ? PrivateDescriptor(adopting: number) : nil)
        }
        guard let file = opened[mapped.path] ?? nil else { return 0 }
        let part = UnsafeMutableRawBufferPointer(
            rebasing: buffer[..<min(buffer.count, Int(clamping: mapped.end - address))])
        return Self.count(file.number, mapped.offset &+ (address - mapped.start), into: part)
    }

    // MARK: Searching

    var symbolizer: Symbolizer { Symbolizer(.files(program: program)) }

    /// The memory, as the kernel lists that of a process.
    var list: [UInt8] {
        var list: [UInt8] = []
        for segment in segments {
            let rights = [("r", 4), ("w", 2), ("x", 1)].map { segment.flags & UInt32($0.1) != 0 ? $0.0 : "-" }
            let mapped = mappedFile(at: segment.start)
            let offset = mapped.map { $0.offset &+ (segment.start - $0.start) } ?? 0
            let place = "\(String(segment.start, radix: 16))-\(String(segment.end, radix: 16))"
            list += "\(place) \(rights.joined())p \(String(offset, radix: 16)) 00:00 0 ".utf8
            list += (mapped?.path.bytes ?? []) + [UInt8(ascii: "\n")]
        }
        return list
    }

    private static let pieceBytes = 4 << 20

    func addresses(
        of word: UInt64, in regions: [ProcessMemory.Region], most: Int
    ) -> (addresses: [UInt64], bytes: UInt64) {
        var (found, looked) = ([UInt64](), UInt64(0))
        for region in regions where region.canHaveTasks {
            guard let segment = segment(at: region.start) else { continue }
            var place = UInt64(0)
            while place < segment.size, found.count < most {
                let piece = bytes(
                    at: segment.offset &+ place, count: Int(min(UInt64(Self.pieceBytes), segment.size - place)))
                if piece.isEmpty { break }
                piece.withUnsafeBytes { piece in
                    for offset in stride(from: 0, to: piece.count - 7, by: 16)
                    where piece.loadUnaligned(fromByteOffset: offset, as: UInt64.self) == word && found.count < most {
                        found.append(segment.start &+ place &+ UInt64(offset))
                    }
                }
                place += UInt64(piece.count)
                looked += UInt64(piece.count)
            }
        }
        return (found, looked)
    }
}

extension Array {
    /// Returns the first position whose element belongs to the second part, in an array that is divided into two.
    fileprivate func partitioningIndex(where belongsToSecond: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = low + (high - low) / 2
            if belongsToSecond(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
