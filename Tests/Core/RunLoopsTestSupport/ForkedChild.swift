// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

package import Glibc
import RunLoops

/// A child made by `fork`, which does what a test wants and ends.
///
/// The child has the calling thread alone. Only in an exit test: the child has the memory of all other tests, too.
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
    package init(_ body: () throws -> Bool) {
        let child = fork()
        precondition(child >= 0, "fork: errno \(errno)")
        process = child
        guard child == 0 else { return }
        // A child that hangs must not outlive the test's patience.
        alarm(600)
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
    package static func run(_ body: () throws -> Bool) -> End { ForkedChild(body).end() }
}
