// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CHoldingChild
internal import CTestCalls
package import Testing

/// Gives each of two names what the other has; returns whether the system did.
package func exchangeFiles(_ path: UnsafePointer<CChar>, _ other: UnsafePointer<CChar>) -> Bool {
    test_exchange(path, other) == 0
}

/// Gives the calling thread a working directory of its own; returns whether the system did.
package func makeOwnWorkingDirectory() -> Bool { test_own_directory() == 0 }

/// Gives the calling thread a table of descriptors of its own, a copy of the old one; returns whether the system did.
///
/// The copies are open until the thread ends, as those of a child that a test starts.
package func makeOwnDescriptors() -> Bool { test_own_descriptors() == 0 }

/// Gives the calling thread mounts of its own, and mounts an empty file system there; returns whether this process may.
package func mountForThisThread(_ path: String) -> Bool { test_own_mounts() == 0 && test_mount(path) == 0 }

/// Lets two threads of this process run on one processor alone, the first one at the lowest priority; returns whether the system did.
///
/// Beside a rival that computes, the first thread runs for 3 ms of about 200.
package func starve(_ thread: Int32, beside rival: Int32) -> Bool { test_starve(thread, rival) == 0 }

extension Trait where Self == ConditionTrait {
    /// Skips the test where a thread cannot have a working directory of its own.
    package static var needsOwnWorkingDirectory: Self {
        .enabled("unshare(CLONE_FS) is refused") { TestThread.run { makeOwnWorkingDirectory() } }
    }

    /// Skips the test where this process must not mount a file system.
    package static var needsMounts: Self {
        .enabled("unshare(CLONE_NEWNS) or mount is refused") { TestThread.run { mountForThisThread("/tmp") } }
    }

    /// Skips the test where a thread cannot have a filter of system calls.
    package static var needsSystemCallFilter: Self {
        .enabled("seccomp is refused") { TestThread.run { holding_trap_newer_calls(false) } }
    }
}

/// Ends a mount; returns whether the system did.
package func unmount(_ path: String) -> Bool { test_unmount(path) == 0 }

/// The array of this process's variables, as another thread's `setenv` leaves it.
package enum EnvironmentArray {
    /// Calls `body` while the array cannot be read.
    package static func withoutAccess<Result>(_ body: () -> Result) -> Result {
        test_lose_environment(true)
        defer { test_lose_environment(false) }
        return body()
    }

    /// Copies the array to another place, and releases the old one.
    package static func move() { test_move_environment() }
}
