// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// A test that hangs, as it is reported.
package struct TestHang: Sendable {
    /// The limit that the test has passed.
    package enum Reason: Sendable, Equatable {
        /// The test has not ended in its time.
        case time
        /// The process has used no processor for a time.
        case idle
    }

    package var reason: Reason
    /// The limit, or the time for which the process was idle.
    package var limit: Duration
    /// A sentence about the test, and lines about what it waits for.
    package var text: String
    /// The loops, the tasks and the threads of the process; the same for tests that are reported at once.
    package var report: String
    /// Whether another test has been reported with the same report, which is not printed again.
    package var isRepeated: Bool
}

extension TestWatch.Limit {
    func sentence(_ reason: TestHang.Reason) -> String {
        switch reason {
        case .time: "The test has not ended after \(time.inWords)."
        case .idle: "The test has not ended, and the process has done nothing for \((idle ?? .zero).inWords)."
        }
    }
}

extension Duration {
    /// The duration in seconds, or in milliseconds if it is short.
    fileprivate var inWords: String {
        let milliseconds = clampedNanoseconds / 1_000_000
        if milliseconds % 1000 != 0 { return "\(milliseconds) ms" }
        return milliseconds == 1000 ? "1 second" : "\(milliseconds / 1000) seconds"
    }
}
