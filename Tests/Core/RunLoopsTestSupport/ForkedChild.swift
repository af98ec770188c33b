// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CTestCalls
package import Glibc
import RunLoops

/// A child made by `fork`, which does what a test wants and ends.
///
/// The child has the calling thread alone, and every lock that another thread held at the fork stays locked in the child, also the Swift
/// runtime's own (`Guarantees.md` does not promise otherwise). So the fork waits until all other threads of the process sleep. A child that
/// has not ended after 20 seconds is killed by `SIGALRM`, and prints its stack.
///
/// Only in an exit test: the child has the memory of all other tests, too.
package struct ForkedChild: Sendable {
    /// How a child has ended.
    package enum End: Equatable, Sendable {
        /// What the child was to find was so.
        case good
        /// What the child was to find was not so, or it called `exit` with this code.
        case exited(CInt)
        case signalled(CInt)
    }

    package let process: pid_t

    /// Forks; the child ends when `body` has returned whether all was as it should be.
    ///
    /// `besideRunningThreads` forks at once: for a test whose other threads hold locks of this package, and have used all types that the child
    /// uses.
    package init(besideRunningThreads: Bool = false, _ body: () throws -> Bool) {
        test_prepare_alarm()
        if !besideRunningThreads { waitUntilOtherThreadsSleep() }
        let child = fork()
        precondition(child >= 0, "fork: errno \(errno)")
        process = child
        guard child == 0 else { return }
        // A child that hangs must not outlive the test's patience, and says where it hangs.
        test_set_alarm(20)
        var isGood = false
        do { isGood = try body() } catch { SystemCalls.writeToStandardError("a forked child threw \(error)\n") }
        // Not exit(), which would write what the parent has buffered a second time.
        _exit(isGood ? 0 : 1)
    }

    /// Waits for the child's end.
    package func end() -> End {
        var status: CInt = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        if status & 0x7F != 0 { return .signalled(status & 0x7F) }
        return status == 0 ? .good : .exited(status >> 8 & 0xFF)
    }

    /// Forks, and returns how the child has ended.
    package static func run(besideRunningThreads: Bool = false, _ body: () throws -> Bool) -> End {
        ForkedChild(besideRunningThreads: besideRunningThreads, body).end()
    }
}

/// Waits until two looks in a row find all other threads of the process asleep.
///
/// A thread that runs may hold a lock of the Swift runtime; a thread that waits for such a lock sleeps while its owner runs.
private func waitUntilOtherThreadsSleep() {
    let deadline = SystemCalls.now(.monotonic) + 20_000_000_000
    var quietLooks = 0
    while quietLooks < 2 {
        let running = otherThreads().filter { thread in
            // A thread without a status has ended.
            threadStatus(thread, "State:").map { !"SZXI".contains($0.first ?? "S") } ?? false
        }
        quietLooks = running.isEmpty ? quietLooks + 1 : 0
        guard !running.isEmpty else { continue }
        precondition(
            SystemCalls.now(.monotonic) < deadline,
            "a test forks beside threads that do not rest: \(running): let them sleep before ForkedChild is made")
        usleep(200)
    }
}

/// The numbers of all threads of the process but the calling one.
private func otherThreads() -> [Int32] {
    guard let folder = opendir("/proc/self/task") else { return [] }
    defer { closedir(folder) }
    var threads: [Int32] = []
    while let entry = readdir(folder) {
        // SAFETY: the kernel ends each name with a zero byte, and the entry lives until the next call.
        let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
            name.withMemoryRebound(to: CChar.self, capacity: 1) { String(cString: $0) }
        }
        if let thread = Int32(name), thread != SystemCalls.threadID { threads.append(thread) }
    }
    return threads
}
