// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import Synchronization
import Testing

@testable import RunLoops

/// What other threads want of a loop: every phase, wake-up and stop, in runs and nested runs.
@Suite(.ownThread) struct WakeWordTests {
    /// The word cannot be copied, which expectations do with what they look at.
    private final class Word {
        private let word = WakeWord()
        private(set) var asked = 0

        var phase: WakeWord.Phase { word.phase }
        var wakeUp: Int64? { word.wakeUp }
        var isStopped: Bool { word.isStopped }
        /// What the kernel compares before it lets a thread sleep.
        var lowerHalf: UInt32 { word.address.load(as: UInt32.self) }
        func beginRun() -> WakeWord.Outer { word.beginRun() }
        func endRun(_ outer: WakeWord.Outer, isStopped: Bool = false) { word.endRun(outer, isStopped: isStopped) }
        func beginTurn() -> Bool { word.beginTurn() }
        func beAwake() { word.beAwake() }
        func fallAsleep(_ phase: WakeWord.Phase = .asleepOnWord) -> UInt32? { word.fallAsleep(phase) }
        func enterHost() -> Bool { word.enterHost() }
        func leaveHost() { word.leaveHost() }
        func serveWakeUp() { word.serveWakeUp() }
        func serveStop() { word.serveStop() }
        func wake(at now: Int64 = 5) -> WakeWord.Phase? { word.wake { ask(now) } }
        func stop(at now: Int64 = 5) -> WakeWord.Phase? { word.stop { ask(now) } }
        func lookAgain() -> WakeWord.Phase? { word.lookAgain() }

        private func ask(_ now: Int64) -> Int64 {
            asked += 1
            return now
        }

        /// Goes from being awake to a phase, as the loop does.
        func enter(_ phase: WakeWord.Phase) {
            beAwake()
            if phase == .awake { return }
            if phase == .inHost {
                _ = enterHost()
                return
            }
            _ = beginTurn()
            if phase != .goingToSleep { _ = fallAsleep(phase) }
        }
    }

    private static let phases: [WakeWord.Phase] = [
        .awake, .goingToSleep, .asleepOnWord, .asleepOnDescriptors, .inHost,
    ]
    /// The phases in which a change has to reach the kernel, or the host.
    private static let asleep: [WakeWord.Phase] = [.asleepOnWord, .asleepOnDescriptors, .inHost]

    // MARK: Phases

    @Test func `A new wake word is in the phase awake, without a wake-up or a stop`() {
        let word = Word()
        #expect(word.phase == .awake)
        #expect(word.wakeUp == nil)
        #expect(!word.isStopped)
    }

    @Test func `Without a run a wake-up and a stop have no effect`() {
        let word = Word()
        #expect(word.wake() == nil)
        #expect(word.stop() == nil)
        #expect(word.wakeUp == nil)
        #expect(!word.isStopped)
        #expect(word.asked == 0)
    }

    @Test func `A wake-up is kept as soon as a run has begun`() {
        let word = Word()
        _ = word.beginRun()
        #expect(word.phase == .goingToSleep)
        #expect(word.wake(at: 4) == nil)
        #expect(word.wakeUp == 4)
    }

    @Test(arguments: phases) func `Each phase can follow every phase`(from: WakeWord.Phase) {
        let word = Word()
        _ = word.beginRun()
        for next in Self.phases {
            word.enter(from)
            #expect(word.phase == from)
            word.enter(next)
            #expect(word.phase == next)
        }
    }

    @Test func `leaveHost sets the phase goingToSleep`() {
        let word = Word()
        _ = word.beginRun()
        word.beAwake()
        #expect(!word.enterHost())
        #expect(word.phase == .inHost)
        word.leaveHost()
        #expect(word.phase == .goingToSleep)
        #expect(word.wake(at: 4) == nil)
        #expect(word.wakeUp == 4)
    }

    @Test func `enterHost returns true once after lookAgain, and after a wake-up until it is served`() {
        let word = Word()
        _ = word.beginRun()
        _ = word.lookAgain()
        #expect(word.enterHost())
        // Once: the host already knows.
        #expect(!word.enterHost())
        word.leaveHost()
        _ = word.wake()
        #expect(word.enterHost())
        // A wake-up waits until it is served.
        #expect(word.enterHost())
        word.serveWakeUp()
        #expect(!word.enterHost())
    }

    // MARK: Wake-ups

