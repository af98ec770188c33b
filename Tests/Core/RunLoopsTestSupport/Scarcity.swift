// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A process that may have only a few more descriptors, until the end of the scarcity.
///
/// Only where no other test runs: in an exit test.
package final class Scarcity: @unchecked Sendable {
    private var whole = rlimit()
    // The thread that makes the scarcity alone.
    private var filler: [CInt] = []

    /// From here on the process can open `left` descriptors, and the next one is refused with `EMFILE`.
    package init(left: Int) {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        getrlimit(resource, &whole)
        // Room for all that are open: the limit is on numbers, not on how many there are.
        var limit = whole
        limit.rlim_cur = min(whole.rlim_cur, 512)
        setrlimit(resource, &limit)
        while case let one = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0), one >= 0 { filler.append(one) }
        for _ in 0..<left { if let one = filler.popLast() { close(one) } }
    }

    /// The process can open as many as before.
    package func end() {
        for one in filler { close(one) }
        filler = []
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &whole)
    }
}
