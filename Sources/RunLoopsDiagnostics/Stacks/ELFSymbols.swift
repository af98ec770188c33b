// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The functions of one program or library, read from its file: also the functions that are not exported, which the
/// loader does not know.
struct ELFSymbols {
    private struct Function {
        var start: UInt64
        var size: UInt64
        /// Where its name begins in the file.
        var name: Int
    }

    private let file: MappedFile
    // In ascending order.
    private let functions: [Function]

    /// Reads the table; `nil` where the file is no ELF file of 64 bits, or has no symbols.
    ///
    /// - Complexity: O(n log n) in its functions.
    init?(path: String) {
        guard let file = MappedFile(path: path), file.read(UInt32.self, at: 0) == 0x464C_457F,
            file.read(UInt8.self, at: 4) == 2
        else { return nil }
        let sections = Section.all(of: file)
        // The full table is absent where the file was stripped; the other has the exported functions.
        guard let table = sections.first(where: { $0.type == 2 }) ?? sections.first(where: { $0.type == 11 }),
            let strings = sections.indices.contains(table.link) ? sections[table.link] : nil
        else { return nil }
        self.file = file
        functions = Self.functions(file, table, strings).sorted { $0.start < $1.start }
    }

    /// The function at an address of the file's own, its mangled name and its beginning.
    ///
    /// - Complexity: O(log n).
    func function(at address: UInt64) -> (name: String, start: UInt64)? {
        var (low, high) = (0, functions.count)
        while low < high {
            let middle = (low + high) / 2
            if functions[middle].start <= address { low = middle + 1 } else { high = middle }
        }
        guard low > 0, case let function = functions[low - 1],
            function.size == 0 || address - function.start < function.size
        else { return nil }
        return (file.text(at: function.name), function.start)
    }

    private static func functions(_ file: MappedFile, _ table: Section, _ strings: Section) -> [Function] {
        let entry = 24
        return (0..<table.size / entry).compactMap { index in
            let at = table.offset + index * entry
            guard let name = file.read(UInt32.self, at: at), let info = file.read(UInt8.self, at: at + 4),
                let section = file.read(UInt16.self, at: at + 6), let start = file.read(UInt64.self, at: at + 8),
                let size = file.read(UInt64.self, at: at + 16)
            else { return nil }
            // A function that is defined here.
            guard info & 0xF == 2, section != 0 else { return nil }
            return Function(start: start, size: size, name: strings.offset + Int(name))
        }
    }
}

extension ELFSymbols {
    private struct Section {
        var type: UInt32
        var offset: Int
        var size: Int
        var link: Int

        static func all(of file: MappedFile) -> [Section] {
            guard let table = file.read(UInt64.self, at: 40).flatMap(Int.init(exactly:)),
                let size = file.read(UInt16.self, at: 58), let count = file.read(UInt16.self, at: 60)
            else { return [] }
            return (0..<Int(count)).compactMap { index in
                let at = table + index * Int(size)
                guard let type = file.read(UInt32.self, at: at + 4),
                    let offset = file.read(UInt64.self, at: at + 24).flatMap(Int.init(exactly:)),
                    let size = file.read(UInt64.self, at: at + 32).flatMap(Int.init(exactly:)),
                    let link = file.read(UInt32.self, at: at + 40)
                else { return nil }
                return Section(type: type, offset: offset, size: size, link: Int(link))
            }
        }
    }
}

/// A file as memory, as long as the value lives.
final class MappedFile {
    // SAFETY: mapped for reading, unmapped in deinit; each read is checked against the length.
    private let bytes: UnsafeRawBufferPointer

    init?(path: String) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_size > 0,
            let start = mmap(nil, Int(status.st_size), PROT_READ, MAP_PRIVATE, file, 0), start != MAP_FAILED
        else { return nil }
        bytes = UnsafeRawBufferPointer(start: start, count: Int(status.st_size))
    }

    deinit { munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count) }

    func read<Value: FixedWidthInteger & BitwiseCopyable>(_: Value.Type, at offset: Int) -> Value? {
        let size = MemoryLayout<Value>.size
        guard offset >= 0, offset <= bytes.count - size else { return nil }
        return bytes.loadUnaligned(fromByteOffset: offset, as: Value.self)
    }

    /// The text from there to the next zero.
    func text(at offset: Int) -> String {
        guard bytes.indices.contains(offset) else { return "" }
        return String(decoding: bytes[offset...].prefix { $0 != 0 }, as: UTF8.self)
    }
}
