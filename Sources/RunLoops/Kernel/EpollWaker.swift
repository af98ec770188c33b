internal import CLinuxKernel
internal import Glibc
internal import Synchronization

/// How to wait with a limit finer than epoll's own milliseconds.
package enum FineWait: Sendable {
    /// `epoll_pwait2`, from Linux 5.11.
    case nanosecondCall
    /// A timerfd in the set, which every kernel has.
    case timerDescriptor
}

/// How the thread of a loop sleeps, and how others wake it: what a kernel and its sets of descriptors share.
///
/// A wake-up costs one system call when the thread sleeps and none when it does not: a word says which.
final class EpollWaker: @unchecked Sendable {
    // What a waker finds. Written by the loop's thread around each wait and by wakers.
    enum Sleeper {
        /// Awake: a wake-up only has to leave word.
        static let none: UInt32 = 0
        /// Word was left: the next wait ends at once.
        static let woken: UInt32 = 1
        static let inFutex: UInt32 = 2
        static let inEpoll: UInt32 = 3
    }

    let calls: any KernelCalls
    /// Falls back, once and for good, when the kernel says it does not know the call.
    @exclusivity(unchecked) var fineWait: FineWait
    let sleeper: UnsafeMutablePointer<Atomic<UInt32>>
    /// Taken inside the lock of a readiness.
    private let making = Lock()
    /// Made with the first epoll of the loop; in every epoll of the loop, edge-triggered and never read: each write is
    /// an edge, and the count cannot overflow within the age of the universe.
    @exclusivity(unchecked) private(set) var wakeDescriptor: CInt = -1
    /// The timer slack is a property of the thread: set once, before the first timed wait.
    @exclusivity(unchecked) private var hasFineSlack = false

    init(calls: any KernelCalls, fineWait: FineWait) {
        self.calls = calls
        self.fineWait = fineWait
        sleeper = .allocate(capacity: 1)
        sleeper.initialize(to: Atomic(Sleeper.none))
    }

    deinit {
        if wakeDescriptor >= 0 { _ = calls.close(wakeDescriptor) }
        sleeper.deinitialize(count: 1)
        sleeper.deallocate()
    }

    func wake() {
        // sequentiallyConsistent: what the waker wrote before must be seen by the loop's thread when it looks after
        // its own exchange in fallAsleep or awaken; the two are each other's partners.
        switch sleeper.pointee.exchange(Sleeper.woken, ordering: .sequentiallyConsistent) {
        case Sleeper.inFutex:
            _ = calls.futexWake(sleeper)
        case Sleeper.inEpoll:
            // EAGAIN (the count is full) still leaves the descriptor readable; the edge is there.
            _ = calls.eventWrite(wakeDescriptor)
        default:
            break
        }
    }

    /// Whether the thread may sleep: not when word was left since the last wait.
    func fallAsleep(as sleeping: UInt32) -> Bool {
        if sleeper.pointee.compareExchange(
            expected: Sleeper.none, desired: sleeping, ordering: .sequentiallyConsistent
        ).exchanged {
            return true
        }
        awaken()
        return false
    }

    func awaken() {
        sleeper.pointee.store(Sleeper.none, ordering: .sequentiallyConsistent)
    }

    /// The descriptor that wakes an epoll, made when the first is needed.
    ///
    /// Any thread: while one sleeps in one mode, another may add the first port of a second.
    func makeWakeDescriptor() throws(RunLoopSystemCallError) -> CInt {
        making.lock()
        defer { making.unlock() }
        if wakeDescriptor < 0 { wakeDescriptor = try check("eventfd", calls.eventCreate()) }
        return wakeDescriptor
    }

    /// Without this a timed wait ends up to 50 µs late, the slack that a thread is born with; timers have a tolerance
    /// of their own to say how late they may be.
    func prepareTimedWait() {
        guard !hasFineSlack else { return }
        hasFineSlack = true
        // A refusal (seccomp) leaves the default: later, not wrong.
        _ = calls.setTimerSlack(nanoseconds: 1)
    }
}
