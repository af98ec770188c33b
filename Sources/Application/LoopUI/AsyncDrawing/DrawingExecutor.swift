// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Where an application has its views drawn that draw outside of the main actor.
///
/// The standard one uses the threads of Swift's tasks. A test gives one that draws when the test says so.
public protocol DrawingExecutor: Sendable {
    /// Calls a job once, on any thread, now or later.
    ///
    /// Called on the main actor, for the drawings of a turn one after the other.
    func execute(_ job: @escaping @Sendable () -> Void)
}

/// Draws on the threads of Swift's tasks: as many drawings at a time as the machine has processors.
public struct TaskDrawingExecutor: DrawingExecutor {
    private let priority: TaskPriority

    /// An executor whose tasks have that priority.
    public init(priority: TaskPriority = .userInitiated) { self.priority = priority }

    /// Begins a task of its own for the job.
    public func execute(_ job: @escaping @Sendable () -> Void) { Task.detached(priority: priority) { job() } }
}
