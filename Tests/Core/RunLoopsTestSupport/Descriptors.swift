// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import Synchronization
package import Testing

/// A pipe or a pair of sockets, closed with the value's life.
///
/// The first end is for reading.
// Unchecked: a test uses each end from one thread at a time.
package final class DescriptorPair: @unchecked Sendable {
    package private(set) var first: CInt = -1
    package private(set) var second: CInt = -1

    private init(_ make: (UnsafeMutablePointer<CInt>) -> CInt) {
        var ends: [CInt] = [-1, -1]
        // Where the hard limit is low, other tests have all of them for a moment. One of the functions returns the error's number.
        var result = make(&ends)
        while result == -EMFILE || result == -1 && errno == EMFILE {
            usleep(1000)
            result = make(&ends)
        }
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
/// Only where no other test runs: in an exit test, behind ``letDispatchOpenItsTimers()``.
package func countOpenDescriptors() -> Int { countEntries("/proc/self/fd") }

/// How many numbers below 1024 are open descriptors; needs none itself.
package func countOpenNumbers() -> Int { (0..<CInt(1024)).count { fcntl($0, F_GETFD) >= 0 } }

/// Opens what Dispatch opens once, when the first task of a process sleeps, and then keeps.
///
/// The task of a test's time limit may be this first one, at any moment of the test.
package func letDispatchOpenItsTimers() async {
    // Longer than the way to the timer takes: a timer that is due at once needs no descriptor. Each clock has a timer of its own.
    try? await Task.sleep(for: .milliseconds(10), clock: .continuous)
    try? await Task.sleep(for: .milliseconds(10), clock: .suspending)
}

/// How many entries a directory has, its own two among them; -1 if there is no such directory.
package func countEntries(_ path: String) -> Int {
    guard let directory = opendir(path) else { return -1 }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    return count
}

/// Lets the process have as many descriptors as it may, where a test needs more than the usual thousand.
///
/// Returns how many that are.
@discardableResult
package func raiseDescriptorLimit() -> Int {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    // Not past what the tests need: some systems allow a thousand million.
    limit.rlim_cur = min(limit.rlim_max, 20_000)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return Int(limit.rlim_cur)
}

extension Trait where Self == ConditionTrait {
    /// The test is skipped where the process may not open that many descriptors, beside those of other tests.
    package static func needsDescriptors(_ count: Int) -> Self {
        .enabled("The hard limit of descriptors is too low: ulimit -Hn") {
            raiseDescriptorLimit() >= count + 500
        }
    }
}

/// A duplicate with a number that no other test gets, also when it is closed.
package func duplicateFarAway(_ descriptor: CInt) -> CInt {
    let highest = CInt(raiseDescriptorLimit()) - 10
    // The lowest that is free would be the number that another test has closed.
    let earlier = CInt(duplicates.wrappingAdd(1, ordering: .relaxed).oldValue % 5000)
    return fcntl(descriptor, F_DUPFD_CLOEXEC, highest - earlier % (highest / 4))
}

private let duplicates = Atomic<Int>(0)
