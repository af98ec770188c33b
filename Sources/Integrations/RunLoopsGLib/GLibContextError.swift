// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if GLib
public import RunLoops

/// Why a GLib main context could not be made a source of a loop.
public enum GLibContextError: Error, Equatable, Sendable {
    /// Another thread runs the context: a context belongs to one at a time.
    case ownedByAnotherThread
    /// What the system refused.
    case systemCall(RunLoop.SystemCallError)
}
#endif
