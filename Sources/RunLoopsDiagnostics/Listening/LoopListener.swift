// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// Wants to know what one loop does.
protocol LoopListener: AnyObject, Sendable {
    /// The loop's thread, with no lock held; `depth` is the number of runs the event is inside of.
    func hear(_ event: LoopEvent, at time: Int64, depth: UInt16)
}
