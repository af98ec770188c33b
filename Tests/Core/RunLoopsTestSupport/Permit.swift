// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A number of permits to wait for.
///
/// Not called a semaphore: Glibc has a type of that name.
// Unchecked: the system's semaphore is made for several threads.
package final class Permit: @unchecked Sendable {
    // On the heap: a semaphore must not move.
    private let semaphore: UnsafeMutablePointer<sem_t>

    package init() {
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    package func signal() { sem_post(semaphore) }

    /// Waits for a permit, however long that takes.
    package func waitForEver() { while sem_wait(semaphore) != 0 {} }

    /// Waits for a permit, as long as only a bug takes.
    package func wait() {
        var deadline = timespec()
        clock_gettime(CLOCK_REALTIME, &deadline)
        deadline.tv_sec += Int(plenty.components.seconds)
        while sem_timedwait(semaphore, &deadline) != 0 {
            // EINTR: a signal handler ran.
            precondition(errno == EINTR, "nobody has given the permit: errno \(errno)")
        }
    }
}

/// Spins, politely, until another thread has made `condition` true.
///
/// Not to see whether something happens in time: only for what must happen, so that a bug shows up as a test that
/// hangs until its time limit.
package func waitUntil(_ condition: () -> Bool) {
    while !condition() { usleep(200) }
}