    @Test func `A wake-up before the sleep is kept and needs no call of the kernel`() {
        let word = Word()
        _ = word.beginRun()
        #expect(word.wake(at: 42) == nil)
        #expect(word.wakeUp == 42)
        #expect(word.fallAsleep() == nil)
        #expect(word.phase == .goingToSleep)
        #expect(word.wakeUp == 42)
    }

    @Test(arguments: asleep) func `Only the first wake-up of a sleeping loop calls the kernel`(phase: WakeWord.Phase) {
        let word = Word()
        _ = word.beginRun()
        word.enter(phase)
        #expect(word.wake(at: 7) == phase)
        #expect(word.wake(at: 8) == nil)
        #expect(word.wakeUp == 7)
    }

    @Test func `A wake-up after the sleep is not kept`() {
        let word = Word()
        _ = word.beginRun()
        word.enter(.awake)
        #expect(word.wake() == nil)
        #expect(word.wakeUp == nil)
        #expect(word.asked == 0)
    }

    @Test func `A wake-up is kept in all phases until it is served`() {
        let word = Word()
        _ = word.beginRun()
        word.enter(.asleepOnDescriptors)
        _ = word.wake(at: 0)
        for phase in Self.phases {
            word.enter(phase)
            #expect(word.wakeUp == 0)
        }
        word.enter(.goingToSleep)
        word.serveWakeUp()
        #expect(word.wakeUp == nil)
        #expect(word.phase == .goingToSleep)
        // And the next one counts anew.
        #expect(word.fallAsleep() != nil)
        #expect(word.wake(at: 9) == .asleepOnWord)
        #expect(word.wakeUp == 9)
    }

