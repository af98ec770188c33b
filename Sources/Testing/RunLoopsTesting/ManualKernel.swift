// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

package import RunLoops
internal import RunLoopsLibC
internal import Synchronization

/// A kernel whose time stands still until a wait moves it, and whose descriptors are ready when a test says so.
///
/// Everything except ``wake(_:_:)`` and ``now(_:)`` belongs to the loop's thread.
package final class ManualKernel: Kernel, @unchecked Sendable {
    /// The monotonic time in nanoseconds; the boot time adds `suspended`, and the wall clock adds `suspended` and
    /// `wallClock`.
    private let monotonic = Atomic<Int64>(1_000_000_000)
    private let suspended = Atomic<Int64>(0)
    private let wallClock = Atomic<Int64>(1_700_000_000_000_000_000)
    private let wakes = Atomic<Int>(0)

    /// The number of waits that were asked for; `sleeps` is the number of waits that have slept.
    package private(set) var waits = 0
    package private(set) var sleeps = 0
    /// The number of polls, which ask for ready descriptors without waiting.
    package private(set) var polls = 0
    /// Descriptors that are ready, in the order in which they became so.
    package var ready: [(descriptor: CInt, events: RunLoop.DescriptorEvents)] = []
    /// The number of next waits that end at once for no reason, as with EINTR.
    package var interruptions = 0
    /// The failures of the next calls, oldest first: the name of a call, and the error number with which it fails.
    package var failures: [(call: String, code: CInt)] = []
    /// Called when a thread is about to sleep without a limit.
    package var sleepsForever: () -> Void = {}
    /// The simulation of other threads and of the system's failures; usually `nil`.
    package weak var world: (any ManualWorld)?
    /// The number of watched descriptors; a descriptor counts once for each readiness that watches it.
    package fileprivate(set) var watched = 0

    package init() {}

    private struct WeakReadiness {
        weak var readiness: ManualReadiness?
    }

    /// The sets of descriptors of the loop's modes.
    private var sets: [WeakReadiness] = []

    /// Looks which of the watched descriptors are ready in real time; each is reported once, by the next look or wait.
    package func lookAtOpenDescriptors() { for set in sets { set.readiness?.lookAtOpenDescriptors() } }

    /// The number of calls of ``wake(_:_:)``.
    package var wakeCalls: Int { wakes.load(ordering: .relaxed) }

    package func now(_ clock: RunLoop.ClockID) -> Int64 {
        let time = monotonic.load(ordering: .relaxed)
        switch clock {
        case .monotonic: return time
        case .boottime: return time.clampedAdding(suspended.load(ordering: .relaxed))
        case .realtime:
            return time.clampedAdding(suspended.load(ordering: .relaxed)).clampedAdding(
                wallClock.load(ordering: .relaxed))
        }
    }

    package func makeReadiness() -> any Readiness {
        let readiness = ManualReadiness(kernel: self)
        sets.removeAll { $0.readiness == nil }
        sets.append(WeakReadiness(readiness: readiness))
        return readiness
    }

    package func wake(_ word: borrowing WakeWord, _ phase: WakeWord.Phase) { wakes.add(1, ordering: .relaxed) }

    /// Moves the monotonic clock forward to a time, in nanoseconds; an earlier time has no effect.
    package func advance(to time: Int64) { monotonic.store(max(time, now(.monotonic)), ordering: .relaxed) }

    /// Simulates a suspension of the machine: all clocks except the monotonic clock move forward.
    package func suspend(for nanoseconds: Int64) { Self.add(nanoseconds, to: suspended) }

    /// Changes the wall clock by a number of nanoseconds.
    package func changeWallClock(by nanoseconds: Int64) { Self.add(nanoseconds, to: wallClock) }

    // A clock stops at the first and the last instant that can be expressed. Only the loop's own thread changes it.
    private static func add(_ nanoseconds: Int64, to clock: borrowing Atomic<Int64>) {
        clock.store(clock.load(ordering: .relaxed).clampedAdding(nanoseconds), ordering: .relaxed)
    }

    fileprivate func takeFailure(of call: String) -> RunLoop.SystemCallError? {
        guard let index = failures.firstIndex(where: { $0.call == call }) else { return nil }
        return RunLoop.SystemCallError(call: call, code: failures.remove(at: index).code)
    }

    fileprivate func countPoll() { polls += 1 }

    /// Waits while nothing is ready: moves the clocks to the earliest limit.
    ///
    /// - Parameter isReady: Returns whether a descriptor has become ready meanwhile; called in a simulation only.
    fileprivate func sleep(_ word: borrowing WakeWord, until limit: WaitLimit, isReady: () -> Bool) {
        waits += 1
        if interruptions > 0 {
            interruptions -= 1
            return
        }
        world?.willSleep()
        if word.fallAsleep(.asleepOnWord) == nil { return }
        sleeps += 1
        let wakeCallsBefore = wakeCalls
        var lateness: Int64 = 0
        simulation: while let world {
            if wakeCalls != wakeCallsBefore || isReady() { return }
            switch world.whileAsleep(until: limit) {
            case .news: continue
            case .interruption: return
            case .nothing(let late):
                lateness = late
                break simulation
            }
        }
        let distances = RunLoop.ClockID.allCases.compactMap { clock -> Int64? in
            limit[clock] == .max ? nil : limit[clock].clampedAdding(-now(clock))
        }
        guard let nearest = distances.min() else { return sleepsForever() }
        advance(to: now(.monotonic).clampedAdding(max(0, nearest)).clampedAdding(lateness))
    }
}

