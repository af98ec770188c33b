// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops

/// A value that several threads use, one at a time.
// Unchecked: the lock makes it safe.
package final class Locked<Value>: @unchecked Sendable {
    private let lock = Lock()
    // Guarded by the lock.
    @exclusivity(unchecked) private var value: Value

    package init(_ value: Value) { self.value = value }

    package func withLock<Result>(_ body: (inout Value) -> Result) -> Result { lock.withLock { body(&value) } }

    package var copy: Value { withLock { $0 } }
}

extension Locked where Value == [String] {
    package convenience init() { self.init([]) }
    package func note(_ text: String) { withLock { $0.append(text) } }
    package var lines: [String] { copy }
}

extension Locked where Value == Int {
    package convenience init() { self.init(0) }

    package func increment() { withLock { $0 += 1 } }

    /// Counts one more, and returns how many it makes.
    package func incremented() -> Int {
        withLock {
            $0 += 1
            return $0
        }
    }

    package var count: Int { copy }
}

/// One value that closures of one thread share.
package final class Box<Value> {
    package var value: Value
    package init(_ value: Value) { self.value = value }
}
