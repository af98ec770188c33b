// Async code with sleeps, tested in no time: the loop is manual, and the tasks run on it.

import RunLoops
import RunLoopsConcurrency
import RunLoopsTesting

/// The code under test, which takes a clock.
func remind(_ times: Int, every pause: Duration, on clock: some Clock<Duration>, _ say: () -> Void) async throws {
    for _ in 0..<times {
        try await clock.sleep(for: pause)
        say()
    }
}

ManualRunLoop.with { manual in
    let clock = manual.loop.clock
    let start = clock.now
    Task(executorPreference: manual.loop.executor) {
        try await remind(3, every: .seconds(3600), on: clock) {
            print("after \(start.duration(to: clock.now))")
        }
    }
    manual.advance(by: .seconds(4 * 3600))
}
