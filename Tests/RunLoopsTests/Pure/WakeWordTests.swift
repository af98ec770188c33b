import RunLoops
import RunLoopsTestSupport
import Testing

/// What other threads want of a loop: every phase, wake-up and stop, in runs and nested runs.
@Suite struct WakeWordTests {
    /// The word cannot be copied, which expectations do with what they look at.
    private final class Word {
        private let word = WakeWord()
        private(set) var asked = 0

        var phase: WakeWord.Phase { word.phase }
        var wakeUp: Int64? { word.wakeUp }
        var isStopped: Bool { word.isStopped }
        func beginRun() -> WakeWord.Outer { word.beginRun() }
        func endRun(_ outer: WakeWord.Outer) { word.endRun(outer) }
        func beginTurn() -> Bool { word.beginTurn() }
        func enter(_ phase: WakeWord.Phase) { word.enter(phase) }
        func serveWakeUp() { word.serveWakeUp() }
        func serveStop() { word.serveStop() }

        func wake(at now: Int64 = 5) -> Bool {
            word.wake {
                asked += 1
                return now
            }
        }

        func stop(at now: Int64 = 5) -> Bool {
            word.stop {
                asked += 1
                return now
            }
        }
    }

    @Test func `At first nothing runs and nothing waits`() {
        let word = Word()
        #expect(word.phase == .ignoring)
        #expect(word.wakeUp == nil)
        #expect(!word.isStopped)
    }

    @Test func `Without a run a wake-up and a stop have no effect`() {
        let word = Word()
        #expect(!word.wake())
        #expect(!word.stop())
        #expect(word.wakeUp == nil)
        #expect(!word.isStopped)
        #expect(word.asked == 0)
    }

    @Test func `A run that begins accepts wake-ups`() {
        let word = Word()
        _ = word.beginRun()
        #expect(word.phase == .accepting)
    }

    @Test(arguments: [WakeWord.Phase.ignoring, .accepting, .sleeping])
    func `Every phase can follow every other`(from: WakeWord.Phase) {
        let word = Word()
        _ = word.beginRun()
        for next in [WakeWord.Phase.ignoring, .accepting, .sleeping] {
            word.enter(from)
            #expect(word.phase == from)
            word.enter(next)
            #expect(word.phase == next)
        }
    }

    @Test func `A wake-up on the way to sleep is kept and costs nothing`() {
        let word = Word()
        _ = word.beginRun()
        #expect(!word.wake(at: 42))
        #expect(word.wakeUp == 42)
        word.enter(.sleeping)
        #expect(word.wakeUp == 42)
    }

    @Test func `Only the first wake-up of a sleeping loop tells the kernel`() {
        let word = Word()
        _ = word.beginRun()
        word.enter(.sleeping)
        #expect(word.wake(at: 7))
        #expect(!word.wake(at: 8))
        #expect(word.wakeUp == 7)
    }

    @Test func `A wake-up past the sleep is not kept`() {
        let word = Word()
        _ = word.beginRun()
        word.enter(.ignoring)
        #expect(!word.wake())
        #expect(word.wakeUp == nil)
    }

    @Test func `A wake-up waits through all phases until it is served`() {
        let word = Word()
        _ = word.beginRun()
        _ = word.wake(at: 0)
        word.enter(.sleeping)
        word.enter(.ignoring)
        word.enter(.accepting)
        #expect(word.wakeUp == 0)
        word.serveWakeUp()
        #expect(word.wakeUp == nil)
        #expect(word.phase == .accepting)
        // And the next one counts anew.
        word.enter(.sleeping)
        #expect(word.wake(at: 9))
        #expect(word.wakeUp == 9)
    }

    @Test func `The clock is asked only when the instant is kept`() {
        let word = Word()
        _ = word.beginRun()
        _ = word.wake()
        _ = word.wake()
        _ = word.stop()
        #expect(word.asked == 1)
    }

    @Test func `A clock before its beginning is taken as its beginning`() {
        let word = Word()
        _ = word.beginRun()
        _ = word.wake(at: -3)
        #expect(word.wakeUp == 0)
    }

    @Test func `An instant centuries away is kept whole`() {
        let word = Word()
        _ = word.beginRun()
        let centuries: Int64 = 1 << 59
        _ = word.wake(at: centuries)
        #expect(word.wakeUp == centuries)
        #expect(word.phase == .accepting)
    }

    @Test func `A stop wakes a sleeping loop and is kept until it is served`() {
        let word = Word()
        _ = word.beginRun()
        word.enter(.sleeping)
        #expect(word.stop())
        #expect(!word.stop())
        #expect(word.isStopped)
        #expect(word.wakeUp != nil)
        word.serveWakeUp()
        #expect(word.isStopped)
        word.serveStop()
        #expect(!word.isStopped)
        #expect(word.phase == .sleeping)
    }

    @Test func `A stop between two turns ends the run before the next`() {
        let word = Word()
        let outer = word.beginRun()
        #expect(word.beginTurn())
        word.enter(.ignoring)
        // The run has looked for a stop, and now it comes: it leaves no wake-up, so the next turn must not begin.
        #expect(!word.stop())
        #expect(word.wakeUp == nil)
        #expect(!word.beginTurn())
        #expect(!word.isStopped)
        #expect(word.phase == .ignoring)
        #expect(word.beginTurn())
        #expect(word.phase == .accepting)
        word.endRun(outer)
    }

    @Test func `A stop past the sleep is kept without a wake-up`() {
        let word = Word()
        _ = word.beginRun()
        word.enter(.ignoring)
        #expect(!word.stop())
        #expect(word.isStopped)
        #expect(word.wakeUp == nil)
    }

    @Test func `A stop after a wake-up tells nobody again`() {
        let word = Word()
        _ = word.beginRun()
        word.enter(.sleeping)
        #expect(word.wake())
        #expect(!word.stop())
        #expect(word.isStopped)
    }

    @Test func `A nested run has a stop of its own and gives back that of the outer one`() {
        let word = Word()
        let none = word.beginRun()
        word.enter(.ignoring)
        _ = word.stop()
        let outer = word.beginRun()
        #expect(!word.isStopped)
        #expect(word.phase == .accepting)
        _ = word.stop()
        #expect(word.isStopped)
        word.endRun(outer)
        #expect(word.isStopped)
        #expect(word.phase == .ignoring)
        word.serveStop()
        word.endRun(none)
        #expect(!word.stop())
    }

    @Test func `A stop that came too late for its run is forgotten`() {
        let word = Word()
        let none = word.beginRun()
        _ = word.stop()
        word.endRun(none)
        #expect(!word.isStopped)
        #expect(word.phase == .ignoring)
        _ = word.beginRun()
        #expect(!word.isStopped)
    }

    @Test func `A wake-up that waits when a run ends waits for the next`() {
        let word = Word()
        let none = word.beginRun()
        _ = word.wake(at: 3)
        word.endRun(none)
        #expect(word.wakeUp == 3)
        _ = word.beginRun()
        #expect(word.wakeUp == 3)
    }

    @Test func `Of many threads that wake a sleeping loop one tells the kernel`() {
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

    private final class SharedWord: Sendable {
        private let word = WakeWord()
        func sleep() {
            _ = word.beginRun()
            word.enter(.sleeping)
        }
        func wake() -> Bool { word.wake(now: { 1 }) }
        func serve() { word.serveWakeUp() }
    }
}
