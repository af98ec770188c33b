// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// The reason why a thread that waits for a closure on another thread's loop gets no result.
    public enum PerformError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The thread has ended, before the call or during the wait, and the closure was released without having run.
        case threadEnded(waiting: RunLoopThread.Identity, on: RunLoopThread.Identity)
        /// The loop did not get to the closure in the given time; the closure will not run any more.
        case notStarted(waiting: RunLoopThread.Identity, on: RunLoopThread.Identity, within: Duration)
        /// Each thread waits on the next, and the last one on the first: none could go on.
        ///
        /// The first thread of the list is the thread that asked last; it has not begun to wait.
        case cycle([RunLoopThread.Identity])

        /// What happened, with the names of the threads.
        public var description: String {
            switch self {
            case .threadEnded(let waiting, let thread):
                "\(waiting) waits on \(thread), which has ended"
            case .notStarted(let waiting, let thread, let limit):
                "\(waiting) waited \(limit) on \(thread), whose loop did not run the closure in that time"
            case .cycle(let threads):
                "\(threads.map(\.description).joined(separator: " waits on ")) waits on the first: none could go on"
            }
        }
    }
}
