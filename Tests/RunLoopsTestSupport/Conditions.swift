// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
package import RunLoops

/// A limit that only a bug reaches: what waits then says so instead of hanging.
package let plenty = Duration.seconds(30)

/// Counts are small by default, and those asked for when the environment says so.
package let isFull = getenv("RUNLOOPS_FULL").map { String(cString: $0) == "1" } ?? false

/// The sanitizer that the tests were built with, judged by the runtime in the process.
package enum Sanitizer {
    package static var isThread: Bool { dlsym(nil, "__tsan_init") != nil }
    package static var isAddress: Bool { dlsym(nil, "__asan_init") != nil }
    package static var isAny: Bool { isThread || isAddress }
}

extension RunLoop {
    /// Runs until it is stopped, or has nothing left, or plenty of time has passed.
    package func runPlenty(_ mode: Mode = .default, returnAfterSourceHandled: Bool = false) -> RunResult {
        run(mode: mode, for: plenty, returnAfterSourceHandled: returnAfterSourceHandled)
    }
}
