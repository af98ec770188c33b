// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import RunLoops
import RunLoopsConcurrency
import Synchronization

import class RunLoops.RunLoop

/// The loop of one thread, for which another thread waits.
final class Started: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let found = Mutex<RunLoop?>(nil)

    func loop(_ loop: RunLoop) {
        found.withLock { $0 = loop }
        semaphore.signal()
    }

    func wait() -> RunLoop {
        semaphore.wait()
        guard let loop = found.withLock({ $0 }) else { preconditionFailure("it was put there before the signal") }
        return loop
    }
}

/// A thread that does `work`, and then runs its loop for ever.
func startThread(named name: String, _ work: @escaping @Sendable () -> Void) {
    let thread = Thread {
        // The executor keeps the loop from finishing.
        _ = RunLoop.current.executor
        work()
        RunLoop.current.run()
    }
    thread.name = name
    thread.start()
}

/// The loop of a new thread.
func startThread(named name: String) async -> RunLoop {
    await withCheckedContinuation { continuation in
        startThread(named: name) { continuation.resume(returning: RunLoop.current) }
    }
}
