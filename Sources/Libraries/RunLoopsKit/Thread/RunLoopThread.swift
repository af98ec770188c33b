// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
public import RunLoops

/// A thread that its loop keeps alive, and that runs the tasks posted to it until it is stopped.
///
/// The thread runs its loop in the default mode and sleeps while there is nothing to do. Tasks run one after the other
/// in the order in which they were posted; timers and sources can be added to the ``loop`` beside them.
///
/// Releasing the object stops the thread: tasks that were posted before run, then the thread ends. The release does not
/// wait for the thread, so that a task may hold the last reference.
///
/// Corresponds to a thread that adds a port to its run loop and runs it, as networking libraries for Apple's platforms
/// keep one.
///
/// Thread safety: any thread may use all members, also the thread itself, except ``join()``.
public final class RunLoopThread: Sendable {
    /// The treatment of posted tasks that have not begun.
    public enum Ending: Sendable {
        /// The tasks run before the thread ends, whatever modes they were posted in.
        case draining
        /// The tasks are released without having run.
        case dropping
    }

    /// The attributes that the thread was started with.
    public let attributes: RunLoopThread.Attributes
    /// The thread's loop.
    ///
    /// After the thread's end the loop does nothing.
    public let loop: RunLoop
    private let tasks: ThreadTasks
    private let end: ThreadEnd
    /// The tasks that await the thread's end.
    let waiters: EndWaiters

    /// Starts a thread, and returns when the thread accepts tasks.
    ///
    /// - Parameter attributes: The thread's name and its scheduling.
    /// - Throws: The error of the system: `pthread_create` with `EAGAIN` when there are too many threads and `EINVAL`
    ///   for a stack that is too small, `setpriority` with `EACCES` and `sched_setscheduler` with `EPERM` without the
    ///   privilege, `sched_setaffinity` with `EINVAL` for missing processors. In that case no thread is left.
    public init(_ attributes: RunLoopThread.Attributes) throws(RunLoop.SystemCallError) {
        let body = ThreadBody(attributes)
        let (handle, loop) = try body.start()
        self.attributes = attributes
        self.loop = loop
        tasks = body.tasks
        waiters = body.waiters
        end = ThreadEnd(handle)
    }

    /// Starts a thread of that name with the system's defaults.
    public convenience init(name: String) throws(RunLoop.SystemCallError) {
        try self.init(RunLoopThread.Attributes(name: name))
    }

    deinit { stop() }

    /// The thread, as errors name it.
    public var identity: RunLoopThread.Identity { RunLoopThread.Identity(number: loop.threadID, name: attributes.name) }

    /// Runs a closure on the thread, in any common mode, after the closures that were posted before.
    ///
    /// - Returns: Whether the thread has accepted the closure: after ``stop(_:)`` it accepts none, and the closure is
    ///   released.
    ///
    /// - Complexity: O(1) amortised.
    @discardableResult
    public func post(_ task: @escaping @Sendable () -> Void) -> Bool {
        guard let added = tasks.add(task) else { return false }
        if added.mustCall { call(added.queue, in: [.common]) }
        return true
    }

    /// Runs a closure on the thread, in one of the given modes, after the closures that were posted before and may run
    /// in that mode.
    ///
    /// The thread itself runs its loop in the default mode; other modes belong to runs inside tasks, timers and
    /// sources. If the modes of a task have not run when the thread ends, the task runs at the end, with no run in
    /// progress, unless the thread was stopped with ``Ending/dropping``.
    ///
    /// - Parameters:
    ///   - modes: In which of the loop's modes the closure may run; without any mode the closure waits for the thread's
    ///     end.
    ///   - task: Runs once, or is released.
    /// - Returns: Whether the thread has accepted the closure: after ``stop(_:)`` it accepts none, and the closure is
    ///   released.
    ///
    /// - Complexity: O(k) in the lists of modes that were ever posted in, amortised.
    @discardableResult
    public func post(in modes: [RunLoop.Mode], _ task: @escaping @Sendable () -> Void) -> Bool {
        guard let added = tasks.add(task, in: modes) else { return false }
        if added.mustCall, !modes.isEmpty { call(added.queue, in: modes) }
        return true
    }

