// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel

/// How to wait with a limit finer than epoll's own milliseconds.
enum FineWait: Sendable {
    /// `epoll_pwait2`, from Linux 5.11.
    case nanosecondCall
    /// A timerfd in the set, which every kernel has.
    case timerDescriptor
}

/// Wakes the thread of a loop from its sleep, for a kernel and all its sets of descriptors.
final class EpollWaker: @unchecked Sendable {
    let calls: any KernelCalls
    /// The way to wait; changes to ``FineWait/timerDescriptor``, once and permanently, when the kernel does not know
    /// the call.
    // Unchecked, like the two other fields that each wait reads.
    @exclusivity(unchecked) var fineWait: FineWait
    /// Guards the making of the wake-up descriptor; a thread may take it while it holds the lock of an
    /// ``EpollReadiness``.
    private let making = Lock()
    /// The event descriptor that wake-ups write to; made with the first epoll of the loop, and contained in every epoll
    /// of the loop.
    ///
    /// It is edge-triggered: each write wakes the epoll, and the woken thread does not read it. The count cannot
    /// overflow within the age of the universe. ``EpollGuest/speak()`` alone empties it.
    @exclusivity(unchecked) private(set) var wakeDescriptor: CInt = -1
    /// Whether the thread's timer slack was set, which is done once, before the first timed wait.
    @exclusivity(unchecked) private var hasFineSlack = false
    /// Guards `own`; a thread may take it while it holds any other lock of the loop.
    private let owning = Lock()
    /// The descriptors that the loop has open for itself: a few for each mode.
    @exclusivity(unchecked) private var own: [CInt] = []

    init(calls: any KernelCalls, fineWait: FineWait) {
        self.calls = calls
        self.fineWait = fineWait
    }

    deinit {
        if wakeDescriptor >= 0 { close(wakeDescriptor) }
    }

    // MARK: Descriptors of the loop itself

    /// Notes a new descriptor of the loop itself; throws the error of the call that was to make it.
    func open(_ call: String, _ result: CInt) throws(RunLoop.SystemCallError) -> CInt {
        let descriptor = try check(call, result)
        owning.withLock { own.append(descriptor) }
        return descriptor
    }

    func close(_ descriptor: CInt) {
        owning.withLock { own.removeAll { $0 == descriptor } }
        _ = calls.close(descriptor)
    }

    /// Whether the loop has opened a descriptor with this number for itself, and has not closed it.
    ///
    /// - Complexity: O(n) in the loop's own descriptors: one, and one to four for each mode and for a host.
    func isOwn(_ descriptor: CInt) -> Bool { owning.withLock { own.contains(descriptor) } }

    // MARK: Waking

    func wake(_ word: borrowing WakeWord, _ phase: WakeWord.Phase) {
        if phase == .asleepOnWord {
            _ = calls.futexWake(word.address)
        } else {
            // EAGAIN (the count is full) still leaves the descriptor readable, and the write counts as an edge.
            _ = calls.eventWrite(wakeDescriptor)
        }
    }

    /// The descriptor that wakes an epoll, made when it is first needed.
    ///
    /// Any thread: while a thread sleeps in one mode, another may add the first descriptor source of a second mode.
    func makeWakeDescriptor() throws(RunLoop.SystemCallError) -> CInt {
        making.lock()
        defer { making.unlock() }
        if wakeDescriptor < 0 { wakeDescriptor = try open("eventfd", calls.eventCreate()) }
        return wakeDescriptor
    }

    /// Sets the thread's timer slack to its minimum before the first timed wait.
    ///
    /// With the default slack, a wait ends up to 50 µs late. The loop's timers have a tolerance, and need no slack.
    func prepareTimedWait() {
        guard !hasFineSlack else { return }
        hasFineSlack = true
        // If the system refuses (seccomp), the default slack stays: timers are later, but not wrong.
        _ = calls.setTimerSlack(nanoseconds: 1)
    }
}
