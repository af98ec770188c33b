// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import Testing

@testable import RunLoops

/// What a loop asks of the system, counted, and what it does when the system refuses.
@Suite(.ownThread) struct SystemCallTests {
    @Test func `An idle loop with one distant timer is not woken`() {
        let calls = CountingCalls()
        withRealLoop(calls: calls) { loop in
            loop.add(RunLoop.Timer(.after(.seconds(3600))) { _ in }, in: .default)
            let turns = Box(0)
            loop.add(RunLoop.Observer(.afterWaiting) { _, _ in turns.value += 1 }, in: .default)
            #expect(loop.run(in: .default, for: .milliseconds(100)) == .timedOut)
            // The one wait that the end of the time ended.
            #expect(calls.waits == 1)
            #expect(calls.wakes == 0)
            #expect(turns.value == 1)
        }
    }

    @Test func `An idle loop with descriptors and one distant timer is not woken`() {
        let calls = CountingCalls()
        withRealLoop(calls: calls) { loop in
            let pipe = DescriptorPair.pipe()
            addDescriptorSource(RunLoop.DescriptorSource(pipe.first) { _, _ in }, to: loop)
            loop.add(RunLoop.Timer(.after(.seconds(3600))) { _ in }, in: .default)
            calls.takeCounts()
            #expect(loop.run(in: .default, for: .milliseconds(100)) == .timedOut)
            #expect(calls.waits == 1)
            #expect(calls.wakes == 0)
        }
    }

    @Test func `A turn in a mode without descriptors makes no system call`() {
        let calls = CountingCalls()
        withRealLoop(calls: calls) { loop in
            let source = loop.addSource()
            loop.add(RunLoop.Timer(.every(.nanoseconds(1))) { _ in }, in: .default)
            for _ in 0..<10 {
                source.signal()
                loop.performLocally {}
                loop.runTurn()
            }
            #expect(calls.takeCounts().isEmpty)
        }
        #expect(calls.openDescriptors == 0)
    }

    @Test func `A wake-up while the loop is awake costs no system call`() {
        let calls = CountingCalls()
        withRealLoop(calls: calls) { loop in
            loop.addSource()
            for activity: RunLoop.Activities in [.beforeTimers, .beforeSources, .beforeWaiting, .afterWaiting] {
                loop.add(RunLoop.Observer(activity, repeats: false) { _, _ in loop.wakeUp() }, in: .default)
            }
            loop.run(in: .default, for: .milliseconds(1))
            loop.wakeUp()
            #expect(calls.wakes == 0)
        }
    }

    @Test(arguments: [false, true]) func `A wake-up of a sleeping loop costs one system call`(hasDescriptors: Bool) {
        let calls = CountingCalls()
        withRealLoop(calls: calls) { loop in
            let pipe = DescriptorPair.pipe()
            loop.addSource()
            if hasDescriptors { addDescriptorSource(RunLoop.DescriptorSource(pipe.first) { _, _ in }, to: loop) }
            let turns = Box(0)
            loop.add(
                RunLoop.Observer(.afterWaiting) { _, _ in
                    turns.value += 1
                    if turns.value == 10 { loop.stop() }
                }, in: .default)
            let rounds = Locked(0)
            loop.add(RunLoop.Observer(.beforeWaiting) { _, _ in rounds.increment() }, in: .default)
            let waker = TestThread {
                for round in 1...10 {
                    // Not before the loop is on its way to sleep for the n-th time, and in the phase of a sleeper.
                    waitUntil { rounds.count >= round && loop.isWaiting }
                    loop.wakeUp()
                }
            }
            #expect(loop.runPlenty() == .stopped)
            waker.join()
            #expect(calls.wakes <= 10)
            #expect(turns.value == 10)
        }
    }

    @Test func `Ready descriptors are fetched by one system call and served one per turn`() {
        let calls = CountingCalls()
        withRealLoop(calls: calls) { loop in
            let pipes = (0..<10).map { _ in DescriptorPair.pipe() }
            let served = Box(0)
            for pipe in pipes {
                addDescriptorSource(
                    RunLoop.DescriptorSource(pipe.first) { descriptorSource, _ in
                        served.value += 1
                        _ = readText(descriptorSource.descriptor)
                        if served.value == 10 { loop.stop() }
                    }, to: loop)
                pipe.send("x")
            }
            let turns = Box(0)
            loop.add(RunLoop.Observer(.beforeTimers) { _, _ in turns.value += 1 }, in: .default)
            calls.takeCounts()
            #expect(loop.runPlenty() == .stopped)
            #expect(turns.value == 10)
            #expect(calls.waits + calls.count("epoll_poll") == 1)
        }
    }

