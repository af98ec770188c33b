// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import Testing

@testable import RunLoops

/// A loop that the system refuses descriptors or watches: it goes on with what it has, and neither spins nor forgets.
///
/// A wait may end later than it should on a busy machine, and never earlier: so the counts of waits have upper bounds.
@Suite(.ownThread) struct RunningOutTests {
    /// What can be out, as errors of the calls.
    static let refusals = [EMFILE, ENFILE, ENOMEM, ENOSPC]

    // MARK: Clocks without a timer descriptor

    @Test(arguments: [RunLoop.ClockID.boottime, .realtime], refusals)
    func `A descriptor is served even if timerfd_create fails for a timer's clock`(clock: RunLoop.ClockID, code: CInt) {
        let calls = CountingCalls()
        calls.failAlways("timerfd_create", with: code)
        withRealLoop(calls: calls) { loop in
            let pipe = DescriptorPair.pipe()
            addDescriptorSource(RunLoop.DescriptorSource(pipe.first) { _, _ in loop.stop() }, to: loop)
            loop.add(RunLoop.Timer(.after(.seconds(3600), clock: clock)) { _ in }, in: .default)
            pipe.send()
            #expect(loop.runPlenty() == .stopped)
        }
        #expect(calls.openDescriptors == 0)
    }

    @Test(arguments: [RunLoop.ClockID.boottime, .realtime], [true, false])
    func `A loop that cannot make a timer descriptor for a timer's clock polls rarely`(
        clock: RunLoop.ClockID, hasSource: Bool
    ) {
        let calls = CountingCalls()
        calls.failAlways(hasSource ? "timerfd_create" : "epoll_create", with: hasSource ? EMFILE : nil)
        withRealLoop(calls: calls) { loop in
            let pipe = DescriptorPair.pipe()
            if hasSource { addDescriptorSource(RunLoop.DescriptorSource(pipe.first) { _, _ in }, to: loop) }
            calls.failAlways("epoll_create", with: EMFILE)
            loop.add(RunLoop.Timer(.after(.seconds(3600), clock: clock)) { _ in }, in: .default)
            let turns = Box(0)
            loop.add(RunLoop.Observer(.beforeTimers) { _, _ in turns.value += 1 }, in: .default)
            calls.takeCounts()
            #expect(loop.run(in: .default, for: .milliseconds(500)) == .timedOut)
            #expect(calls.waits <= 7)
            #expect(turns.value == 1)
            // After a wake-up as before.
            let thread = TestThread { loop.wakeUp() }
            calls.takeCounts()
            #expect(loop.run(in: .default, for: .milliseconds(300)) == .timedOut)
            #expect(calls.waits <= 6)
            thread.join()
        }
        #expect(calls.openDescriptors == 0)
    }

    @Test(arguments: [RunLoop.ClockID.boottime, .realtime])
    func `A timer does not fire early after a failed timerfd_create`(clock: RunLoop.ClockID) {
        let calls = CountingCalls()
        calls.failNext("timerfd_create", with: EMFILE)
        withRealLoop(calls: calls) { loop in
            loop.add(
                RunLoop.Timer(.after(.milliseconds(250), clock: clock)) { timer in
                    #expect(timer.deadline <= .now(clock))
                }, in: .default)
            #expect(loop.runPlenty() == .finished)
            #expect(calls.waits <= 3)
        }
        #expect(calls.openDescriptors == 0)
    }

    /// The timer is distant, and the repeated call ends the run: a near date may have passed before the second wait, which then does
    /// not need the call.
    @Test(arguments: ["timerfd_create", "timerfd_settime"], [RunLoop.ClockID.boottime, .realtime])
    func `A failed call for a timer descriptor is repeated by the next wait`(call: String, clock: RunLoop.ClockID) {
        let calls = CountingCalls()
        calls.failNext(call, with: ENOMEM)
        withRealLoop(calls: calls) { loop in
            loop.add(RunLoop.Timer(.after(.seconds(3600), clock: clock)) { _ in }, in: .default)
            calls.afterEach { made in if made == call, calls.count(call) == 2 { loop.stop() } }
            #expect(loop.runPlenty() == .stopped)
            calls.afterEach(nil)
            #expect(calls.count(call) == 2)
            #expect(calls.waits <= 2)
        }
        #expect(calls.openDescriptors == 0)
    }

