// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// What a loop does, as it does it: for recorders and diagnostics.
package enum LoopEvent: Sendable {
    /// A run begins in the mode.
    case runBegins(RunLoop.Mode)
    /// A run passes a point, whether anybody observes it or not.
    case passes(RunLoop.Activities)
    /// A callout begins; with the item's label, or the place where a block was added.
    case calls(Callee, ItemLabel)
    /// Since when the callout that has just begun was wanted.
    ///
    /// Reported where it is known, before the user's closure.
    case wanted(LoopWait)
    /// The innermost callout has returned.
    case returns
    /// The thread goes to sleep; all earlier events have been reported.
    case sleeps
    /// The thread is awake again; reported before the observers of that are called.
    case wakes(LoopWaking)
    /// The innermost run ends.
    case runEnds(RunLoop.RunResult)

    /// Kinds of callouts.
    package enum Callee: String, Sendable {
        case observer, block, source, descriptor, timer
        case mainQueue = "main queue"
        /// A part of another callout that somebody queued by itself.
        case job
    }
}

/// Receives each event, on the loop's thread, with no lock held.
package protocol LoopTracer: AnyObject {
    func trace(_ event: LoopEvent)
}
