// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension RunLoop {
    /// A descriptor that is readable while the loop has work, for a host: another event loop, which owns the thread.
    ///
    /// The host waits for this descriptor as for any other, with `poll`, `epoll` or an API of its own. When the
    /// descriptor is readable, the host calls ``runReady(in:servingMainQueue:)``; nothing is to be read from the
    /// descriptor. It becomes readable when a timer is due (at the end of its tolerance), a descriptor source's
    /// descriptor is ready, the main queue has work, or ``wakeUp()`` is called, and stays so until
    /// ``runReady(in:servingMainQueue:)`` has done the work. It follows every change at once, whichever thread makes
    /// the change: a timer that is added, removed or postponed sets another instant and wakes no thread. Work that does
    /// not wake a sleeping loop does not make the descriptor readable either: a block that is posted with `wake:
    /// false`, a source that is only signalled. Nor does ``stop()``, which ends a run and not a host.
    ///
    /// The descriptor is readable for work in one mode: the mode of the last ``runReady(in:servingMainQueue:)`` that
    /// has returned, at first the default mode. Between two such calls the thread can also run the loop with
    /// ``run(in:until:returnsAfterSource:)``; while that run sleeps, the descriptor is not readable. The first
    /// access makes the descriptor. Its number stays the same until the thread ends, which closes the descriptor: the
    /// host must stop waiting for it before that.
    ///
    /// - Throws: `EMFILE`, `ENFILE`, `ENOMEM`, `ENOSPC` from `epoll_create1(2)`, `eventfd(2)`, `timerfd_create(2)` or
    ///   `epoll_ctl(2)`. In that case the loop is not a guest, and the property can be read again. After a success
    ///   nothing can fail later.
    ///
    /// Core Foundation has no such function; on Apple's systems the wake-up port of a loop serves this purpose.
    /// - Complexity: O(1); four descriptors, and a fifth if the loop has no descriptor source yet.
    @available(
        *, noasync,
        message: "A task has no thread of its own: call this in a synchronous function of the host's."
    )
    public var pollDescriptor: CInt {
        get throws(SystemCallError) {
            requireOwnThread()
            if let guest { return guest.set.descriptor }
            guard let kernel = kernel as? any GuestKernel else {
                fatalError("A loop with a manual kernel has no descriptor to wait for: its time only advances by hand.")
            }
            let guest = try withState { (state) throws(SystemCallError) -> Guest in
                let guest = Guest(try kernel.makeGuest(), in: state.modes[GuardedState.defaultMode].mode)
                state.hosted = HostedWait(set: guest.set, mode: guest.mode)
                return guest
            }
            self.guest = guest
            waitInHost(isReady: false)
            // No turn has looked at the blocks posted before.
            guest.blocksSeen = 0
            return guest.set.descriptor
        }
    }

    /// Serves everything that is ready in `mode`, in as many turns as that takes, and returns without sleeping.
    ///
    /// A host calls this when ``pollDescriptor`` is readable. For observers each call is one run. Where a run would
    /// sleep, this one ends: the observers of ``Activities/beforeWaiting`` are called at the end, and those of
    /// ``Activities/afterWaiting`` at the beginning of the next call. If the loop does not become idle, the call
    /// returns after 16 turns, and the descriptor stays readable.
    ///
    /// - Parameters:
    ///   - mode: The mode to run in; from now on ``pollDescriptor`` is readable for work in this mode. In an unknown or
    ///     empty mode the call does nothing, and the mode can become ready later.
    ///   - servingMainQueue: Whether the main loop does the work of `DispatchQueue.main` and `@MainActor`. Pass `false`
    ///     in a host that does this work itself.
    /// - Returns: `stopped` after ``stop()`` in a callout; `finished` if nothing is left that could ever become ready;
    ///   `timedOut` otherwise.
    ///
    /// - Precondition: called on the loop's own thread; `mode` is not `.common`.
    @available(
        *, noasync,
        message: "A task has no thread of its own: call this in a synchronous function of the host's."
    )
    @discardableResult
    public func runReady(in mode: Mode = .default, servingMainQueue: Bool = true) -> RunResult {
        requireOneMode(mode)
        requireOwnThread()
        let mode = makeMode(mode)
        stand(for: mode, servingMainQueue)
        let modesSet = guest?.modesSet ?? 0
        var run = RunState(limit: .inHost, returnsAfterSource: false, timesEmptied: mode.timesEmptied)
        let outer = begin(&run, in: mode)
        run.servesMainQueue = servingMainQueue && run.servesMainQueue
        endWait()
        var last: RunResult?
        for _ in 0..<Self.turnsInARow {
            last = turn(&run, in: mode)
            if last != nil { break }
        }
        let isIdle = last == .timedOut
        if isIdle {
            callObservers(.beforeWaiting, mode)
            guest?.waitObserved = mode
        }
        if let guest {
            guest.isReadyToWait = isIdle && guest.mustRun
            guest.mustRun = false
        }
        let result = last == .stopped ? .stopped : isEmpty(mode) ? RunResult.finished : .timedOut
        end(result, in: mode, outer)
        if let guest {
            // A call in a callout may have run another mode.
            if guest.modesSet == modesSet { stand(for: mode, servingMainQueue) }
            waitInHost(isReady: !isIdle)
        }
        return result
    }

    /// Sets the mode for which ``pollDescriptor`` is readable, and whether work of the main queue makes it readable.
    ///
    /// Takes effect when the host waits next.
    package func wait(in mode: Mode, servingMainQueue: Bool) {
        guard let guest else { return }
        stand(for: makeMode(mode), servingMainQueue)
        guest.modesSet += 1
    }

    private func makeMode(_ name: Mode) -> LoopMode {
        withState { state in
            let mode = state.makeMode(name)
            return state.modes[mode].mode
        }
    }

    private func stand(for mode: LoopMode, _ servesMainQueue: Bool) {
        guard let guest else { return }
        setMode(mode, of: guest)
        guest.servesMainQueue = servesMainQueue
    }

    /// The maximum number of turns in one call: a loop that is never idle must not keep its host from running.
    private static var turnsInARow: Int { 16 }

    private func endWait() {
        guard let guest, let mode = guest.waitObserved else { return }
        guest.waitObserved = nil
        callObservers(.afterWaiting, mode)
    }

    /// Returns whether the loop has to run before the host may wait; a host asks directly before each wait.
    ///
    /// `true` if a block was posted or a source signalled since the last turn, without a wake-up. In a run the next
    /// turn finds them. In a host there is no next turn until the host calls the loop, so the host asks.
    ///
    /// Also `true`, once before each wait, if the mode has an observer of ``Activities/beforeWaiting``. A run calls these observers
    /// before each sleep, and what they do depends on it: an application draws, a queue of idle jobs begins a job, and another library's
    /// loop is asked for its work. A callback of the host may have given them something to do, so they are called before the host
    /// waits again.
    ///
    /// If the answer is `true`, the host calls ``runReady(in:servingMainQueue:)`` and asks again. Nothing else of the host's comes between:
    /// `while loop.prepareToPoll() { loop.runReady() }` stands directly before the wait.
    ///
    /// A host that runs inside a callout of this loop has to call this, or ``runReady(in:servingMainQueue:)``, before
    /// it waits: during the callout the loop is awake, and the descriptor is not readable.
    ///
    /// - Precondition: called on the loop's own thread, after ``pollDescriptor`` was read; `mode` is not `.common`.
    /// - Complexity: O(1), without a system call unless the mode is another one or a callout is under way.
    @available(
        *, noasync,
        message: "A task has no thread of its own: call this in a synchronous function of the host's."
    )
    public func prepareToPoll(in mode: Mode = .default) -> Bool {
        requireOneMode(mode)
        requireOwnThread()
        guard let guest = guestAbout(toWaitIn: mode) else {
            fatalError("Ask for pollDescriptor before the host waits: without it there is nothing to prepare.")
        }
        guest.mustRun = hasUnseenWork(guest) || !guest.isReadyToWait && guest.mode.observes(.beforeWaiting)
        // The host waits after an answer of `false`, and its callbacks come before the next question.
        guest.isReadyToWait = false
        return guest.mustRun
    }

    /// Returns whether the loop has work that does not make ``pollDescriptor`` readable, as ``prepareToPoll(in:)`` does, and does not ask
    /// for the observers of ``Activities/beforeWaiting``.
    ///
    /// For a host that asks twice, with callbacks of its own in between.
    package func hasUnseenWork(in mode: Mode) -> Bool {
        guard let guest = guestAbout(toWaitIn: mode) else { return false }
        return hasUnseenWork(guest)
    }

    private func hasUnseenWork(_ guest: Guest) -> Bool {
        blocks.hasMore(than: guest.blocksSeen) || !guest.mode.signals.isEmpty || core.wakeWord.wakeUp != nil
    }

    /// The guest, whose descriptor shows work in `mode` from now on; `nil` without a guest.
    private func guestAbout(toWaitIn mode: Mode) -> Guest? {
        guard let guest else { return nil }
        // A callout under way has made the descriptor silent, or the descriptor serves another mode.
        if core.wakeWord.phase != .inHost || guest.mode.name != mode {
            leaveHost()
            setMode(makeMode(mode), of: guest)
            waitInHost()
        }
        return guest
    }
}