/// A simulation around the calls of a manual kernel: other threads act, and the system refuses, interrupts or is late.
package protocol ManualWorld: AnyObject {
    /// Returns the error of a call that makes the kernel watch a descriptor for `events`; `nil` if the call succeeds.
    ///
    /// - Parameter former: The events for which the descriptor is watched already; `nil` if there are none.
    func refusal(of events: RunLoop.DescriptorEvents, former: RunLoop.DescriptorEvents?) -> RunLoop.SystemCallError?

    /// Called when the thread is about to sleep, the last moment at which a wake-up keeps it awake.
    func willSleep()

    /// Called while the thread sleeps; returns the next event.
    func whileAsleep(until limit: WaitLimit) -> ManualHappening
}

/// An event while a thread sleeps on a manual kernel.
package enum ManualHappening {
    /// An event that may end the sleep.
    case news
    /// The sleep ends for no reason.
    case interruption
    /// No event before the earliest limit; the thread wakes `late` nanoseconds after the limit.
    case nothing(late: Int64)
}

/// The descriptors of one mode under a manual kernel.
final class ManualReadiness: Readiness {
    private let kernel: ManualKernel
    private var registered: [CInt: (events: RunLoop.DescriptorEvents, token: UInt64)] = [:]
    /// Descriptors that were ready at the last look at real descriptors, and whether that was reported since.
    private var found: [(descriptor: CInt, events: RunLoop.DescriptorEvents, isReported: Bool)] = []

    init(kernel: ManualKernel) {
        self.kernel = kernel
    }

    func register(
        _ descriptor: CInt, for events: RunLoop.DescriptorEvents, token: UInt64
    ) throws(RunLoop.SystemCallError) {
        if let failure = kernel.takeFailure(of: "epoll_ctl") { throw failure }
        if let refusal = kernel.world?.refusal(of: events, former: nil) { throw refusal }
        if registered.updateValue((events, token), forKey: descriptor) == nil { kernel.watched += 1 }
    }

    func reserve() throws(RunLoop.SystemCallError) {
        if let failure = kernel.takeFailure(of: "epoll_create1") { throw failure }
    }

    func modify(
        _ descriptor: CInt, for events: RunLoop.DescriptorEvents, token: UInt64
    ) throws(RunLoop.SystemCallError) {
        if let failure = kernel.takeFailure(of: "epoll_ctl") { throw failure }
        if let refusal = kernel.world?.refusal(of: events, former: registered[descriptor]?.events) { throw refusal }
        registered[descriptor] = (events, token)
    }

    func unregister(_ descriptor: CInt) {
        if registered.removeValue(forKey: descriptor) != nil { kernel.watched -= 1 }
        found.removeAll { $0.descriptor == descriptor }
    }

    func isWatching(_ descriptor: CInt) -> Bool { registered[descriptor] != nil }

    func look(into ready: inout [ReadyDescriptor]) {
        kernel.countPoll()
        collect(into: &ready)
        takeFound(into: &ready)
    }

    func wait(_ word: borrowing WakeWord, until limit: WaitLimit, into ready: inout [ReadyDescriptor]) {
        collect(into: &ready)
        takeFound(into: &ready)
        if ready.isEmpty {
            kernel.sleep(word, until: limit) { isReady }
            collect(into: &ready)
        }
    }

    func confirm(_ descriptor: CInt) -> RunLoop.DescriptorEvents {
        kernel.ready.first { $0.descriptor == descriptor }?.events
            ?? found.first { $0.descriptor == descriptor }?.events ?? []
    }

    func close() {
        kernel.watched -= registered.count
        (registered, found) = ([:], [])
    }

    // MARK: Real descriptors

    func lookAtOpenDescriptors() {
        found = []
        for (descriptor, entry) in registered {
            let events = Self.poll(descriptor, entry.events)
            if !events.isEmpty { found.append((descriptor, events, false)) }
        }
    }

    private func takeFound(into ready: inout [ReadyDescriptor]) {
        for index in found.indices where !found[index].isReported {
            found[index].isReported = true
            guard let (_, token) = registered[found[index].descriptor] else { continue }
            ready.append(ReadyDescriptor(token: token, events: found[index].events))
        }
    }

    /// The events for which an open descriptor is ready now; none for a number that is not open.
    private static func poll(_ descriptor: CInt, _ events: RunLoop.DescriptorEvents) -> RunLoop.DescriptorEvents {
        let bits: [(RunLoop.DescriptorEvents, Int32)] = [
            (.readable, POLLIN), (.writable, POLLOUT), (.hangUp, POLLHUP), (.error, POLLERR), (.priority, POLLPRI),
        ]
        let asked = bits.filter { events.contains($0.0) }.reduce(0) { $0 | $1.1 }
        var polled = pollfd(fd: descriptor, events: Int16(asked), revents: 0)
        guard RunLoopsLibC.poll(&polled, 1, 0) > 0 else { return [] }
        return bits.filter { Int32(polled.revents) & $0.1 != 0 }.reduce(into: []) { $0.formUnion($1.0) }
    }

    private var isReady: Bool {
        var ready: [ReadyDescriptor] = []
        collect(into: &ready)
        return !ready.isEmpty
    }

    private func collect(into ready: inout [ReadyDescriptor]) {
        for (descriptor, events) in kernel.ready {
            guard let (wanted, token) = registered[descriptor] else { continue }
            let told = events.intersection(wanted.union([.hangUp, .error]))
            if !told.isEmpty { ready.append(ReadyDescriptor(token: token, events: told)) }
        }
    }
}
