// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop.Metering {
    /// What one loop has done, as ``Metering`` counts it.
    ///
    /// Thread safety: a value; any thread.
    public struct Report: Sendable {
        /// Which loop.
        public var loop: RunLoop.Identity
        /// All since it was added; with the sleep, or the stretch awake, that still goes on.
        public var statistics: RunLoop.Statistics
        /// What was done since the report before.
        public var change: RunLoop.Statistics
        /// Whether it is asleep just now.
        public var isAsleep: Bool
        /// How many blocks of other threads and signalled sources wait for it just now.
        public var pending: Int
    }
}
