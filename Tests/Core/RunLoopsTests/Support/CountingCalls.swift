// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoopsTestSupport

@testable import RunLoops

/// Linux, with every call counted, descriptors followed from their making to their closing, and failures on demand.
final class CountingCalls: KernelCalls, @unchecked Sendable {
    private struct State {
        var counts: [String: Int] = [:]
        var failures: [(call: String, code: CInt, skips: Int)] = []
        var lastingFailures: [String: CInt] = [:]
        var open: Set<CInt> = []
        var afterEach: (@Sendable (String) -> Void)?
    }

    private let linux = LinuxCalls()
    private let state = Locked(State())

    // MARK: What a test asks

    /// How often `call` was made since the last ``takeCounts()``.
    func count(_ call: String) -> Int { state.withLock { $0.counts[call] ?? 0 } }

    /// All counts; they start anew.
    @discardableResult
    func takeCounts() -> [String: Int] {
        state.withLock { state in
            defer { state.counts = [:] }
            return state.counts
        }
    }

    /// Waits that may have slept.
    var waits: Int { count("futex_wait") + count("epoll_pwait2") + count("epoll_wait") }

    /// Calls that wake another thread.
    var wakes: Int { count("futex_wake") + count("eventfd_write") }

    /// Makes the next `call` fail, or the one after `skips` that do not.
    func failNext(_ call: String, with code: CInt, after skips: Int = 0) {
        state.withLock { $0.failures.append((call, code, skips)) }
    }

    /// Makes every `call` fail from now on; with `nil`, no call fails any more.
    func failAlways(_ call: String, with code: CInt?) { state.withLock { $0.lastingFailures[call] = code } }

    /// Descriptors the kernel has made and not closed.
    var openNumbers: Set<CInt> { state.withLock { $0.open } }
    var openDescriptors: Int { state.withLock { $0.open.count } }

    /// Has `body` called after every call, on the thread that made it and with its name.
    func afterEach(_ body: (@Sendable (String) -> Void)?) { state.withLock { $0.afterEach = body } }

    // MARK: Passing on

    private func pass(_ call: String, _ body: () -> CInt) -> CInt {
        defer { state.withLock { $0.afterEach }?(call) }
        let failure = state.withLock { state -> CInt? in
            state.counts[call, default: 0] += 1
            if let code = state.lastingFailures[call] { return code }
            guard let index = state.failures.firstIndex(where: { $0.call == call }) else { return nil }
            if state.failures[index].skips > 0 {
                state.failures[index].skips -= 1
                return nil
            }
            return state.failures.remove(at: index).code
        }
        if let failure { return -failure }
        let result = body()
        // A signal that another test has sent to the process: the loop has not asked for that, and will ask again.
        if result == -EINTR { state.withLock { $0.counts[call, default: 1] -= 1 } }
        return result
    }

    private func making(_ descriptor: CInt) -> CInt {
        if descriptor >= 0 { state.withLock { _ = $0.open.insert(descriptor) } }
        return descriptor
    }

    func futexWait(_ word: UnsafeRawPointer, expected: UInt32, until deadline: Int64) -> CInt {
        pass("futex_wait") { linux.futexWait(word, expected: expected, until: deadline) }
    }

    func futexWake(_ word: UnsafeRawPointer) -> CInt { pass("futex_wake") { linux.futexWake(word) } }

    func epollWait(
        _ epoll: CInt, _ events: UnsafeMutablePointer<epoll_event>, _ capacity: CInt, nanoseconds: Int64
    ) -> CInt {
        pass("epoll_pwait2") { linux.epollWait(epoll, events, capacity, nanoseconds: nanoseconds) }
    }

    func epollWait(
        _ epoll: CInt, _ events: UnsafeMutablePointer<epoll_event>, _ capacity: CInt, milliseconds: CInt
    ) -> CInt {
        pass(milliseconds == 0 ? "epoll_poll" : "epoll_wait") {
            linux.epollWait(epoll, events, capacity, milliseconds: milliseconds)
        }
    }

    func poll(_ descriptor: CInt, events: Int16) -> CInt {
        pass("poll") { linux.poll(descriptor, events: events) }
    }

    func identify(_ descriptor: CInt, _ file: inout FileIdentity) -> CInt {
        pass("fstat") { linux.identify(descriptor, &file) }
    }

    func setTimerSlack(nanoseconds: UInt) -> CInt {
        pass("timer_slack") { linux.setTimerSlack(nanoseconds: nanoseconds) }
    }

    func epollCreate() -> CInt { pass("epoll_create") { making(linux.epollCreate()) } }

    func epollAdd(_ epoll: CInt, _ descriptor: CInt, events: UInt32, token: UInt64) -> CInt {
        pass("epoll_add") { linux.epollAdd(epoll, descriptor, events: events, token: token) }
    }

    func epollModify(_ epoll: CInt, _ descriptor: CInt, events: UInt32, token: UInt64) -> CInt {
        pass("epoll_modify") { linux.epollModify(epoll, descriptor, events: events, token: token) }
    }

    func epollRemove(_ epoll: CInt, _ descriptor: CInt) -> CInt {
        pass("epoll_remove") { linux.epollRemove(epoll, descriptor) }
    }

    func eventCreate() -> CInt { pass("eventfd") { making(linux.eventCreate()) } }
    func eventWrite(_ descriptor: CInt) -> CInt { pass("eventfd_write") { linux.eventWrite(descriptor) } }
    func eventTake(_ descriptor: CInt) -> CInt { pass("eventfd_read") { linux.eventTake(descriptor) } }

    func timerCreate(_ base: RunLoop.ClockID) -> CInt { pass("timerfd_create") { making(linux.timerCreate(base)) } }

    func timerSet(_ descriptor: CInt, deadline: Int64, cancelOnSet: Bool) -> CInt {
        pass("timerfd_settime") { linux.timerSet(descriptor, deadline: deadline, cancelOnSet: cancelOnSet) }
    }

    func close(_ descriptor: CInt) -> CInt {
        state.withLock { _ = $0.open.remove(descriptor) }
        return pass("close") { linux.close(descriptor) }
    }
}
