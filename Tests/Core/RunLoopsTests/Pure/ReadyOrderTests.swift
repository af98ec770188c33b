// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsTestSupport
import RunLoopsTesting
import Testing

@testable import RunLoops

/// Specification 5.5: what has been ready longest goes first.
@Suite(.ownThread) struct ReadyOrderTests {
    // MARK: Timers

    @Test func `Timers count as ready since the first timer's date`() {
        let order = ReadyOrder()
        #expect(order.timersReady(since: 5) == 5)
        #expect(order.timersReady(since: -5) == -5)
    }

    @Test func `A due timer that becomes the first timer counts as ready since that moment`() {
        var order = ReadyOrder()
        order.firstTimerChanges(from: .max, now: 10)
        #expect(order.timersReady(since: 3) == 10)
        #expect(order.timersReady(since: 12) == 12)
    }

    @Test func `The date since which timers are ready stays when another timer becomes the next to fire`() {
        var order = ReadyOrder()
        // The first was due at 5, and goes at 10.
        order.firstTimerChanges(from: 5, now: 10)
        #expect(order.timersReady(since: 7) == 5)
        // The place stays whatever becomes the first now, and when that changes again.
        #expect(order.timersReady(since: 20) == 5)
        order.firstTimerChanges(from: 20, now: 30)
        #expect(order.timersReady(since: 40) == 5)
    }

    @Test func `If the earlier first timer was not due, timers count as ready since the new first timer's date`() {
        var order = ReadyOrder()
        order.firstTimerChanges(from: 20, now: 10)
        #expect(order.timersReady(since: 15) == 15)
    }

    @Test func `If the earlier first timer was due exactly now, timers count as ready since its date`() {
        var order = ReadyOrder()
        order.firstTimerChanges(from: 10, now: 10)
        #expect(order.timersReady(since: 12) == 10)
    }

    @Test func `After a timer was served, the next timer counts as ready since then at the earliest`() {
        var order = ReadyOrder()
        order.firstTimerChanges(from: 5, now: 8)
        order.timersServed(10, leavingOthers: false)
        #expect(order.timersReady(since: 7) == 10)
        #expect(order.timersReady(since: 12) == 12)
    }

    @Test func `Due timers that wait behind a served timer count as ready since it was served`() {
        var order = ReadyOrder()
        order.timersServed(10, leavingOthers: true)
        #expect(order.timersReady(since: 12) == 10)
        order.timersServed(14, leavingOthers: false)
        #expect(order.timersReady(since: 15) == 15)
    }

    @Test func `passTimers discards the date since which timers are ready if it is before the given instant`() {
        var order = ReadyOrder()
        order.firstTimerChanges(from: 5, now: 10)
        // A look that has gone no further than the place has not passed it.
        order.passTimers(before: 5)
        #expect(order.timersReady(since: 20) == 5)
        order.passTimers(before: 6)
        #expect(order.timersReady(since: 20) == 20)
    }

    @Test func `passTimers without an instant discards the date since which timers are ready`() {
        var order = ReadyOrder()
        order.firstTimerChanges(from: 5, now: 10)
        order.passTimers()
        #expect(order.timersReady(since: 20) == 20)
    }

    // MARK: Which goes first

    /// The kind that is served first if wake-ups, timers and descriptors are ready since these instants.
    private func first(_ wakeUp: Int64?, _ timers: Int64?, _ descriptors: Int64?) -> Cause? {
        ReadyOrder.first(wakeUp: wakeUp, timers: timers, descriptors: descriptors)
    }

