// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A thread of the test's own, with an end one can wait for: loops belong to threads, and those of the test runner are
/// shared and never end.
///
/// Plain pthreads and semaphores, which the thread sanitizer knows.
// Unchecked: the handle is written by init alone.
package final class TestThread: @unchecked Sendable {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    private var handle = pthread_t()

    /// Starts at once, with no signal blocked.
    package init(_ body: @escaping @Sendable () -> Void) {
        let argument = Unmanaged.passRetained(Body(body)).toOpaque()
        let result = pthread_create(
            &handle, nil,
            { argument in
                // SAFETY: the reference passed by init; taken once.
                let body = Unmanaged<Body>.fromOpaque(argument.unsafelyUnwrapped).takeRetainedValue()
                // A thread starts with the mask of its maker, here a worker of Dispatch, which blocks all signals.
                var none = sigset_t()
                sigemptyset(&none)
                pthread_sigmask(SIG_SETMASK, &none, nil)
                body.run()
                return nil
            }, argument)
        precondition(result == 0, "pthread_create: \(result)")
    }

    /// Waits until the thread has ended and its loop is torn down.
    package func join() { pthread_join(handle, nil) }

    /// Sends a signal to this thread and no other.
    package func signal(_ number: CInt) { pthread_kill(handle, number) }

    /// Runs `body` on a thread of its own to the thread's end, and returns or throws what it did.
    @discardableResult
    package static func run<Result: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let box = Locked<Swift.Result<Result, Failure>?>(nil)
        TestThread {
            let result = Swift.Result(catching: body)
            box.withLock { $0 = result }
        }.join()
        guard let result = box.copy else { preconditionFailure("the thread has left its result") }
        return try result.get()
    }
}
