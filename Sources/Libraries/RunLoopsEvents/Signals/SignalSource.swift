// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops
internal import RunLoopsLibC
internal import Synchronization

/// Calls a closure on a loop's thread for each signal that the process receives.
///
/// While there is a source for a signal, the signal does nothing else: `SIGINT` does not end the process. When the last
/// source of a signal ends, the action that the signal had before the first source is restored. Several sources for one
/// signal, on one loop or on loops of several threads, are each called. The kernel may deliver a signal to any thread,
/// whether the thread was made before or after the source; no thread has to block signals.
///
/// A program may inherit blocked signals from its launcher, and no thread would ever receive them. Therefore the source
/// unblocks its signal in the thread that makes it, and in the thread of its loop when the loop first waits. The signal stays
/// unblocked there after the source's end.
///
/// The kernel may deliver different signals that are sent shortly after each other in another order, and merges equal
/// pending standard signals. Up to 64 signals wait for a busy loop with all their details; further signals are only
/// counted. All sources of a signal whose closures run on one thread share a descriptor, and so do all that `sendable` makes.
///
/// A signal ends `poll`, `epoll_wait` and `nanosleep` of the thread that it reaches with `EINTR`, as any handler does.
/// `read` and similar calls go on (`SA_RESTART`). The loop's own sleep goes on too.
///
/// Beside a dispatch source for the same signal, such as those of a `ServiceGroup` or a `UnixSignalsSequence`, both
/// receive each signal. libdispatch takes such a signal from every other handler; so the source receives it from
/// libdispatch, which passes on only the number: the sender is `nil`, and signals that follow each other fast may be
/// merged. It does not matter which of the two comes first, with one exception. If libdispatch takes the signal while
/// the source's loop sleeps, the source notices it when the loop next wakes. A signal that comes before that reaches
/// libdispatch alone. After such a registration call ``/RunLoops/RunLoop/wakeUp()``, unless other work wakes the loop
/// anyway, as a `RunLoopService` does. libdispatch never restores the action of a signal: after the end of its last
/// source the signal is ignored.
///
/// Corresponds to what a program on Apple's platforms does with a signal source of Dispatch.
///
/// Thread safety: all members may be used by any thread.
public final class SignalSource: EventSource, @unchecked Sendable {
    /// Called with the source and the signal.
    typealias Handler = (SignalSource, Delivery) -> Void

    /// The number of the signal.
    public let signal: CInt
    private let state = Lock()
    // Guarded by `state`.
    @exclusivity(unchecked) private var handler: Handler?
    @exclusivity(unchecked) private var user: SignalUser?
    /// Looks whether libdispatch has taken the signal meanwhile.
    ///
    /// Valid until libdispatch has.
    private let lookout: RunLoop.Observer

    /// A source whose closure runs on the thread that makes it, and may use that thread's state.
    ///
    /// Signals are collected from now on, also before the source is added to a loop.
    ///
    /// - Parameters:
    ///   - signal: The number of the signal, such as `SIGTERM`.
    ///   - label: The name in descriptions and tools; where the source was made, if `nil`.
    ///   - fileID: Where the source was made.
    ///   - line: Where the source was made.
    ///   - handler: Called with the source and the signal.
    /// - Throws: `EINVAL` for a number that is not a signal or cannot be caught (`SIGKILL`, `SIGSTOP`), `EMFILE`,
    ///   `ENFILE` and `ENOMEM` when a resource of the system is used up.
    ///
    /// Adding the source to the loop of another thread traps.
    /// - Precondition: the signal is not one of the signals that a thread sends itself by a fault (`SIGSEGV`, `SIGBUS`,
    ///   `SIGFPE`, `SIGILL`, `SIGTRAP`): the thread would return to the fault, over and over.
    /// - Complexity: O(1).
    public convenience init(
        _ signal: CInt, label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping (SignalSource, Delivery) -> Void
    ) throws(RunLoop.SystemCallError) {
        try self.init(signal, .here(label, fileID, line), handler)
    }