    @Test func `first returns nil if nothing is ready`() { #expect(first(nil, nil, nil) == nil) }

    @Test(
        arguments: [
            (1, 2, 3, Cause.wakeUp), (1, 3, 2, .wakeUp), (2, 1, 3, .timers), (3, 1, 2, .timers), (2, 3, 1, .descriptor),
            (3, 2, 1, .descriptor),
        ] as [(Int64, Int64, Int64, Cause)])
    func `first returns the cause that has been ready longest`(
        wakeUp: Int64, timers: Int64, descriptors: Int64, expected: Cause
    ) {
        #expect(first(wakeUp, timers, descriptors) == expected)
    }

    @Test func `For equal dates, first returns a wake-up before timers, and timers before descriptors`() {
        #expect(first(1, 1, 1) == .wakeUp)
        #expect(first(nil, 1, 1) == .timers)
        #expect(first(1, nil, 1) == .wakeUp)
    }

    // MARK: In a loop

    /// A turn in which time passes, and how many turns it takes until the timer called "due" fires.
    ///
    /// A wake-up that goes first has a turn of its own.
    private func turns(
        until label: String = "due", _ prepare: (ManualRunLoop) -> Void = { _ in },
        _ turn: @escaping (ManualRunLoop) -> Void
    ) -> Int {
        ManualRunLoop.with { manual in
            manual.loop.addSource()
            prepare(manual)
            manual.loop.performLocally { turn(manual) }
            let recorder = RunLoop.TraceRecorder(manual.loop)
            manual.loop.run(in: .default, for: .seconds(1))
            let before = recorder.lines.prefix { !$0.contains("> timer \"\(label)\"") }
            #expect(before.count < recorder.lines.count, "the timer has not fired")
            return before.count { $0.contains("beforeTimers") }
        }
    }

    private func idle(_ manual: ManualRunLoop, milliseconds: Int) { manual.idle(for: .milliseconds(milliseconds)) }

    private func timer(after milliseconds: Int) -> RunLoop.Timer {
        RunLoop.Timer(.after(.milliseconds(milliseconds)), label: "due") { _ in }
    }

    @Test(arguments: [(3, 2), (7, 1)]) func `A turn serves the cause that has been ready longest`(
        wakeUp: Int, turns expected: Int
    ) {
        let turns = turns {
            $0.loop.add(timer(after: 5), in: .default)
        } _: { manual in
            idle(manual, milliseconds: wakeUp)
            manual.loop.wakeUp()
            idle(manual, milliseconds: 10 - wakeUp)
        }
        #expect(turns == expected)
    }

    @Test(arguments: [false, true])
    func `A timer that is due when it is added counts as ready since it was added`(isLate: Bool) {
        let late = Box<RunLoop.Timer?>(nil)
        let turns = turns {
            let timer = timer(after: 1)
            if isLate { late.value = timer } else { $0.loop.add(timer, in: .default) }
        } _: { manual in
            idle(manual, milliseconds: 3)
            manual.loop.wakeUp()
            idle(manual, milliseconds: 7)
            if let late = late.value { manual.loop.add(late, in: .default) }
        }
        #expect(turns == (isLate ? 2 : 1))
    }

    @Test(arguments: [false, true])
    func `A timer set to a past date counts as ready since it was set`(isRestarted: Bool) {
        let timer = Box<RunLoop.Timer?>(nil)
        let turns = turns {
            timer.value = self.timer(after: 500)
            if let timer = timer.value { $0.loop.add(timer, in: .default) }
        } _: { manual in
            let past = manual.now.advanced(by: .milliseconds(1))
            idle(manual, milliseconds: 3)
            manual.loop.wakeUp()
            idle(manual, milliseconds: 7)
            if isRestarted { timer.value?.restart(after: .zero) } else { timer.value?.deadline = past }
        }
        #expect(turns == 2)
    }

    @Test(arguments: [false, true])
    func `If a due timer is removed or postponed, the next timer is ready since the due timer's date`(isPutOff: Bool) {
        let turns = turns { manual in
            manual.loop.add(timer(after: 7), in: .default)
        } _: { manual in
            let first = RunLoop.Timer(.after(.milliseconds(1))) { _ in Issue.record("fired") }
            manual.loop.add(first, in: .default)
            idle(manual, milliseconds: 3)
            manual.loop.wakeUp()
            idle(manual, milliseconds: 7)
            if isPutOff { first.deadline = manual.now.advanced(by: .seconds(60)) } else { first.invalidate() }
        }
        #expect(turns == 1)
    }

    @Test func `A descriptor counts as ready since the poll before the poll that found it ready`() throws {
        try ManualRunLoop.with { manual in
            let loop = manual.loop
            for descriptor: CInt in 1...3 {
                try loop.add(
                    RunLoop.DescriptorSource(descriptor, label: "\(descriptor)") { _, _ in
                        // The first look was at the start; the timer is due before the second.
                        if descriptor == 1 { manual.idle(for: .milliseconds(10)) }
                        manual.setReady(descriptor, [])
                        if descriptor < 3 { manual.setReady(descriptor + 1, .readable) }
                    }, in: .default)
            }
            manual.setReady(1, .readable)
            loop.add(timer(after: 5), in: .default)
            let recorder = RunLoop.TraceRecorder(loop)
            loop.run(in: .default, for: .seconds(1))
            #expect(recorder.callouts == ["descriptor \"1\"", "descriptor \"2\"", "timer \"due\"", "descriptor \"3\""])
        }
    }

    @Test func `A descriptor does not count as ready before a poll that did not find it ready`() throws {
        try ManualRunLoop.with { manual in
            let loop = manual.loop
            let turn = Box(0)
            loop.add(
                RunLoop.Observer(.beforeTimers) { _, _ in
                    turn.value += 1
                    if turn.value == 1 {
                        manual.idle(for: .milliseconds(3))
                        loop.wakeUp()
                        manual.idle(for: .milliseconds(7))
                    } else if turn.value == 2 {
                        // The look at 10 has found the wake-up of 3, the timer of 5 and no descriptor.
                        manual.idle(for: .milliseconds(5))
                        manual.setReady(1, .readable)
                    }
                }, in: .default)
            try loop.add(
                RunLoop.DescriptorSource(1, label: "1") { _, _ in manual.setReady(1, []) }, in: .default)
            loop.add(timer(after: 5), in: .default)
            let recorder = RunLoop.TraceRecorder(loop)
            loop.run(in: .default, for: .seconds(1))
            #expect(recorder.callouts.filter { !$0.contains("observer") } == ["timer \"due\"", "descriptor \"1\""])
        }
    }
}