    @Test func `Adding and removing a descriptor costs one system call each`() {
        let calls = CountingCalls()
        withRealLoop(calls: calls) { loop in
            let (first, second) = (DescriptorPair.pipe(), DescriptorPair.pipe())
            addDescriptorSource(RunLoop.DescriptorSource(first.first) { _, _ in }, to: loop)
            calls.takeCounts()
            let descriptorSource = RunLoop.DescriptorSource(second.first) { _, _ in }
            addDescriptorSource(descriptorSource, to: loop)
            #expect(calls.takeCounts() == ["epoll_add": 1])
            descriptorSource.events = [.readable, .writable]
            #expect(calls.takeCounts() == ["epoll_modify": 1])
            descriptorSource.invalidate()
            #expect(calls.takeCounts() == ["epoll_remove": 1])
        }
    }

    @Test func `Each fire of a timer costs at most one wait`() {
        let calls = CountingCalls()
        withRealLoop(calls: calls) { loop in
            let fires = Box(0)
            loop.add(
                RunLoop.Timer(.every(.milliseconds(2))) { _ in
                    fires.value += 1
                    // A late fire needs no sleep, and each of the first five may be late.
                    if fires.value >= 5, calls.count("futex_wait") > 0 { loop.stop() }
                }, in: .default)
            #expect(loop.runPlenty() == .stopped)
            #expect(calls.count("futex_wait") <= fires.value)
            #expect(calls.count("timer_slack") == 1)
            #expect(Set(calls.takeCounts().keys) == ["futex_wait", "timer_slack"])
        }
    }

    // MARK: Fallbacks

    @Test(arguments: [ENOSYS, EPERM]) func `Without epoll_pwait2 the loop waits with a timer descriptor`(code: CInt) {
        let calls = CountingCalls()
        calls.failAlways("epoll_pwait2", with: code)
        withRealLoop(calls: calls) { loop in
            let pipe = DescriptorPair.pipe()
            addDescriptorSource(RunLoop.DescriptorSource(pipe.first) { _, _ in }, to: loop)
            let dates = Box(0)
            loop.add(
                RunLoop.Timer(.every(.milliseconds(3))) { timer in
                    #expect(timer.deadline <= .now)
                    dates.value += 1
                    // A late timer needs no wait, and each of the first four may be late.
                    if dates.value >= 4, calls.count("timerfd_create") > 0 { loop.stop() }
                }, in: .default)
            #expect(loop.runPlenty() == .stopped)
            // Asked once and never again.
            #expect(calls.count("epoll_pwait2") == 1)
            #expect(calls.count("timerfd_create") == 1)
        }
        #expect(calls.openDescriptors == 0)
    }

    @Test(arguments: ["futex_wait", "epoll_pwait2"]) func `A wait interrupted by a signal continues without a new turn`(
        call: String
    ) {
        let calls = CountingCalls()
        withRealLoop(calls: calls) { loop in
            let pipe = DescriptorPair.pipe()
            if call != "futex_wait" { addDescriptorSource(RunLoop.DescriptorSource(pipe.first) { _, _ in }, to: loop) }
            loop.addSource()
            for _ in 0..<3 { calls.failNext(call, with: EINTR) }
            let turns = Box(0)
            loop.add(RunLoop.Observer(.beforeTimers) { _, _ in turns.value += 1 }, in: .default)
            let stopper = TestThread {
                waitUntil { calls.count(call) == 4 }
                loop.stopWhenRunning()
            }
            #expect(loop.runPlenty() == .stopped)
            stopper.join()
            #expect(turns.value == 1)
            #expect(calls.count(call) == 4)
        }
    }

    @Test func `A timer fires even if setting the timer slack is refused`() {
        let calls = CountingCalls()
        calls.failAlways("timer_slack", with: EPERM)
        withRealLoop(calls: calls) { loop in
            loop.add(RunLoop.Timer(.after(.milliseconds(1))) { _ in }, in: .default)
            #expect(loop.runPlenty() == .finished)
        }
    }

