// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import CRunLoopsStackSampling
internal import RunLoopsLibC
internal import RunLoopsSystem

/// The code that is mapped into this process or another one, as listed by the kernel.
///
/// The dynamic loader's own list is not used: a thread that hangs may hold the loader's lock, and the list leads to
/// memory of libraries that are being unloaded.
struct LoadedCode {
    /// One mapping of code: where it is, and which file it comes from.
    struct Mapping {
        var code: rl_code
        var path: SystemText
        /// The path with the file's device and inode, which change when a library is built anew.
        var file: SystemText
        /// Where the file's beginning is mapped.
        var base: UInt64
    }

    /// The maximum size of the kernel's list, in bytes; a longer list is cut off.
    private static let maxBytes = 16 << 20

    private let list: [UInt8]
    let mappings: [Mapping]
    /// The code of the mappings, in ascending order of address.
    let codes: [rl_code]

    /// Returns the code that is mapped now; returns `previous` if nothing has changed since.
    ///
    /// - Complexity: O(n) in the mappings of the process; the kernel needs most of the time.
    static func now(after previous: LoadedCode? = nil) -> LoadedCode {
        // Not /proc/self, which is empty once the main thread has ended.
        var (list, count) = ([UInt8](), 1 << 14)
        repeat {
            count *= 4
            list = [UInt8](file: SystemText(prefixOf: "/proc/thread-self/maps".utf8), count: count)
        } while list.count == count && count < maxBytes
        if let previous, previous.list == list { return previous }
        return LoadedCode(list)
    }

    /// Makes a list of the code in a kernel's list.
    ///
    /// - Parameter file: Returns the file whose beginning is mapped at an address.
    init(_ list: [UInt8], file: (_ base: UInt64) -> ELFFile? = { ELFFile(at: $0) }) {
        self.list = list
        var mappings: [Mapping] = []
        var first: (path: ArraySlice<UInt8>, base: UInt64) = ([], 0)
        for line in list.split(separator: UInt8(ascii: "\n")) {
            // start-end rights offset device inode path
            let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
            guard fields.count == 6, let dash = fields[0].firstIndex(of: UInt8(ascii: "-")),
                let start = Self.number(fields[0][..<dash]), let end = Self.number(fields[0][(dash + 1)...])
            else { continue }
            let path = fields[5].drop { $0 == UInt8(ascii: " ") }
            // Memory without a file may lie between two parts of one file: qemu's list has spaces in place of its path.
            if path.isEmpty { continue }
            if fields[2].allSatisfy({ $0 == UInt8(ascii: "0") }) { first = (path, start) }
            guard fields[1].contains(UInt8(ascii: "x")), path == first.path, start < end else { continue }
            var mapping = Mapping(
                code: rl_code(start: start, end: end, bias: 0, index: 0, index_size: 0),
                path: SystemText(prefixOf: path),
                file: SystemText(prefixOf: line[fields[3].startIndex...]), base: first.base)
            file(first.base)?.place(&mapping.code, base: first.base)
            mappings.append(mapping)
        }
        self.mappings = mappings
        codes = mappings.map(\.code)
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        UInt64(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    /// Returns the mapping that contains an address.
    ///
    /// - Complexity: O(log n).
    func mapping(at address: UInt64) -> Mapping? {
        codes.withUnsafeBufferPointer { codes in
            rl_find_code(address, codes.baseAddress, codes.count).map { mappings[$0 - codes.baseAddress!] }
        }
    }
}

extension [UInt8] {
    /// Reads at most `count` bytes of a file from an offset on; empty if the file cannot be read.
    init(file path: SystemText, from offset: UInt64 = 0, count: Int) {
        self.init(unsafeUninitializedCapacity: count) { buffer, filled in
            // Without waiting: the file may have been replaced by a pipe.
            let file = path.withCString { rl_open($0, O_RDONLY | O_NONBLOCK, 0) }
            guard file >= 0 else { return }
            defer { close(file) }
            while filled < count {
                let place = off_t(truncatingIfNeeded: offset &+ UInt64(filled))
                let read = pread(file, buffer.baseAddress.unsafelyUnwrapped + filled, count - filled, place)
                if read <= 0 { return }
                filled += read
            }
        }
    }

    /// Reads at most `count` bytes of this process's memory from an address on, up to the first page that cannot be
    /// read.
    init(memory address: UInt64, count: Int) {
        self.init(unsafeUninitializedCapacity: count) { buffer, filled in
            filled = rl_copy_memory(address, buffer.baseAddress, count)
        }
    }
}
