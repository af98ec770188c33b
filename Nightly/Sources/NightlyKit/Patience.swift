// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
package import RunLoops

/// How long a hunt waits for what must come: far longer than a busy machine needs, because the end of the wait is a
/// finding.
package struct Patience: Sendable {
    package let seconds: Int

    package init(seconds: Int) { self.seconds = seconds }

    /// When a wait that begins now is over.
    package var end: RunLoop.Instant { RunLoop.Instant.now + .seconds(seconds) }

    /// Does what must come to an end; ends the program with a failure if it does not.
    ///
    /// - Parameters:
    ///   - what: The subject of the message: what did not come to an end.
    ///   - findings: Called before the program ends, for everything else that is known by then.
    ///   - body: What must come to an end.
    package func wait(for what: String, findings: (@Sendable () -> Void)? = nil, _ body: () -> Void) {
        let isDone = Counter()
        let guardian = Worker { [self] in
            let end = end
            while isDone.value == 0, RunLoop.Instant.now < end { usleep(10_000) }
            if isDone.value > 0 { return }
            check(false, "\(what) did not come to an end within \(seconds) s")
            findings?()
            endOfChecks()
        }
        body()
        isDone.set(1)
        guardian.join()
    }
}
