// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsStackSampling
internal import RunLoopsSystem

/// A 64-bit ELF file on the disk or mapped into memory.
///
/// The file's contents are not trusted: the loader has not checked the parts that are read here, and a file on the disk
/// may change. Arithmetic wraps, tables end where the file ends, and the amount that is read has fixed limits.
struct ELFFile {
    /// One function that is defined in the file.
    struct Function {
        var start: UInt64
        var size: UInt64
        /// The offset of the function's name in the file.
        var name: UInt64
    }

    /// Returns `count` bytes of the file from an offset on; fewer if the file ends before.
    private let read: (_ offset: UInt64, _ count: Int) -> [UInt8]
    private let header: [UInt8]

    /// Makes a view of the file that `read` reads.
    ///
    /// - Parameter read: Returns `count` bytes of the file from an offset on; fewer if the file ends before.
    /// - Returns: `nil` if the bytes are not those of a 64-bit ELF file.
    init?(read: @escaping (_ offset: UInt64, _ count: Int) -> [UInt8]) {
        self.read = read
        header = read(0, 64)
        guard header.count == 64, header.number(UInt32.self, at: 0) == 0x464C_457F, header[4] == 2 else { return nil }
    }

    /// Reads the file whose beginning is mapped at the address.
    init?(at base: UInt64) { self.init { [UInt8](memory: base &+ $0, count: $1) } }

    init?(path: SystemText) { self.init { [UInt8](file: path, from: $0, count: $1) } }

    // MARK: What is mapped

    /// Enters the location of the mapped file's unwinding tables into `code`.
    func place(_ code: inout rl_code, base: UInt64) {
        guard header.number(UInt16.self, at: 54) == 56 else { return }
        var hasBias = false
        entries(56, from: header.number(UInt64.self, at: 32), count: Int(header.number(UInt16.self, at: 56))) {
            table, entry in
            let address = table.number(UInt64.self, at: entry + 16)
            switch table.number(UInt32.self, at: entry) {
            case 1 where !hasBias:
                // The first segment that is loaded, at the beginning of the file.
                code.bias = base &- address &+ table.number(UInt64.self, at: entry + 8)
                hasBias = true
            case 0x6474_E550:
                code.index = code.bias &+ address
                code.index_size = table.number(UInt64.self, at: entry + 40)
            default: break
            }
        }
        // The index may stand before the first segment in the table.
        if !hasBias { code.index_size = 0 }
    }

    // MARK: Names

    /// The maximum number of functions that are read.
    private static let maxFunctions = 4 << 20
    private static let maxNameLength = 4096
    /// The maximum size of the names of a file that are read at once.
    private static let maxNameBytes = 64 << 20

    private struct Section {
        var type: UInt32
        var offset: UInt64
        var size: UInt64
        var link: Int
    }

    /// The functions in ascending order of address, including those that are not exported; in a stripped file the
    /// exported functions alone.
    ///
    /// - Complexity: O(n log n) in the functions.
    func functions() -> [Function] {
        let sections = sections()
        guard let table = sections.first(where: { $0.type == 2 }) ?? sections.first(where: { $0.type == 11 }) else {
            return []
        }
        return symbols(of: 2, in: table, sections).sorted { $0.start < $1.start }
    }

    /// Returns the addresses of variables, exported or not, as the file gives them before it is mapped.
    ///
    /// - Parameter names: The names of the variables, each of 8 bytes at most, of which the file is asked.
    func variables(_ names: Set<String>) -> [String: UInt64] {
        var found: [String: UInt64] = [:]
        let wanted = names.map { (name: $0, bytes: Array($0.utf8) + [0]) }
        let sections = sections()
        for table in sections where (table.type == 2 || table.type == 11) && sections.indices.contains(table.link) {
            // All names at once: a file has thousands of variables.
            let strings = sections[table.link]
            let text = read(strings.offset, Int(min(strings.size, UInt64(Self.maxNameBytes))))
            for symbol in symbols(of: 1, in: table, sections) where 1...8 ~= symbol.size {
                guard let start = Int(exactly: symbol.name &- strings.offset), start < text.count else { continue }
                for one in wanted where text[start...].starts(with: one.bytes) { found[one.name] = symbol.start }
            }
            if found.count == names.count { break }
        }
        return found
    }

    private func sections() -> [Section] {
        var sections: [Section] = []
        guard header.number(UInt16.self, at: 58) == 64 else { return [] }
        entries(64, from: header.number(UInt64.self, at: 40), count: Int(header.number(UInt16.self, at: 60))) {
            table, entry in
            sections.append(
                Section(
                    type: table.number(UInt32.self, at: entry + 4), offset: table.number(UInt64.self, at: entry + 24),
                    size: table.number(UInt64.self, at: entry + 32),
                    link: Int(table.number(UInt32.self, at: entry + 40))))
        }
        return sections
    }

    /// Returns the symbols of a kind that are defined in the file.
    private func symbols(of kind: UInt8, in table: Section, _ sections: [Section]) -> [Function] {
        guard sections.indices.contains(table.link) else { return [] }
        let names = sections[table.link].offset
        var symbols: [Function] = []
        entries(24, from: table.offset, count: Int(min(table.size / 24, UInt64(Self.maxFunctions)))) { table, entry in
            // A symbol that is defined here.
            guard table[entry + 4] & 0xF == kind, table.number(UInt16.self, at: entry + 6) != 0 else { return }
            symbols.append(
                Function(
                    start: table.number(UInt64.self, at: entry + 8), size: table.number(UInt64.self, at: entry + 16),
                    name: names &+ UInt64(table.number(UInt32.self, at: entry))))
        }
        return symbols
    }

    /// A function's mangled name, of at most 4,096 bytes.
    struct Name {
        let text: String
        /// Whether the name in the file is longer.
        let isCut: Bool
    }

    /// A function's mangled name.
    func name(of function: Function) -> Name {
        let bytes = read(function.name, Self.maxNameLength)
        let end = bytes.firstIndex(of: 0)
        return Name(text: String(decoding: bytes[..<(end ?? bytes.count)], as: UTF8.self), isCut: end == nil)
    }

    /// Calls `body` with each entry of a table, as far as the file reaches: with a part of the table, and the entry's place in it.
    private func entries(_ size: Int, from offset: UInt64, count: Int, _ body: ([UInt8], Int) -> Void) {
        let most = (1 << 16) / size
        for first in stride(from: 0, to: count, by: most) {
            let wanted = min(most, count - first)
            let bytes = read(offset &+ UInt64(first * size), wanted * size)
            for start in stride(from: 0, through: bytes.count - size, by: size) { body(bytes, start) }
            if bytes.count < wanted * size { return }
        }
    }
}

extension [ELFFile.Function] {
    /// Returns the function at an address as the file counts it, before the file is mapped.
    ///
    /// - Complexity: O(log n).
    func function(at address: UInt64) -> ELFFile.Function? {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].start <= address { low = middle + 1 } else { high = middle }
        }
        guard low > 0, case let function = self[low - 1], function.size == 0 || address - function.start < function.size
        else { return nil }
        return function
    }
}

extension [UInt8] {
    /// Returns the number at an offset, which must be inside the array.
    func number<Number: FixedWidthInteger & BitwiseCopyable>(_: Number.Type, at offset: Int) -> Number {
        withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Number.self) }
    }
}
