// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import Synchronization

/// Two tasks that wait for each other.
enum Ring {
    private static let tasks = Guarded<[_Concurrency.Task<Void, Never>]>([])
    private static let begun = Atomic<Int>(0)

    /// Starts the tasks, and returns when both have begun to wait, or are about to.
    static func tie() {
        tasks.withLock { tasks in
            for number in 0...1 {
                tasks.append(
                    _Concurrency.Task.detached(name: "knot \(number)") {
                        let other = Self.tasks.withLock { $0[1 - number] }
                        begun.wrappingAdd(1, ordering: .relaxed)
                        await other.value
                    })
            }
        }
        while begun.load(ordering: .relaxed) < 2 { usleep(1000) }
    }
}
