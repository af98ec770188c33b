// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel

/// This process's environment variables, which another thread may be changing.
///
/// `setenv(3)` moves the array of variables and releases the old one, under a lock that only the C library can take. A
/// thread that follows `environ` meanwhile, as `getenv(3)` does, can read released memory. This type copies the array and
/// the variables through the kernel, which reports an error instead, and tries again until two looks at the array are equal.
package enum ProcessEnvironment {
    /// How often the array is looked at while it changes; then the variables that were there both times are the answer.
    private static let attempts = 1000

    /// Returns the value of a variable, and of the first if there are several of the name; `nil` if there is none.
    ///
    /// - Complexity: O(n) in the bytes of all variables.
    package static func value(of name: String) -> SystemText? { value(of: name, in: variables()) }

    /// Returns the value of a variable in a list of variables.
    package static func value(of name: String, in variables: [SystemText]) -> SystemText? {
        let start = Array("\(name)=".utf8)
        guard let variable = variables.first(where: { $0.bytes.starts(with: start) }) else { return nil }
        return SystemText(prefixOf: variable.bytes.dropFirst(start.count))
    }

    /// Returns a copy of all variables, each with its name, an equals sign and its value.
    ///
    /// - Complexity: O(n) in the bytes of all variables, and a system call for each page that they are on.
    package static func variables() -> [SystemText] { variables(in: Memory()) { rl_environment() } }

    /// The same for any array and memory, for tests.
    static func variables(
        in memory: Memory, _ array: () -> UnsafePointer<UnsafeMutablePointer<CChar>?>?
    ) -> [SystemText] {
        var known: [UInt: SystemText] = [:]
        var before = memory.pointers(array())
        for _ in 0..<attempts {
            var page = Memory.Page()
            for place in before ?? [] where known[place] == nil { known[place] = memory.text(at: place, &page) }
            let after = memory.pointers(array())
            if let after, after == before, after.allSatisfy({ known[$0] != nil }) { break }
            // The text of a place that is not in the array any longer may have been anything.
            let places = Set(after ?? [])
            known = known.filter { places.contains($0.key) }
            before = after
        }
        return (before ?? []).compactMap { known[$0] }
    }

    /// This process's memory, of which any part may be released.
    struct Memory {
        /// The piece of memory that was copied last: the variables that a process starts with lie side by side.
        struct Page {
            var start: UInt = 0
            var bytes: [UInt8] = []
        }

        private static let pageSize: UInt = 4096
        private let copy: (UInt64, UnsafeMutableRawPointer?, Int) -> Int

        init() {
            let copyByKernel = rl_permits(RL_CALL_PROCESS_VM_READV) ? rl_copy_memory : rl_copy_memory_by_file
            var probe: UInt8 = 1
            var seen: UInt8 = 0
            let canCopy = withUnsafePointer(to: &probe) { copyByKernel(UInt64(UInt(bitPattern: $0)), &seen, 1) == 1 }
            // A sandbox may leave no way through the kernel. Then reading is what getenv does.
            copy =
                canCopy
                ? { copyByKernel($0, $1, $2) }
                : { from, to, count in
                    guard let start = UnsafeRawPointer(bitPattern: UInt(from)) else { return 0 }
                    to?.copyMemory(from: start, byteCount: count)
                    return count
                }
        }

        /// Returns the bytes from `address` to the end of its page; empty if they cannot be read.
        private func bytes(at address: UInt, _ page: inout Page) -> ArraySlice<UInt8> {
            if address &- page.start >= UInt(page.bytes.count) {
                let count = Int(Self.pageSize - address % Self.pageSize)
                page.start = address
                page.bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
                    filled = copy(UInt64(address), buffer.baseAddress, count)
                }
            }
            return page.bytes[Int(address &- page.start)...]
        }

        /// Returns the text that ends with a zero; `nil` if it cannot be read as a whole.
        func text(at address: UInt, _ page: inout Page) -> SystemText? {
            var text: [UInt8] = []
            while case let bytes = bytes(at: address &+ UInt(text.count), &page), !bytes.isEmpty {
                let piece = bytes.prefix { $0 != 0 }
                text += piece
                if piece.count < bytes.count { return SystemText(text) }
            }
            return nil
        }

        /// Returns the addresses before the null pointer at the end of an array; `nil` if it cannot be read as a whole.
        func pointers(_ array: UnsafePointer<UnsafeMutablePointer<CChar>?>?) -> [UInt]? {
            guard let array else { return [] }
            let size = MemoryLayout<UInt>.size
            var page = Page()
            var pointers: [UInt] = []
            while true {
                let bytes = bytes(at: UInt(bitPattern: array) &+ UInt(pointers.count * size), &page)
                if bytes.count < size { return nil }
                for start in stride(from: bytes.startIndex, to: bytes.endIndex - size + 1, by: size) {
                    let pointer = bytes.withUnsafeBytes {
                        $0.loadUnaligned(fromByteOffset: start - bytes.startIndex, as: UInt.self)
                    }
                    if pointer == 0 { return pointers }
                    pointers.append(pointer)
                }
            }
        }
    }
}
