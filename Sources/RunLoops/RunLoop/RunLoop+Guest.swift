extension RunLoop {
    /// One descriptor that is readable while the loop has something to do: for a host, a loop that has the thread already.
    ///
    /// The host waits for it as for any other, with `poll`, `epoll` or an API of its own, and calls
    /// ``runReady(in:servingMainQueue:)`` when it is readable. Nothing is to be read from it. It becomes readable when a
    /// timer is due (at the end of its tolerance), a port source's descriptor is ready, the main queue has work, or
    /// somebody calls ``wakeUp()``, and stays so until ``runReady(in:servingMainQueue:)`` has done what there was to do.
    /// It follows every change at once, whichever thread makes it: a timer that comes, goes or is put off sets another
    /// instant and wakes nobody. What does not wake a sleeping loop does not make it readable either: a block that is
    /// posted with `wake: false`, a source that is only signalled.
    ///
    /// It stands for what belongs to the mode of the last ``runReady(in:servingMainQueue:)``, at first the default mode. The
    /// loop can be run in between as always. The first ask makes the descriptor; its number stays the same until the
    /// thread ends, which closes it: the host stops waiting for it before.
    ///
    /// - Throws: `EMFILE`, `ENFILE`, `ENOMEM`, `ENOSPC` from `epoll_create1(2)`, `eventfd(2)`, `timerfd_create(2)` or
    ///   `epoll_ctl(2)`; the loop is no guest then, and can be asked again. Later nothing can be refused.
    ///
    /// Precondition: called on the loop's own thread; not on a loop with a manual kernel.
    /// Corresponds to nothing in Core Foundation; on Apple's systems to the wake-up port of a loop.
    /// Complexity: O(1); four descriptors, and a fifth if the loop has no port source yet.
    @available(
        *, noasync,
        message: "A task has no thread of its own: call this in a synchronous function of the host's."
    )
    public var pollDescriptor: CInt {
        get throws(SystemCallError) { try guestDescriptor() }
    }

    /// Does what is ready in `mode`, in as many turns as it takes, and returns without sleeping.
    ///
    /// A host calls it when ``pollDescriptor`` is readable. To observers it is one run. Where a run would sleep, this one
    /// ends: they are told ``Activities/beforeWaiting`` first, and ``Activities/afterWaiting`` at the
    /// beginning of the next call. A loop that is never idle gives the thread back after 16 turns, and the descriptor stays
    /// readable.
    ///
    /// - Parameters:
    ///   - mode: The mode, which ``pollDescriptor`` stands for from now on. Unknown or empty ones do nothing, and can become
    ///     ready later.
    ///   - servingMainQueue: Whether the main loop does the work of `DispatchQueue.main` and `@MainActor`. `false` in a host
    ///     that does it itself.
    /// - Returns: `stopped` after ``stop()`` in a callout; `finished` if nothing is left that could ever become ready;
    ///   `timedOut` otherwise.
    ///
    /// Precondition: called on the loop's own thread; `mode` is not `.common`.
    @available(
        *, noasync,
        message: "A task has no thread of its own: call this in a synchronous function of the host's."
    )
    @discardableResult
    public func runReady(in mode: Mode = .default, servingMainQueue: Bool = true) -> RunResult {
        requireMode(mode)
        return runGuest(mode, servesMainQueue: servingMainQueue)
    }

    /// What a host calls before it waits, if it has a place for that: whether there is something to do already that
    /// ``pollDescriptor`` does not show.
    ///
    /// True if a block was posted or a source signalled since the last turn, without a wake-up. A loop that runs by itself
    /// finds them in its next turn; here the host's turns stand for those. A host that is run inside a callout of this
    /// loop has to call it before it waits, or ``runReady(in:servingMainQueue:)``: during the callout the loop is awake, and
    /// the descriptor silent.
    ///
    /// Precondition: called on the loop's own thread, which has asked for ``pollDescriptor``; `mode` is not `.common`.
    /// Complexity: O(1), without a system call unless the mode is another one or a callout is under way.
    @available(
        *, noasync,
        message: "A task has no thread of its own: call this in a synchronous function of the host's."
    )
    public func prepareToPoll(in mode: Mode = .default) -> Bool {
        requireMode(mode)
        return prepareGuest(mode)
    }

    private func requireMode(_ mode: Mode) {
        require(
            mode != .common, "Common is a mark on modes, not a mode: a guest runs in one of them, such as .default.")
    }
}
