// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoopsLibC

// The calls of a loop to Linux: clocks, futexes, epoll, eventfd, timerfd. Tests that count or refuse them use another
// `KernelCalls`. Apart from these, the library asks the system for pages of memory (Timers/TimerMemory.swift), for a
// key of each thread (RunLoop/ThreadLoop.swift), and for libdispatch's main queue (Turn/MainQueue.swift).

/// The system calls for clocks, threads, and the futexes of locks, made directly, so that they cost no more than in C.
package enum SystemCalls {
    /// The present time of a clock, in nanoseconds.
    package static func now(_ clock: RunLoop.ClockID) -> Int64 {
        switch clock {
        case .monotonic: rl_clock_now(CLOCK_MONOTONIC)
        case .boottime: rl_clock_now(CLOCK_BOOTTIME)
        case .realtime: rl_clock_now(CLOCK_REALTIME)
        }
    }

    /// Whether no file is open under the number.
    static func isClosed(_ descriptor: CInt) -> Bool { !rl_is_open(descriptor) }

    /// The kernel's number of the calling thread; a read of a thread-local variable after the first call.
    package static var threadID: Int32 { rl_thread_id() }

    /// The number of the main thread.
    package static var mainThreadID: Int32 { rl_process_id() }

    /// Writes one line for the user at the terminal; a failure to write it is ignored.
    package static func writeToStandardError(_ text: String) {
        var text = text
        text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    // Futexes of locks, which have no kernel object of this package.

    /// Waits while the word is `expected`; returns whether `deadline` of the monotonic clock has come.
    static func futexWait(_ word: UnsafeRawPointer, expected: UInt32, until deadline: Int64 = .max) -> Bool {
        // EAGAIN (the word changed), EINTR: the caller looks at the word again in any case.
        rl_futex_wait(word, expected, deadline) == -ETIMEDOUT
    }

    /// Wakes one thread that waits on the word.
    static func futexWake(_ word: UnsafeRawPointer) {
        _ = rl_futex_wake(word, 1)
    }

    static func futexWakeAll(_ word: UnsafeRawPointer) {
        _ = rl_futex_wake(word, .max)
    }
}

/// Identifies the file that a descriptor is open on.
struct FileIdentity: Equatable, Sendable {
    var device: UInt64 = 0
    var number: UInt64 = 0

    init() {}
}

/// The calls that a kernel makes to Linux.
///
/// A protocol, so that tests can count the calls and make them fail.
///
/// All return the system's result, with errors as negative error numbers.
protocol KernelCalls: AnyObject, Sendable {
    func futexWait(_ word: UnsafeRawPointer, expected: UInt32, until deadline: Int64) -> CInt
    func futexWake(_ word: UnsafeRawPointer) -> CInt
    func epollWait(_ epoll: CInt, _ events: UnsafeMutablePointer<epoll_event>, _ capacity: CInt, nanoseconds: Int64)
        -> CInt
    func epollWait(_ epoll: CInt, _ events: UnsafeMutablePointer<epoll_event>, _ capacity: CInt, milliseconds: CInt)
        -> CInt
    func poll(_ descriptor: CInt, events: Int16) -> CInt
    func identify(_ descriptor: CInt, _ file: inout FileIdentity) -> CInt
    func setTimerSlack(nanoseconds: UInt) -> CInt
    func epollCreate() -> CInt
    func epollAdd(_ epoll: CInt, _ descriptor: CInt, events: UInt32, token: UInt64) -> CInt
    func epollModify(_ epoll: CInt, _ descriptor: CInt, events: UInt32, token: UInt64) -> CInt
    func epollRemove(_ epoll: CInt, _ descriptor: CInt) -> CInt
    func eventCreate() -> CInt
    func eventWrite(_ descriptor: CInt) -> CInt
    func eventTake(_ descriptor: CInt) -> CInt
    func timerCreate(_ clock: RunLoop.ClockID) -> CInt
    func timerSet(_ descriptor: CInt, deadline: Int64, cancelOnSet: Bool) -> CInt
    func close(_ descriptor: CInt) -> CInt
}

/// Makes the calls of ``KernelCalls`` to Linux.
final class LinuxCalls: KernelCalls {
    static let shared = LinuxCalls()

    init() {}

    // MARK: Waiting

    func futexWait(_ word: UnsafeRawPointer, expected: UInt32, until deadline: Int64) -> CInt {
        rl_futex_wait(word, expected, deadline)
    }

    func futexWake(_ word: UnsafeRawPointer) -> CInt {
        rl_futex_wake(word, 1)
    }

    func epollWait(
        _ epoll: CInt, _ events: UnsafeMutablePointer<epoll_event>, _ capacity: CInt, nanoseconds: Int64
    ) -> CInt {
        rl_epoll_wait_nanoseconds(epoll, events, capacity, nanoseconds)
    }

    func epollWait(
        _ epoll: CInt, _ events: UnsafeMutablePointer<epoll_event>, _ capacity: CInt, milliseconds: CInt
    ) -> CInt {
        rl_epoll_wait_milliseconds(epoll, events, capacity, milliseconds)
    }

    func poll(_ descriptor: CInt, events: Int16) -> CInt { rl_poll(descriptor, events) }

    func identify(_ descriptor: CInt, _ file: inout FileIdentity) -> CInt {
        rl_file_identity(descriptor, &file.device, &file.number)
    }

    func setTimerSlack(nanoseconds: UInt) -> CInt {
        rl_set_timer_slack(nanoseconds)
    }

    // MARK: Descriptors

    func epollCreate() -> CInt { rl_epoll_create() }

    func epollAdd(_ epoll: CInt, _ descriptor: CInt, events: UInt32, token: UInt64) -> CInt {
        rl_epoll_add(epoll, descriptor, events, token)
    }

    func epollModify(_ epoll: CInt, _ descriptor: CInt, events: UInt32, token: UInt64) -> CInt {
        rl_epoll_modify(epoll, descriptor, events, token)
    }

    func epollRemove(_ epoll: CInt, _ descriptor: CInt) -> CInt { rl_epoll_remove(epoll, descriptor) }

    func eventCreate() -> CInt { rl_eventfd_create() }

    func eventWrite(_ descriptor: CInt) -> CInt { rl_eventfd_write(descriptor) }

    func eventTake(_ descriptor: CInt) -> CInt { rl_eventfd_take(descriptor) }

    func timerCreate(_ clock: RunLoop.ClockID) -> CInt {
        switch clock {
        case .monotonic: rl_timerfd_create(CLOCK_MONOTONIC)
        case .boottime: rl_timerfd_create(CLOCK_BOOTTIME)
        case .realtime: rl_timerfd_create(CLOCK_REALTIME)
        }
    }

    func timerSet(_ descriptor: CInt, deadline: Int64, cancelOnSet: Bool) -> CInt {
        rl_timerfd_set(descriptor, deadline, cancelOnSet)
    }

    func close(_ descriptor: CInt) -> CInt { rl_close(descriptor) }
}
