// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RunLoopsDiagnostics

@Suite("The patience with a test")
struct TestPatienceTests {
    @Test func `a test hangs from its time on, and is not looked at before`() {
        let patience = TestPatience(began: 1000, time: 5000, idle: nil)
        #expect(patience.look(now: 1000, idleSince: 0) == (nil, 6000))
        #expect(patience.look(now: 5999, idleSince: 0) == (nil, 6000))
        #expect(patience.look(now: 6000, idleSince: nil).reason == .time)
        // Times are those of a caller: they may be of any size.
        #expect(TestPatience(began: 1000, time: .max, idle: nil).look(now: 2000, idleSince: nil) == (nil, .max))
    }

    @Test func `a test hangs if the process is idle for its idle time, which begins with the test`() {
        let patience = TestPatience(began: 1_000_000_000, time: 60_000_000_000, idle: 4_000_000_000)
        #expect(patience.look(now: 2_000_000_000, idleSince: 0) == (nil, 3_000_000_000))
        #expect(patience.look(now: 4_800_000_000, idleSince: 0) == (nil, 5_000_000_000))
        #expect(patience.look(now: 5_000_000_000, idleSince: 0).reason == .idle)
        #expect(patience.look(now: 5_000_000_000, idleSince: 2_000_000_000) == (nil, 6_000_000_000))
        #expect(patience.look(now: 5_000_000_000, idleSince: nil) == (nil, 6_000_000_000))
    }

    @Test func `a process is idle since the last look at which it had used a processor`() {
        var clock = IdleClock()
        clock.look(now: 0, processor: 0)
        #expect(clock.since == nil)
        clock.look(now: 1_000_000, processor: 1000)
        #expect(clock.since == 0)
        clock.look(now: 2_000_000, processor: 1500)
        #expect(clock.since == 0)
        clock.look(now: 3_000_000, processor: 3000)
        #expect(clock.since == nil)
        clock.look(now: 4_000_000, processor: 3000)
        #expect(clock.since == 3_000_000)
    }
}
