// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

/// The reason why a GLib main context could not be made a source of a loop.
public enum GLibContextError: Error, Equatable, Sendable {
    /// Another thread owns the context: a context belongs to one thread at a time.
    case ownedByAnotherThread
    /// The error with which the system refused a call.
    case systemCall(RunLoop.SystemCallError)
}
