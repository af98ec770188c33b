// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Makes a child without the handlers of `pthread_atfork`, as `posix_spawn` does: what they close in a child, this child keeps.
///
/// Until the child ends it may only call what a signal handler may call: other threads may have held any lock.
private func forkBare() -> pid_t {
    guard let address = dlsym(nil, "_Fork") else { preconditionFailure("this C library has no _Fork") }
    // SAFETY: _Fork(3) has this type.
    return unsafeBitCast(address, to: (@convention(c) () -> pid_t).self)()
}

private func awaitEnd(of child: pid_t) {
    while waitpid(child, nil, 0) == -1, errno == EINTR {}
}

/// A child between `fork` and `exec`: it holds copies of all descriptors of this process, until a test lets it go.
package struct HoldingChild {
    private let process: pid_t
    /// The child reads its end: it ends with this process, too.
    private let life = DescriptorPair.pipe()

    package init() {
        let (read, written) = (life.first, life.second)
        process = forkBare()
        precondition(process >= 0, "_Fork: errno \(errno)")
        guard process == 0 else { return }
        close(written)
        var wanted = pollfd(fd: read, events: Int16(POLLIN), revents: 0)
        while poll(&wanted, 1, -1) < 0 {}
        _exit(0)
    }

    /// Ends the child, and the copies with it.
    package func end() {
        kill(process, SIGKILL)
        awaitEnd(of: process)
    }
}

/// A thread that forks children without end, as a program that starts programs does.
///
/// Each child holds copies of all descriptors of this process for a while, as between `fork` and `exec` on a busy machine.
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
            while !isEnding.copy {
                let child = forkBare()
                if child == 0 {
                    usleep(hold)
                    _exit(0)
                }
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
