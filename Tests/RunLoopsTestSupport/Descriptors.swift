// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CLinuxKernel
import Glibc

/// A pipe or a pair of sockets, closed with the value's life.
///
/// The first end is for reading.
// Unchecked: a test uses each end from one thread at a time.
package final class DescriptorPair: @unchecked Sendable {
    package private(set) var first: CInt = -1
    package private(set) var second: CInt = -1

    private init(_ make: (UnsafeMutablePointer<CInt>) -> CInt) {
        var ends: [CInt] = [-1, -1]
        let result = make(&ends)
        precondition(result == 0, "no descriptors: \(result), errno \(errno)")
        (first, second) = (ends[0], ends[1])
    }

    deinit {
        closeFirst()
        closeSecond()
    }

    package static func pipe() -> DescriptorPair {
        // In one step: other tests start processes, which would keep an end open.
        DescriptorPair { rl_pipe($0) }
    }

    package static func sockets() -> DescriptorPair {
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        return DescriptorPair { socketpair(AF_UNIX, kind, 0, $0) }
    }

    /// Writes into the second end.
    package func send(_ text: String = "x") {
        let written = text.withCString { write(second, $0, strlen($0)) }
        precondition(written == text.utf8.count, "write: \(written), errno \(errno)")
    }

    package func closeFirst() {
        if first >= 0 { close(first) }
        first = -1
    }

    package func closeSecond() {
        if second >= 0 { close(second) }
        second = -1
    }
}

/// Reads what there is, up to 4096 bytes; nothing at the end of the stream and when there is nothing.
@discardableResult
package func readText(_ descriptor: CInt) -> String {
    let capacity = 4096
    let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
        count = max(0, read(descriptor, buffer.baseAddress, capacity))
    }
    return String(decoding: bytes, as: UTF8.self)
}

/// How many descriptors the process has open.
///
/// Only where no other test runs: in an exit test.
package func countOpenDescriptors() -> Int { countEntries("/proc/self/fd") }

/// How many entries a directory has, its own two among them; -1 if there is no such directory.
package func countEntries(_ path: String) -> Int {
    guard let directory = opendir(path) else { return -1 }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    return count
}

/// Lets the process have as many descriptors as it may, where a test needs more than the usual thousand.
package func raiseDescriptorLimit() {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    // Not past what the tests need: some systems allow a thousand million.
    limit.rlim_cur = min(limit.rlim_max, 20_000)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}

/// A duplicate with a number that no other test gets, also when it is closed.
package func duplicateFarAway(_ descriptor: CInt) -> CInt {
    raiseDescriptorLimit()
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return fcntl(descriptor, F_DUPFD_CLOEXEC, CInt(limit.rlim_cur) - 10)
}
