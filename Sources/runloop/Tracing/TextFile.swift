// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CLinuxKernel

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Whole files of text.
enum TextFile {
    static func read(_ file: String) throws -> String {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CommandEnd.failure("\(file): \(reason(errno))") }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 1)
        defer { piece.deallocate() }
        while true {
            let count = Int(rl_read(descriptor, piece.baseAddress, piece.count))
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            if count > 0 {
                bytes += piece[..<count]
            } else {
                throw CommandEnd.failure("\(file): \(reason(CInt(-count)))")
            }
        }
    }

    static func write(_ text: String, to file: String) throws {
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw CommandEnd.failure("\(file): \(reason(errno))") }
        defer { close(descriptor) }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { rl_write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 { throw CommandEnd.failure("\(file): \(reason(-count))") }
            rest = rest.dropFirst(Int(count))
        }
    }
}

/// What an error number means.
func reason(_ code: CInt) -> String { String(cString: strerror(code)) }