    /// A source whose closure may run on any thread: it can be added to any loop.
    ///
    /// The parameters are those of ``init(_:label:fileID:line:handler:)``.
    public static func sendable(
        _ signal: CInt, label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping @Sendable (SignalSource, Delivery) -> Void
    ) throws(RunLoop.SystemCallError) -> SignalSource {
        try SignalSource(signal, .anywhere(label, fileID, line), handler)
    }

    /// A source whose closure runs on the main actor: it can be added to the main loop, from any thread.
    ///
    /// The parameters are those of ``init(_:label:fileID:line:handler:)``.
    public static func mainActor(
        _ signal: CInt, label: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        handler: @escaping @MainActor (SignalSource, Delivery) -> Void
    ) throws(RunLoop.SystemCallError) -> SignalSource {
        try SignalSource(signal, .mainThread(label, fileID, line)) { source, delivery in
            MainActor.assumeIsolated { handler(source, delivery) }
        }
    }

    private init(
        _ signal: CInt, _ origin: SourceOrigin, _ handler: @escaping Handler
    ) throws(RunLoop.SystemCallError) {
        require(
            ![SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP].contains(signal),
            "Signal \(signal) is a fault of the thread that gets it and cannot wait for a loop: use sigaction.")
        let user = try SignalHub.makeUser(for: origin.allowedThread, signal)
        self.signal = signal
        self.handler = handler
        self.user = user
        // Now that a signal that was pending has no other effect.
        Self.unblock(signal)
        let permitted = Permitted(SystemCalls.threadID)
        // Weak: the source keeps the observer. Last, so that no other observer waits for a system call.
        lookout = .sendable([.entry, .beforeWaiting], order: .max, label: "signal \(signal)") {
            [weak user] observer, _ in
            if permitted.isNew(SystemCalls.threadID) { Self.unblock(signal) }
            if user?.askDispatch() != false { observer.invalidate() }
        }
        super.init(user.file, for: .readable, origin)
        user.whenInformed { [weak self] in self?.callReady() }
    }

    /// Lets the kernel deliver the signal to the calling thread.
    private static func unblock(_ signal: CInt) {
        var one = sigset_t()
        sigemptyset(&one)
        sigaddset(&one, signal)
        pthread_sigmask(SIG_UNBLOCK, &one, nil)
    }

    /// The last thread in which the signal was unblocked.
    private final class Permitted: Sendable {
        private let thread: Atomic<Int32>

        init(_ thread: Int32) { self.thread = Atomic(thread) }

        /// Whether `thread` is another thread than the last one.
        func isNew(_ thread: Int32) -> Bool { self.thread.exchange(thread, ordering: .relaxed) != thread }
    }

    override func entered(_ mode: RunLoop.Mode, of loop: RunLoop) {
        loop.add(lookout, in: mode)
        if state.withLock({ user })?.hasRecord == true { callReady() }
    }

    override func left(_ mode: RunLoop.Mode, of loop: RunLoop) { loop.remove(lookout, from: mode) }

    override func ready(_ events: Events) {
        if let (handler, delivery) = takeDelivery() { handler(self, delivery) }
    }

    /// No reference to the user is kept over the callout, so that an invalidate inside the callout restores the signal's
    /// previous action.
    private func takeDelivery() -> (Handler, Delivery)? {
        let (handler, user) = state.withLock { (self.handler, self.user) }
        guard let handler, let record = user?.take() else { return nil }
        return (handler, Delivery(signal, record))
    }

    override func refused(_ error: RunLoop.SystemCallError) {}

    override func giveUp() {
        let released = state.withLock { () -> (Handler?, SignalUser?) in
            defer { (handler, user) = (nil, nil) }
            return (handler, user)
        }
        lookout.invalidate()
        withExtendedLifetime(released) {}
    }
}
