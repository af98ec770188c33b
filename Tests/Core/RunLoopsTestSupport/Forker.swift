// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CHoldingChild
import Glibc

private func awaitEnd(of child: pid_t) {
    while waitpid(child, nil, 0) == -1, errno == EINTR {}
}

/// The stack of a child, which has its parent's memory.
private func makeStack() -> UnsafeMutableRawPointer { .allocate(byteCount: 16 * 1024, alignment: 16) }

/// A child between `clone` and `exec`: it holds copies of all descriptors of this process, until a test lets it go.
package struct HoldingChild {
    private let process: pid_t
    private let stack = makeStack()
    /// The child reads its end: it ends with this process, too.
    private let life = DescriptorPair.pipe()

    package init() {
        process = holding_child_start(stack, life.first, life.second)
        precondition(process > 0, "clone: errno \(-process)")
    }

    /// Ends the child, and the copies with it.
    package func end() {
        kill(process, SIGKILL)
        awaitEnd(of: process)
        stack.deallocate()
    }
}

/// A thread that makes children without end, as a program that starts programs does.
///
/// Each child holds copies of all descriptors of this process for a while, as between `clone` and `exec` on a busy machine.
package final class Forker: Sendable {
    private let isEnding: Locked<Bool>
    private let forks: Locked<Int>
    private let thread: TestThread

    /// Returns when the first child has ended.
    ///
    /// A child lives for `hold` microseconds.
    package init(holding hold: UInt32) {
        let isEnding = Locked(false)
        let forks = Locked(0)
        self.isEnding = isEnding
        self.forks = forks
        thread = TestThread {
            let stack = makeStack()
            defer { stack.deallocate() }
            while !isEnding.copy {
                let child = holding_child_pass(stack, hold)
                if child > 0 { awaitEnd(of: child) }
                forks.increment()
            }
        }
        waitUntil { forks.count > 0 }
    }

    /// Ends the thread, and returns how many children there were.
    @discardableResult
    package func end() -> Int {
        isEnding.withLock { $0 = true }
        thread.join()
        return forks.count
    }
}
