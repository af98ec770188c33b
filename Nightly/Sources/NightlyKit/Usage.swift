// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What the process uses, as the kernel tells.
package struct Usage: Sendable {
    /// Resident memory in KiB.
    package let memory: Int
    /// Address space in KiB.
    package let addressSpace: Int
    /// Descriptors that are open.
    package let descriptors: Int
    /// Threads that live.
    package let threads: Int

    /// What this process uses now.
    package static var now: Usage {
        Usage(
            memory: status("VmRSS:"), addressSpace: status("VmSize:"), descriptors: entries("/proc/self/fd"),
            threads: entries("/proc/self/task"))
    }

    /// The same after the allocator has given back what is free: what is resident then is in use.
    package static var trimmed: Usage {
        // Swift does not see malloc_trim.
        if let trim = dlsym(nil, "malloc_trim") {
            _ = unsafeBitCast(trim, to: (@convention(c) (Int) -> CInt).self)(0)
        }
        return now
    }

    private static func status(_ key: String) -> Int {
        guard let file = fopen("/proc/self/status", "r") else { return -1 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, CInt(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard text.hasPrefix(key) else { continue }
            return text.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? -1
        }
        return -1
    }

    private static func entries(_ path: String) -> Int {
        guard let folder = opendir(path) else { return -1 }
        defer { closedir(folder) }
        var count = 0
        while let entry = readdir(folder) { if entry.pointee.d_name.0 != CChar(UInt8(ascii: ".")) { count += 1 } }
        return count
    }
}

/// Processor time that this process has used.
package func processorTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
