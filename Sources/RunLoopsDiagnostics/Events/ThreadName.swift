// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// What threads are called.
enum ThreadName {
    /// The name of a thread of this process, as the kernel knows it; empty for a thread that has ended.
    static func ofThread(_ thread: Int32) -> String {
        let file = open("/proc/self/task/\(thread)/comm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        let bytes = [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
            count = max(0, read(file, buffer.baseAddress, 16))
        }
        return String(decoding: bytes.prefix { $0 != 10 }, as: UTF8.self)
    }
}
