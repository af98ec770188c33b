// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The services of the system on which a run loop sleeps.
///
/// A kernel knows clocks, descriptors and deadlines, and nothing of modes or items; the loop knows nothing of epoll.
/// `EpollKernel` is the kernel of Linux; the manual kernel of `RunLoopsTesting` is another.
///
/// Each loop has a kernel of its own. Except for ``wake(_:_:)`` and ``now(_:)``, the members are called on the loop's
/// thread or with the loop's lock held.
package protocol Kernel: AnyObject, Sendable {
    /// The present time of `clock`, in nanoseconds. Never earlier than an earlier answer, except for `.realtime`.
    func now(_ clock: RunLoop.ClockID) -> Int64

    /// A new, empty set of descriptors to wait for. The loop makes one for each mode.
    func makeReadiness() -> any Readiness

    /// Ends the sleep of the loop's thread, which was in `phase` when `word` was changed.
    ///
    /// Promises: one system call; never blocks; may be called by any thread. If the thread is already awake again, at
    /// most one later sleep ends for no reason.
    func wake(_ word: borrowing WakeWord, _ phase: WakeWord.Phase)
}

/// The latest times at which a wait may end, one for each clock, in nanoseconds; `Int64.max` for a clock without a
/// limit.
package struct WaitLimit: Equatable, Sendable {
    var monotonic: Int64 = .max
    var boottime: Int64 = .max
    var realtime: Int64 = .max

    static let forever = WaitLimit()

    /// The limit on one clock.
    package subscript(clock: RunLoop.ClockID) -> Int64 {
        get {
            switch clock {
            case .monotonic: monotonic
            case .boottime: boottime
            case .realtime: realtime
            }
        }
        set {
            switch clock {
            case .monotonic: monotonic = newValue
            case .boottime: boottime = newValue
            case .realtime: realtime = newValue
            }
        }
    }
}

/// A ready descriptor: its token, and the events it is ready for.
package struct ReadyDescriptor: Equatable, Sendable {
    let token: UInt64
    let events: RunLoop.DescriptorEvents

    /// A descriptor with its token and its events.
    package init(token: UInt64, events: RunLoop.DescriptorEvents) {
        self.token = token
        self.events = events
    }
}

/// A set of descriptors that a thread can wait for.
package protocol Readiness: AnyObject {
    /// Starts to report `descriptor` with `token` while any of `events` holds (level-triggered).
    ///
    /// Promises: takes effect with the next wait. A caller that changes the set of a waiting thread has to wake that
    /// thread. The same holds for ``modify(_:for:token:)`` and ``unregister(_:)``. Hang-up and error are always
    /// reported. Throws the system's error; in that case the set is unchanged.
    func register(
        _ descriptor: CInt, for events: RunLoop.DescriptorEvents, token: UInt64
    ) throws(RunLoop.SystemCallError)

    /// Makes everything that ``register(_:for:token:)`` needs from the system beside an entry for the descriptor.
    ///
    /// After a success, registering is not refused for want of a descriptor.
    func reserve() throws(RunLoop.SystemCallError)

    /// Changes the events of a registered descriptor.
    func modify(
        _ descriptor: CInt, for events: RunLoop.DescriptorEvents, token: UInt64
    ) throws(RunLoop.SystemCallError)

    /// Stops reporting the descriptor.
    ///
    /// A descriptor that was closed before has already left the set; that is not an error.
    func unregister(_ descriptor: CInt)

    /// Whether the set still contains the file that was registered under this number: not if other code has closed the
    /// descriptor, and not if the number is another file's since.
    func isWatching(_ descriptor: CInt) -> Bool

    /// Appends the ready descriptors to `ready`, in the order in which the kernel found them.
    func look(into ready: inout [ReadyDescriptor])

    /// Appends the ready descriptors to `ready`; if none is ready yet, sleeps until one is.
    ///
    /// Promises: the thread falls asleep only by ``WakeWord/fallAsleep(_:)``, so that no request of another thread is
    /// missed. The wait returns when something is ready, when another thread has changed `word`, or when a limit has
    /// passed. It may also return for no reason; the caller looks and waits again. `word` keeps the value that it has
    /// at the end of the sleep.
    func wait(_ word: borrowing WakeWord, until limit: WaitLimit, into ready: inout [ReadyDescriptor])

    /// The events that a registered descriptor is ready for now; used if an earlier answer may be out of date.
    func confirm(_ descriptor: CInt) -> RunLoop.DescriptorEvents

    /// Releases all resources of the system. The set is empty afterwards and is not used again.
    func close()
}

/// A kernel whose loop can be a guest: a host that waits for one descriptor waits for all that the loop waits for.
///
/// The manual kernel is not a guest kernel: no descriptor can wait for virtual time.
protocol GuestKernel: Kernel {
    /// Makes the descriptor, and everything that it needs: nothing is made later, so that nothing can be refused later.
    func makeGuest() throws(RunLoop.SystemCallError) -> any GuestDescriptor
}

/// One descriptor that is readable when a loop has something to do.
///
/// It replaces the sleep of the thread: every event that would end the sleep makes it readable. The members are called
/// with the loop's lock held, unless a comment says otherwise.
protocol GuestDescriptor: AnyObject {
    /// The number of the descriptor, which never changes.
    ///
    /// The descriptor becomes readable, but nothing is to be read from it.
    var descriptor: CInt { get }

    /// Makes the descriptor readable at these instants, in place of the instants that were set before.
    func set(_ limit: WaitLimit)

    /// Makes the descriptor readable while anything in `readiness` is ready, in place of the set that was linked
    /// before.
    ///
    /// Returns false if something is ready that a descriptor cannot show: the caller then has to call
    /// ``Kernel/wake(_:_:)``. Call this before ``set(_:)``: if the system refused the link, ``set(_:)`` makes the
    /// descriptor readable every millisecond instead.
    func link(_ readiness: any Readiness) -> Bool

    /// Keeps the descriptor from becoming readable, until ``speak()`` is called.
    func silence()

    /// Ends the effect of ``silence()``: a wake-up makes the descriptor readable again, and so do sets and instants
    /// that are linked and set from now on.
    ///
    /// A wake-up before this call does not make it readable, not even for a moment: a host may watch from another
    /// thread.
    func speak()

    /// Consumes the wake-up that has made the descriptor readable, if there is one: only another wake-up makes it
    /// readable again.
    ///
    /// The loop's thread, without the lock.
    func awaken()

    /// Closes the descriptor and everything that was made with it.
    func close()
}
