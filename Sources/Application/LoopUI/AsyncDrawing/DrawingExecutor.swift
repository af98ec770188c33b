// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Executes the drawings that an application does outside of the main actor.
///
/// The default executor is ``TaskDrawingExecutor``, which uses the threads of Swift's tasks. A test can set an executor
/// that draws at moments that the test chooses.
public protocol DrawingExecutor: Sendable {
    /// Calls a job once, on any thread, now or later.
    ///
    /// This method is called on the main actor, for one drawing of a turn after the other.
    func execute(_ job: @escaping @Sendable () -> Void)
}

/// Draws on the threads of Swift's tasks: as many drawings at a time as the machine has processors.
public struct TaskDrawingExecutor: DrawingExecutor {
    private let priority: TaskPriority

    /// Makes an executor whose tasks have the given priority.
    public init(priority: TaskPriority = .userInitiated) { self.priority = priority }

    /// Starts a detached task for the job.
    public func execute(_ job: @escaping @Sendable () -> Void) { Task.detached(priority: priority) { job() } }
}
