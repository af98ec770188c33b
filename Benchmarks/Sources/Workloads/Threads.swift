// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A thread that has been started.
public struct RunningThread {
    fileprivate let thread: pthread_t

    /// Waits until it has ended, and what it tears down at its end with it.
    public func join() { pthread_join(thread, nil) }
}

/// Runs `body` on a new thread.
@discardableResult
public func startThread(_ body: @escaping @Sendable () -> Void) -> RunningThread {
    var thread = pthread_t()
    let argument = Unmanaged.passRetained(Confined(body)).toOpaque()
    let result = pthread_create(
        &thread, nil,
        { argument in
            Unmanaged<Confined<@Sendable () -> Void>>.fromOpaque(argument!).takeRetainedValue().value()
            return nil
        }, argument)
    precondition(result == 0, "A thread cannot be made: \(result)")
    return RunningThread(thread: thread)
}
