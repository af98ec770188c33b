// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A value that several threads use, one at a time.
///
/// Not `Synchronization.Mutex`: the thread sanitizer does not see into it (Documentation/Decisions/0003-locks.md).
// Unchecked: the lock is what makes it safe to share.
package final class Guarded<Value>: @unchecked Sendable {
    private let lock = Lock()
    @exclusivity(unchecked) private var value: Value

    package init(_ value: Value) { self.value = value }

    package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        lock.withLock { body(&value) }
    }
}
