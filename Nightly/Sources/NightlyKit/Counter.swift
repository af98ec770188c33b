// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A count that many threads change.
package final class Counter: Sendable {
    private let atomic = Atomic<Int>(0)

    package init() {}

    @discardableResult
    package func add(_ count: Int) -> Int { atomic.add(count, ordering: .acquiringAndReleasing).newValue }
    package var value: Int { atomic.load(ordering: .acquiring) }
    package func raise(to value: Int) { atomic.max(value, ordering: .acquiringAndReleasing) }
    package func set(_ value: Int) { atomic.store(value, ordering: .releasing) }
}