    /// One block for all tasks that come until the block runs.
    private func call(_ queue: Int, in modes: [RunLoop.Mode]) {
        loop.perform(in: modes) { [tasks] in tasks.runWaiting(queue, on: RunLoop.current) }
    }

    /// Runs a closure on the thread, after the closures that were posted before, and waits for its result or error.
    ///
    /// On the thread itself the closure runs at once.
    ///
    /// - Parameters:
    ///   - modes: In which of the loop's modes the closure may run.
    ///   - limit: How long to wait for the closure to begin; `nil` for no limit.
    ///   - body: Runs once, or not at all where an error of the wait is thrown.
    /// - Throws: The error of the closure, or a ``RunLoops/RunLoop/PerformError`` as `RunLoop.performAndWait` does. A
    ///   thread that was stopped counts as ended.
    @available(*, noasync, message: "The wait blocks a thread of Swift's pool: await result(of:).")
    public func performAndWait<Value: Sendable>(
        in modes: [RunLoop.Mode] = [.common], startingWithin limit: Duration? = nil,
        _ body: @escaping @Sendable () throws -> Value
    ) throws -> Value {
        if loop.isOfCallingThread { return try body() }
        // If the task is refused, the holder goes with it, and the wait ends before it begins.
        return try loop.waitForTurn(startingWithin: limit, named: attributes.name, body) { holder in
            post(in: modes) { holder.run() }
        }
    }

    /// Ends the thread after the task that it runs; the thread accepts no more tasks.
    ///
    /// Returns at once. Called twice, `dropping` after `draining` drops what is left, and any other second call changes
    /// nothing. Nested runs of common modes end as well. A nested run of a private mode goes on until it ends by
    /// itself, and runs the tasks that were posted in that mode until then.
    ///
    /// - Parameter ending: Whether tasks that have not begun run or are released.
    public func stop(_ ending: Ending = .draining) {
        // A forked child does not have the thread.
        if loop.isInherited { return }
        let dropped = tasks.stop(dropping: ending == .dropping)
        loop.wakeUp()
        // The closures may hold the last reference to anything: they are released while no lock is held.
        withExtendedLifetime(dropped) {}
    }

    /// Waits until the thread has ended, and its loop is torn down.
    ///
    /// This call does not stop the thread: ``stop(_:)`` does. Any number of threads may wait, and wait again. A task
    /// waits with ``ended()``.
    ///
    /// As in `performAndWait`, the thread is scheduled at least as well as the waiting thread.
    ///
    /// - Precondition: the caller is not the thread itself, which would wait forever, nor a thread that it waits for
    ///   without a limit, directly or through others. A wait on the joining thread that begins later throws
    ///   ``RunLoops/RunLoop/PerformError/cycle(_:)`` to the thread that begins it.
    @available(
        *, noasync,
        message: "The wait blocks a thread of Swift's pool: await ended(), or join() in a synchronous function."
    )
    public func join() {
        require(
            !loop.isOfCallingThread,
            "\(identity) was asked to wait for its own end: call stop() alone there, and join() elsewhere.")
        let waiter = RunLoop.ofCallingThread
        if let circle = WaitGraph.begin(waiter, .end, on: loop) { refuseToJoin(circle) }
        defer { WaitGraph.end(waiter, on: loop) }
        end.wait()
    }

    private func refuseToJoin(_ circle: [RunLoop]) -> Never {
        let threads = circle.map { RunLoopThread.Identity.living($0.threadID).description }
        fatalError(
            """
            \(threads[0]) was asked to wait for the end of \(threads.dropFirst().joined(separator: ", which waits on ")), \
            which waits on \(threads[0]): none could go on. Call stop() alone there, and join() on a thread that the \
            other one does not wait on.
            """)
    }
}

/// The end of a thread.
///
/// The system lets a program wait for it once: the first caller joins the thread; without a caller it is detached.
private final class ThreadEnd: @unchecked Sendable {
    // Only locked to wait, or by threads that wait for that.
    private let lock = Lock()
    private let handle: rl_thread
    // Guarded by the lock.
    @exclusivity(unchecked) private var isJoined = false

    init(_ handle: rl_thread) { self.handle = handle }

    deinit {
        if !isJoined { rl_thread_detach(handle) }
    }

    func wait() {
        lock.withLock {
            if isJoined { return }
            rl_thread_join(handle)
            isJoined = true
        }
    }
}
