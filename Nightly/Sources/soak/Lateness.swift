// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import Synchronization

/// How much later than due timers fire, in microseconds.
final class Lateness: Sendable {
    struct Percentiles {
        var median = 0
        var late = 0
    }

    private let values = Mutex<[Int]>([])

    func add(_ timer: RunLoop.Timer) {
        let late = RunLoop.Instant.now - timer.deadline
        values.withLock { $0.append(max(0, Int(late / .microseconds(1)))) }
    }

    /// What has come since the last call.
    func take() -> Percentiles {
        let sorted = values.withLock { values in
            defer { values.removeAll(keepingCapacity: true) }
            return values
        }.sorted()
        if sorted.isEmpty { return Percentiles() }
        return Percentiles(median: sorted[sorted.count / 2], late: sorted[sorted.count * 99 / 100])
    }
}