    @Test func `A timer does not fire early if neither epoll_pwait2 nor a timer descriptor is available`() {
        let calls = CountingCalls()
        calls.failAlways("timerfd_create", with: EMFILE)
        withRealLoop(calls: calls, fineWait: .timerDescriptor) { loop in
            let pipe = DescriptorPair.pipe()
            addDescriptorSource(RunLoop.DescriptorSource(pipe.first) { _, _ in }, to: loop)
            let fires = Box(0)
            loop.add(
                RunLoop.Timer(.every(.microseconds(2700))) { timer in
                    #expect(timer.deadline <= .now)
                    fires.value += 1
                    if fires.value == 10 { loop.stop() }
                }, in: .default)
            #expect(loop.runPlenty() == .stopped)
            // Rounded up, so that no wait ends before its timer.
            #expect(calls.waits <= 11)
        }
        #expect(calls.openDescriptors == 0)
    }

    // MARK: An epoll that cannot be replaced

    @Test func `A loop that cannot replace an epoll with a closed descriptor does not spin and serves the others`() {
        let calls = CountingCalls()
        withRealLoop(calls: calls) { loop in
            let good = DescriptorPair.pipe()
            let served = Box(0)
            addDescriptorSource(
                RunLoop.DescriptorSource(good.first) { source, _ in
                    _ = readText(source.descriptor)
                    served.value += 1
                    loop.stop()
                }, to: loop)
            let duplicate = leaveStale(in: loop) { calls.failAlways("epoll_create", with: EMFILE) }
            defer { close(duplicate) }
            let turns = Box(0)
            loop.add(RunLoop.Observer(.beforeTimers) { _, _ in turns.value += 1 }, in: .default)
            calls.takeCounts()
            #expect(loop.run(in: .default, for: .milliseconds(300)) == .timedOut)
            #expect(calls.waits <= 32)
            #expect(turns.value == 1)
            good.send()
            #expect(loop.runPlenty() == .stopped)
            #expect(served.value == 1)
            // With descriptors again it is replaced, and the loop sleeps in one go.
            calls.failAlways("epoll_create", with: nil)
            loop.runTurn()
            calls.takeCounts()
            #expect(loop.run(in: .default, for: .milliseconds(300)) == .timedOut)
            #expect(calls.waits == 1)
            good.send()
            #expect(loop.runPlenty() == .stopped)
            #expect(served.value == 2)
        }
        #expect(calls.openDescriptors == 0)
    }

    @Test func `If a guest's epoll with a closed descriptor cannot be replaced, the host can still sleep`() throws {
        let calls = CountingCalls()
        try withGuest(calls: calls) { host in
            let good = DescriptorPair.pipe()
            let served = Box(0)
            addDescriptorSource(
                RunLoop.DescriptorSource(good.first) { source, _ in
                    _ = readText(source.descriptor)
                    served.value += 1
                }, to: host.loop)
            let duplicate = leaveStale(in: host.loop) { calls.failAlways("epoll_create", with: EMFILE) }
            defer { close(duplicate) }
            let end = RunLoop.Instant.now.advanced(by: .milliseconds(300))
            var rounds = 0
            while RunLoop.Instant.now < end {
                if host.isReadable(within: .milliseconds(50)) { host.loop.runReady() }
                rounds += 1
            }
            #expect(rounds <= 310)
            good.send()
            #expect(host.run { served.value == 1 } != nil)
        }
    }
}

/// Has the epoll of the default mode report a file for which no source is left; returns the duplicate that
/// keeps the file open.
private func leaveStale(in loop: RunLoop, before removal: () -> Void) -> CInt {
    let pipe = DescriptorPair.pipe()
    let duplicate = dup(pipe.first)
    let source = RunLoop.DescriptorSource(pipe.first) { _, _ in Issue.record("called") }
    addDescriptorSource(source, to: loop)
    pipe.send()
    pipe.closeFirst()
    removal()
    source.invalidate()
    return duplicate
}
