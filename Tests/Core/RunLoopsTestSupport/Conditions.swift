// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
package import RunLoops

/// A limit that only a bug reaches: what waits then says so instead of hanging.
///
/// In a full run the races of one test take longer than five minutes.
package let plenty = Duration.seconds(
    getenv("RUNLOOPS_PLENTY").flatMap { Int(String(cString: $0)) } ?? (isFull ? 3600 : 300))

/// Whether random tests and tests of many take as many as a night has time for.
package let isFull = isSet("RUNLOOPS_FULL")

/// Whether random tests and tests of many take as many as `Scripts/check` has time for; a small sample otherwise, so that the gate is
/// quick.
package let isThorough = isFull || isSet("RUNLOOPS_THOROUGH")

private func isSet(_ name: String) -> Bool { getenv(name).map { String(cString: $0) == "1" } ?? false }

/// How many inputs a fuzzed reader gets: `few`, or as many as `RUNLOOPS_FUZZ` says.
package func fuzzedInputs(orElse few: Int) -> Int {
    getenv("RUNLOOPS_FUZZ").flatMap { Int(String(cString: $0)) } ?? few
}

/// The sanitizer that the tests were built with, judged by the runtime in the process.
package enum Sanitizer {
    package static var isThread: Bool { dlsym(nil, "__tsan_init") != nil }
    package static var isAddress: Bool { dlsym(nil, "__asan_init") != nil }
    package static var isAny: Bool { isThread || isAddress }
}

/// Repeats a measurement until `isPrompt` has returned true; false if plenty of time has passed.
///
/// On a busy machine each of a fixed number of runs may be late; code that waits for too long is late in all of them.
package func repeatUntilPrompt(_ isPrompt: () throws -> Bool) rethrows -> Bool {
    let limit = ContinuousClock.now + plenty
    repeat { if try isPrompt() { return true } } while ContinuousClock.now < limit
    return false
}

extension RunLoop {
    /// Runs until it is stopped, or has nothing left, or plenty of time has passed.
    package func runPlenty(_ mode: Mode = .default, returnsAfterSource: Bool = false) -> RunResult {
        run(in: mode, for: plenty, returnsAfterSource: returnsAfterSource)
    }

    /// Marks a mode as common, where the system cannot refuse it.
    package func markCommon(_ mode: Mode) {
        do { try addCommonMode(mode) } catch { preconditionFailure("\(mode) could not be marked as common: \(error)") }
    }

    /// Waits on another thread until the loop runs, and stops the run.
    ///
    /// A `stop()` without a run has no effect: a thread that calls it before the test has begun its run leaves the run without an end.
    package func stopWhenRunning() {
        waitUntil { currentRun != nil }
        stop()
    }

    /// Runs turns on the loop's thread until the loop has no tracer; `false` if plenty of time has passed.
    ///
    /// An inspector of another test traces each loop that is made while it runs.
    package func losesTracer() -> Bool {
        let end = ContinuousClock.now + plenty
        repeat {
            perform {}
            runTurn()
            if tracer == nil { return true }
            usleep(1000)
        } while ContinuousClock.now < end
        return false
    }
}
