// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

/// An actor whose state lives on the thread of a run loop.
///
/// Say which loop's executor the actor has. Everything isolated to the actor then runs on that loop's thread, and may
/// use what only that thread may use:
///
/// ```swift
/// actor Meter: RunLoopActor {
///     nonisolated let runLoopExecutor: RunLoop.Executor
///     init(on loop: RunLoop) { runLoopExecutor = loop.executor }
/// }
/// ```
///
/// Actors that share an executor call each other without leaving the thread. A callout of the loop (a timer's, say) is
/// on the right thread too, and uses `assumeIsolated`. As a global actor:
///
/// ```swift
/// @globalActor actor Audio: RunLoopActor {
///     static let shared = Audio()
///     nonisolated let runLoopExecutor = audioThread.loop.executor
/// }
/// ```
public protocol RunLoopActor: Actor {
    /// The executor, the same for the actor's whole life.
    ///
    /// The actor keeps the executor: an executor must live as long as the code that runs on it.
    nonisolated var runLoopExecutor: RunLoop.Executor { get }
}

extension RunLoopActor {
    /// The executor as Swift asks for it.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { runLoopExecutor.asUnownedSerialExecutor() }
}