    @Test func `An unserved wake-up keeps the thread awake each time it would fall asleep`() {
        let word = Word()
        _ = word.beginRun()
        _ = word.wake()
        for _ in 0..<3 { #expect(word.fallAsleep() == nil) }
        word.serveWakeUp()
        #expect(word.fallAsleep() != nil)
    }

    @Test func `The clock is read only for a wake-up that is kept`() {
        let word = Word()
        _ = word.beginRun()
        _ = word.wake()
        _ = word.wake()
        _ = word.stop()
        #expect(word.asked == 1)
    }

    @Test func `A negative instant is stored as zero`() {
        let word = Word()
        _ = word.beginRun()
        _ = word.wake(at: -3)
        #expect(word.wakeUp == 0)
    }

    @Test func `An instant that is too large is stored as the largest that fits`() {
        let last: Int64 = (1 << 58) - 2
        for (instant, kept) in [(1 << 57, 1 << 57), (last, last), (last + 1, last), (.max, last)] as [(Int64, Int64)] {
            let word = Word()
            _ = word.beginRun()
            _ = word.wake(at: instant)
            #expect(word.wakeUp == kept)
            #expect(word.phase == .goingToSleep)
            #expect(!word.isStopped)
        }
    }

    // MARK: Stops

    @Test(arguments: asleep) func `A stop wakes a sleeping loop and is kept until it is served`(phase: WakeWord.Phase) {
        let word = Word()
        _ = word.beginRun()
        word.enter(phase)
        #expect(word.stop() == phase)
        #expect(word.stop() == nil)
        #expect(word.isStopped)
        #expect(word.wakeUp != nil)
        word.serveWakeUp()
        #expect(word.isStopped)
        word.serveStop()
        #expect(!word.isStopped)
        #expect(word.phase == phase)
    }

    @Test func `A stop between two turns ends the run before the next turn`() {
        let word = Word()
        let outer = word.beginRun()
        #expect(word.beginTurn())
        word.beAwake()
        // The run has looked for a stop, and now it comes: it leaves no wake-up, so the next turn must not begin.
        #expect(word.stop() == nil)
        #expect(word.wakeUp == nil)
        #expect(!word.beginTurn())
        #expect(!word.isStopped)
        word.beAwake()
        #expect(word.beginTurn())
        #expect(word.phase == .goingToSleep)
        word.endRun(outer)
    }

    @Test func `A stop after the sleep is kept without a wake-up`() {
        let word = Word()
        _ = word.beginRun()
        word.enter(.awake)
        #expect(word.stop() == nil)
        #expect(word.isStopped)
        #expect(word.wakeUp == nil)
    }

    @Test func `A stop after a wake-up does not call the kernel again`() {
        let word = Word()
        _ = word.beginRun()
        word.enter(.asleepOnWord)
        #expect(word.wake() == .asleepOnWord)
        #expect(word.stop() == nil)
        #expect(word.isStopped)
    }

    // MARK: Nested runs

    @Test func `A nested run has its own stop, and its end restores the outer run's stop`() {
        let word = Word()
        let none = word.beginRun()
        word.enter(.awake)
        _ = word.stop()
        let outer = word.beginRun()
        #expect(!word.isStopped)
        #expect(word.phase == .goingToSleep)
        _ = word.stop()
        #expect(word.isStopped)
        word.serveStop()
        word.endRun(outer)
        #expect(word.isStopped)
        #expect(word.phase == .awake)
        word.serveStop()
        word.endRun(none)
        #expect(word.stop() == nil)
        #expect(!word.isStopped)
    }

    @Test func `A stop of a nested run does not stop the outer one`() {
        let word = Word()
        _ = word.beginRun()
        let outer = word.beginRun()
        _ = word.stop()
        word.endRun(outer)
        #expect(!word.isStopped)
    }

    @Test func `A stopped run does not sleep after a nested run served its wake-up`() {
        let word = Word()
        _ = word.beginRun()
        #expect(word.beginTurn())
        _ = word.stop(at: 3)
        let outer = word.beginRun()
        // The nested run takes the wake-up that came with the stop.
        word.serveWakeUp()
        word.endRun(outer)
        #expect(word.isStopped)
        #expect(word.wakeUp == nil)
        #expect(word.fallAsleep() == nil)
        word.serveStop()
        #expect(word.fallAsleep() != nil)
    }

    @Test func `A run stopped while a nested run was under way does not sleep`() {
        let word = Word()
        _ = word.beginRun()
        #expect(word.beginTurn())
        let outer = word.beginRun()
        word.endRun(outer, isStopped: true)
        #expect(word.isStopped)
        #expect(word.wakeUp == nil)
        #expect(word.fallAsleep() == nil)
    }

    @Test func `After a nested run, a stop of the outer run still counts as a wake-up at the stop's instant`() {
        let word = Word()
        _ = word.beginRun()
        _ = word.stop(at: 3)
        let outer = word.beginRun()
        word.endRun(outer)
        #expect(word.wakeUp == 3)
    }

    @Test func `A nested run without a stop leaves no wake-up and reads no clock`() {
        let word = Word()
        _ = word.beginRun()
        let outer = word.beginRun()
        word.endRun(outer)
        #expect(word.wakeUp == nil)
        #expect(word.asked == 0)
        #expect(word.phase == .goingToSleep)
    }

    @Test func `A stop that its run did not serve is discarded when the run ends`() {
        let word = Word()
        let none = word.beginRun()
        _ = word.stop()
        word.endRun(none)
        #expect(!word.isStopped)
        #expect(word.phase == .awake)
        _ = word.beginRun()
        #expect(!word.isStopped)
    }

    @Test func `An unserved wake-up at the end of a run is kept for the next run`() {
        let word = Word()
        let none = word.beginRun()
        _ = word.wake(at: 3)
        word.endRun(none)
        #expect(word.wakeUp == 3)
        _ = word.beginRun()
        #expect(word.wakeUp == 3)
    }

    // MARK: Looking again

    @Test(arguments: phases) func `lookAgain is not a wake-up and reads no clock`(phase: WakeWord.Phase) {
        let word = Word()
        _ = word.beginRun()
        word.enter(phase)
        _ = word.lookAgain()
        #expect(word.wakeUp == nil)
        #expect(word.phase == phase)
        #expect(!word.isStopped)
        #expect(word.asked == 0)
    }

    @Test func `lookAgain has no effect while the thread is awake`() {
        let word = Word()
        _ = word.beginRun()
        word.enter(.awake)
        #expect(word.lookAgain() == nil)
        #expect(word.beginTurn())
        #expect(word.fallAsleep() != nil)
    }

    @Test func `lookAgain before the sleep prevents one sleep`() {
        let word = Word()
        _ = word.beginRun()
        #expect(word.lookAgain() == nil)
        #expect(word.lookAgain() == nil)
        #expect(word.fallAsleep() == nil)
        #expect(word.phase == .goingToSleep)
        #expect(word.fallAsleep() != nil)
    }

    @Test(arguments: asleep) func `lookAgain wakes a sleeping thread once`(phase: WakeWord.Phase) {
        let word = Word()
        _ = word.beginRun()
        word.enter(phase)
        #expect(word.lookAgain() == phase)
        #expect(word.lookAgain() == nil)
        // The kernel has been called already.
        #expect(word.wake(at: 6) == nil)
        #expect(word.wakeUp == 6)
    }

    @Test func `A thread woken by lookAgain checks for work once and then sleeps`() {
        let word = Word()
        _ = word.beginRun()
        word.enter(.asleepOnWord)
        #expect(word.lookAgain() == .asleepOnWord)
        #expect(word.fallAsleep() == nil)
        #expect(word.fallAsleep() != nil)
    }

    // MARK: What the kernel compares

    /// Its lower half is what the stamp alone would leave unchanged.
    private static let roundInstant: Int64 = (1 << 26) - 1

    private enum News: CaseIterable {
        case wake, stop, lookAgain, stopAfterWake

        func come(to word: Word) {
            switch self {
            case .wake: _ = word.wake(at: roundInstant)
            case .stop: _ = word.stop(at: roundInstant)
            case .lookAgain: _ = word.lookAgain()
            case .stopAfterWake:
                _ = word.wake(at: roundInstant)
                _ = word.stop(at: roundInstant)
            }
        }
    }

    @Test func `A wake-up, stop or lookAgain during a sleep changes the lower half of the wake word`() {
        for news in News.allCases {
            for phase in [WakeWord.Phase.asleepOnWord, .asleepOnDescriptors] {
                let word = Word()
                _ = word.beginRun()
                let expected = word.fallAsleep(phase)
                #expect(word.lowerHalf == expected)
                news.come(to: word)
                #expect(word.lowerHalf != expected, "\(news) in \(phase)")
            }
        }
    }

    @Test func `Without wake-up, stop or lookAgain, the lower half of the wake word is the same in two sleeps`() {
        let word = Word()
        _ = word.beginRun()
        let first = word.fallAsleep()
        word.enter(.goingToSleep)
        #expect(word.fallAsleep() == first)
    }

    // MARK: Many threads

    @Test func `If many threads wake a sleeping loop, only one of them calls the kernel`() {
        let core = SharedWord()
        for round in 0..<50 {
            let told = Locked(0)
            core.sleep()
            let threads = (0..<3).map { _ in TestThread { if core.wake() { told.increment() } } }
            for thread in threads { thread.join() }
            expectTrue(told.count == 1, "\(told.count) told the kernel in round \(round)")
            core.serve()
        }
    }

    @Test(arguments: [false, true])
    func `A change by another thread is seen before the sleep, or its wake-up ends the sleep`(
        isWakeUp: Bool
    ) {
        let core = SharedWord()
        let rounds = isFull ? 200_000 : 5000
        let sleeper = TestThread { core.serveUntil(rounds) }
        var random = SeededRandom(isWakeUp ? 1 : 2)
        for round in 1...rounds {
            core.leave(round, isWakeUp: isWakeUp)
            // The thread is at another point of its way to sleep each time.
            for _ in 0..<Int.random(in: 0..<50, using: &random) { _ = core.found }
            while core.found < round { sched_yield() }
        }
        sleeper.join()
        #expect(core.found == rounds)
    }

    /// A loop that sleeps on a semaphore and looks at a number.
    private final class SharedWord: Sendable {
        private let word = WakeWord()
        private let kernel = Permit()
        private let left = Atomic<Int>(0)
        private let seen = Atomic<Int>(0)

        func sleep() {
            _ = word.beginRun()
            _ = word.fallAsleep(.asleepOnWord)
        }
        func wake() -> Bool { word.wake { 1 } != nil }
        func serve() { word.serveWakeUp() }

        var found: Int { seen.load(ordering: .sequentiallyConsistent) }

        func leave(_ number: Int, isWakeUp: Bool) {
            left.store(number, ordering: .sequentiallyConsistent)
            if (isWakeUp ? word.wake { 1 } : word.lookAgain()) != nil { kernel.signal() }
        }

        func serveUntil(_ last: Int) {
            let none = word.beginRun()
            while true {
                _ = word.beginTurn()
                while true {
                    word.serveWakeUp()
                    let number = left.load(ordering: .sequentiallyConsistent)
                    seen.store(number, ordering: .sequentiallyConsistent)
                    if number == last { return word.endRun(none) }
                    if word.fallAsleep(.asleepOnWord) != nil { break }
                }
                kernel.wait()
                word.beAwake()
            }
        }
    }
}
