// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

@testable import RunLoops

/// The clocks that a random program sets, and sets of descriptors that are tables: nothing here asks the system.
// Unchecked: one thread uses it.
final class StateKernel: Kernel, @unchecked Sendable {
    var monotonic: Int64 = 1_000_000_000
    /// The differences of the other clocks from the monotonic clock.
    var suspended: Int64 = 0
    var wallClock: Int64 = 500
    /// The number of times that a thread was woken.
    var wakes = 0
    /// How many registrations are refused from now on, and how many were refused.
    var refusalsLeft = 0
    private(set) var refused = 0
    private(set) var sets: [StateReadiness] = []

    func now(_ clock: RunLoop.ClockID) -> Int64 {
        switch clock {
        case .monotonic: monotonic
        case .boottime: monotonic + suspended
        case .realtime: monotonic + wallClock
        }
    }

    func makeReadiness() -> any Readiness {
        let made = StateReadiness(self)
        sets.append(made)
        return made
    }

    func wake(_ word: borrowing WakeWord, _ phase: WakeWord.Phase) { wakes += 1 }

    fileprivate func refuses() -> Bool {
        guard refusalsLeft > 0 else { return false }
        refusalsLeft -= 1
        refused += 1
        return true
    }
}

final class StateReadiness: Readiness {
    private unowned let kernel: StateKernel
    private(set) var watched: [CInt: (events: RunLoop.DescriptorEvents, token: UInt64)] = [:]
    /// The tokens of registrations that have ended, by descriptor.
    private(set) var former: [CInt: UInt64] = [:]
    private(set) var isClosed = false

    fileprivate init(_ kernel: StateKernel) { self.kernel = kernel }

    func register(
        _ descriptor: CInt, for events: RunLoop.DescriptorEvents, token: UInt64
    ) throws(RunLoop.SystemCallError) {
        precondition(watched[descriptor] == nil, "EEXIST")
        try refuse()
        watched[descriptor] = (events, token)
    }

    func modify(
        _ descriptor: CInt, for events: RunLoop.DescriptorEvents, token: UInt64
    ) throws(RunLoop.SystemCallError) {
        guard let known = watched[descriptor] else { preconditionFailure("ENOENT") }
        // To watch for less, a system needs nothing.
        if !events.isSubset(of: known.events) { try refuse() }
        watched[descriptor] = (events, token)
    }

    private func refuse() throws(RunLoop.SystemCallError) {
        if kernel.refuses() { throw RunLoop.SystemCallError(call: "epoll_ctl", code: ENOMEM) }
    }

    func unregister(_ descriptor: CInt) {
        if let known = watched.removeValue(forKey: descriptor) { former[descriptor] = known.token }
    }

    func reserve() {}
    func isWatching(_ descriptor: CInt) -> Bool { watched[descriptor] != nil }
    func look(into ready: inout [ReadyDescriptor]) {}
    func wait(_ word: borrowing WakeWord, until limit: WaitLimit, into ready: inout [ReadyDescriptor]) {}
    func confirm(_ descriptor: CInt) -> RunLoop.DescriptorEvents { watched[descriptor]?.events ?? [] }
    func close() { isClosed = true }
}

/// The descriptor of a host, which has a limit and no number.
final class StateGuestDescriptor: GuestDescriptor {
    private(set) var limit: WaitLimit

    init(_ limit: WaitLimit) { self.limit = limit }

    let descriptor: CInt = -1
    func set(_ limit: WaitLimit) { self.limit = limit }
    func link(_ readiness: any Readiness) -> Bool { true }
    func silence() {}
    func speak() {}
    func awaken() {}
    func close() {}
}
