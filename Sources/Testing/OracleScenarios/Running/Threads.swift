// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RunLoops

/// A plain POSIX thread that can be joined: each scenario needs a fresh one, because a thread has one loop for life.
package struct PlainThread: ~Copyable {
    private let thread: pthread_t

    package init(_ body: @escaping @Sendable () -> Void) {
        var made = pthread_t()
        let box = Unmanaged.passRetained(Body(body))
        let result = pthread_create(
            &made, nil,
            { pointer in
                // SAFETY: retained for this thread alone, just above.
                Unmanaged<Body>.fromOpaque(pointer!).takeRetainedValue().run()
                return nil
            }, box.toOpaque())
        precondition(result == 0, "the oracle could not make a thread: errno \(result)")
        thread = made
    }

    package consuming func join() {
        pthread_join(thread, nil)
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
}

/// Runs `body` on a new thread and returns its result.
package func onFreshThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) -> Result {
    let box = ResultBox<Result>()
    PlainThread { box.value.withLock { $0 = body() } }.join()
    return box.value.withLock { $0! }
}

private final class ResultBox<Result: Sendable>: Sendable {
    let value = Guarded<Result?>(nil)
}

/// Reports whether the thread that made the watch is blocked in the kernel.
///
/// `isWaiting` of a loop is also true if the loop is about to sleep or has just woken; only the kernel knows that it
/// sleeps.
package struct SleepWatch: Sendable {
    private let descriptor: CInt

    package init() {
        descriptor = open("/proc/thread-self/syscall", O_RDONLY | O_CLOEXEC)
    }

    package func close() {
        _ = Glibc.close(descriptor)
    }

    /// Whether the thread is blocked in a system call.
    ///
    /// One loop sleeps in a poll, the other in a futex, like a thread that waits for a lock. A caller that asks
    /// twice, a while apart, can distinguish the two.
    package var isAsleep: Bool {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16) { buffer in
            // The file begins with the number of the system call and a blank, or says "running".
            let count = pread(descriptor, buffer.baseAddress, buffer.count, 0)
            guard count > 0, let end = buffer[..<count].firstIndex(of: UInt8(ascii: " ")) else { return false }
            // -1 stands for a thread that is stopped outside of a call.
            return end > 0 && buffer[0] != UInt8(ascii: "r") && buffer[0] != UInt8(ascii: "-")
        }
    }
}

/// Returns the time of the monotonic clock, in nanoseconds.
package func monotonicNanoseconds() -> Int64 {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
}

/// Waits for a number of nanoseconds without sleeping.
package func spin(_ nanoseconds: Int64) {
    let end = monotonicNanoseconds() + nanoseconds
    while monotonicNanoseconds() < end {}
}