    @Test(arguments: ["epoll_create", "eventfd", "epoll_add"])
    func `add throws the error of a failed system call, and the source is in no mode`(call: String) {
        let calls = CountingCalls()
        withRealLoop(calls: calls) { loop in
            let pipe = DescriptorPair.pipe()
            let descriptorSource = RunLoop.DescriptorSource(pipe.first) { _, _ in loop.stop() }
            calls.failNext(call, with: EMFILE)
            let names = ["epoll_create": "epoll_create1", "eventfd": "eventfd", "epoll_add": "epoll_ctl"]
            #expect(throws: RunLoop.SystemCallError(call: names[call] ?? "", code: EMFILE)) {
                try loop.add(descriptorSource, in: .default)
            }
            #expect(!loop.contains(descriptorSource, in: .default))
            #expect(loop.runTurn() == .finished)
            // And it works when there are descriptors again.
            addDescriptorSource(descriptorSource, to: loop)
            pipe.send("x")
            #expect(loop.runPlenty() == .stopped)
        }
        #expect(calls.openDescriptors == 0)
    }

    @Test(arguments: 0..<7)
    func `If a system call fails while a source is added to three modes, the source is in none of them`(step: Int) {
        let calls = CountingCalls()
        withRealLoop(calls: calls) { loop in
            let pipe = DescriptorPair.pipe()
            loop.markCommon("second")
            loop.markCommon("third")
            let witness = Witness()
            do {
                let token = witness.makeToken()
                let descriptorSource = RunLoop.DescriptorSource(pipe.first) { _, _ in withExtendedLifetime(token) {} }
                // The wake descriptor and the descriptor, in each of three epolls.
                let makes = step == 6
                calls.failNext(makes ? "epoll_create" : "epoll_add", with: ENOMEM, after: makes ? 2 : step)
                #expect(throws: RunLoop.SystemCallError.self) { try loop.add(descriptorSource, in: .common) }
                for mode: RunLoop.Mode in [.default, "second", "third", .common] {
                    #expect(!loop.contains(descriptorSource, in: mode))
                    #expect(mode == .common || loop.isEmpty(in: mode))
                }
            }
            #expect(witness.isGone)
        }
        #expect(calls.openDescriptors == 0)
    }

    @Test func `A boottime timer fires, but not early, if no timer descriptor can be made`() {
        let calls = CountingCalls()
        calls.failAlways("timerfd_create", with: EMFILE)
        withRealLoop(calls: calls) { loop in
            let timer = RunLoop.Timer(.after(.milliseconds(10), clock: .boottime)) { timer in
                #expect(timer.deadline <= .now(.boottime))
            }
            loop.add(timer, in: .default)
            #expect(loop.runPlenty() == .finished)
        }
        #expect(calls.openDescriptors == 0)
    }

    // MARK: The whole process

    @Test func `A loop closes all its descriptors when it ends`() async {
        await #expect(processExitsWith: .success) {
            await letDispatchOpenItsTimers()
            func use() {
                TestThread {
                    let loop = RunLoop.current
                    let pipe = DescriptorPair.pipe()
                    let descriptorSource = RunLoop.DescriptorSource(pipe.first) { _, _ in }
                    for mode: RunLoop.Mode in [.default, "a", "b"] {
                        addDescriptorSource(descriptorSource, to: loop, in: mode)
                    }
                    for base in RunLoop.ClockID.allCases {
                        loop.add(RunLoop.Timer(.after(.milliseconds(1), clock: base)) { _ in }, in: .default)
                    }
                    _ = loop.run(in: .default, for: .milliseconds(5))
                }.join()
            }
            // What the process makes once and keeps.
            use()
            let before = countOpenDescriptors()
            for _ in 0..<10 { use() }
            #expect(countOpenDescriptors() == before)
        }
    }

    @Test func `Without free descriptors add throws EMFILE and the loop still serves timers`() async {
        await #expect(processExitsWith: .success) {
            TestThread {
                let loop = RunLoop.current
                let pipe = DescriptorPair.pipe()
                var limit = rlimit()
                getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                let whole = limit
                limit.rlim_cur = rlim_t(pipe.first)
                setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                let descriptorSource = RunLoop.DescriptorSource(pipe.first) { _, _ in loop.stop() }
                #expect(throws: RunLoop.SystemCallError(call: "eventfd", code: EMFILE)) {
                    try loop.add(descriptorSource, in: .default)
                }
                // Timers need no descriptor.
                loop.add(RunLoop.Timer(.after(.milliseconds(1))) { _ in }, in: .default)
                #expect(loop.runPlenty() == .finished)
                setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                var restored = whole
                setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &restored)
                addDescriptorSource(descriptorSource, to: loop)
                pipe.send("x")
                #expect(loop.runPlenty() == .stopped)
            }.join()
        }
    }
}
