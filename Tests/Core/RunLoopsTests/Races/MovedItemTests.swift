// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import Testing

/// Items that leave one loop for another, call by call.
@Suite(.ownThread) struct MovedItemTests {
    /// Adds a timer and an observer to the common modes of `home`, takes them out of each mode by itself, and adds them to
    /// `elsewhere`.
    private func makeMovedItems(_ home: RunLoop, _ elsewhere: RunLoop) -> [RunLoop.Item] {
        let timer = RunLoop.Timer.sendable(.after(.seconds(3600))) { _ in }
        let observer = RunLoop.Observer.sendable(.all) { _, _ in }
        home.add(timer, in: .common)
        home.add(observer, in: .common)
        for item in [timer, observer] as [RunLoop.Item] { home.remove(item, from: .default) }
        #expect(elsewhere.add(timer, in: .default))
        #expect(elsewhere.add(observer, in: .default))
        return [timer, observer]
    }

    @Test func `A new common mode does not get common items that are now in another loop`() {
        let (home, elsewhere) = (RunningLoop(), RunningLoop())
        for item in makeMovedItems(home.loop, elsewhere.loop) {
            let mode = RunLoop.Mode("new \(item.label)")
            home.loop.markCommon(mode)
            #expect(!home.loop.contains(item, in: mode))
            #expect(elsewhere.loop.contains(item, in: .default))
            item.invalidate()
            #expect(!elsewhere.loop.contains(item, in: .default))
        }
        home.end()
        elsewhere.end()
    }

    @Test func `A new common mode gets common items that were added to another loop and removed from it`() {
        let (home, elsewhere) = (RunningLoop(), RunningLoop())
        let items = makeMovedItems(home.loop, elsewhere.loop)
        for item in items { elsewhere.loop.remove(item, from: .default) }
        home.loop.markCommon("new")
        for item in items {
            #expect(home.loop.contains(item, in: "new"))
            item.invalidate()
            #expect(!home.loop.contains(item, in: "new"))
        }
        home.end()
        elsewhere.end()
    }

    @Test
    func `A timer moved in its callout to another loop is in no loop if that loop ends before the callout returns`() {
        let witness = Witness()
        TestThread.run {
            let loop = RunLoop.current
            let fires = Locked(0)
            var timer: RunLoop.Timer! = RunLoop.Timer.sendable(.after(.zero, every: .seconds(3600))) {
                [token = witness.makeToken()] timer in
                withExtendedLifetime(token) { fires.increment() }
                let other = RunningLoop()
                RunLoop.current.remove(timer, from: .default)
                #expect(other.loop.add(timer, in: .default))
                other.end()
                #expect(!other.loop.contains(timer, in: .default))
                RunLoop.current.stop()
            }
            // Keeps the loop from being empty.
            loop.add(RunLoop.Timer(.after(.seconds(3600))) { _ in }, in: .default)
            loop.add(timer, in: .default)
            #expect(loop.runPlenty() == .stopped)
            #expect(fires.count == 1)
            #expect(timer.isValid)
            #expect(!loop.contains(timer, in: .default))
            // It belongs to nobody, and can come back.
            #expect(loop.add(timer, in: .default))
            loop.remove(timer, from: .default)
            timer = nil
        }
        #expect(witness.isGone)
    }

    @Test func `A timer in many common modes is in each of them, fires in the last, and leaves all when invalidated`() {
        TestThread.run {
            let loop = RunLoop.current
            let fired = Locked([RunLoop.Mode?]())
            // Marking many modes beside a timer is what takes long.
            let modes = (0..<(isFull ? 1000 : 200)).map { RunLoop.Mode("common \($0)") }
            func makeTimer() -> RunLoop.Timer {
                RunLoop.Timer(.after(.zero, every: .seconds(3600))) { _ in
                    fired.withLock { $0.append(RunLoop.current.currentMode) }
                }
            }
            let (early, sole, late) = (makeTimer(), makeTimer(), makeTimer())
            loop.add(early, in: .common)
            for mode in modes.dropLast() { loop.markCommon(mode) }
            loop.add(sole, in: modes[50])
            loop.add(sole, in: .common)
            loop.add(late, in: .common)
            loop.markCommon(modes[modes.count - 1])
            for timer in [early, sole, late] {
                #expect(loop.contains(timer, in: .default) && modes.allSatisfy { loop.contains(timer, in: $0) })
            }
            loop.run(in: modes[modes.count - 1], for: .zero)
            #expect(fired.copy == [modes[modes.count - 1], modes[modes.count - 1], modes[modes.count - 1]])
            for timer in [early, sole, late] {
                timer.invalidate()
                #expect(!loop.contains(timer, in: .default) && !modes.contains { loop.contains(timer, in: $0) })
            }
            #expect(modes.allSatisfy { loop.isEmpty(in: $0) } && loop.isEmpty(in: .default))
        }
    }

    /// The bucket of a timer belongs to the loop that has it, whichever loop is asked.
    @Test func `Threads may query and remove a timer while another thread moves it between loops`() {
        let (first, second) = (RunningLoop(), RunningLoop())
        // More modes in one loop, so that a bucket of this loop is none of the other.
        for number in 0..<20 {
            first.loop.add(RunLoop.Timer.sendable(.after(.seconds(3600))) { _ in }, in: .init("many \(number)"))
        }
        let timer = RunLoop.Timer.sendable(.after(.seconds(3600))) { _ in }
        let rounds = isFull ? 1_000_000 : 20_000
        let isOver = Locked(false)
        let askers = (0..<3).map { number in
            TestThread {
                while !isOver.copy {
                    switch number {
                    case 0: _ = second.loop.contains(timer, in: .default)
                    case 1: _ = second.loop.contains(timer, in: .common)
                    default: second.loop.remove(timer, from: .default)
                    }
                }
            }
        }
        for round in 0..<rounds {
            let loop = round % 2 == 0 ? first.loop : second.loop
            let mode: RunLoop.Mode = round % 2 == 0 ? RunLoop.Mode("many \(round % 20)") : .default
            loop.add(timer, in: mode)
            loop.remove(timer, from: mode)
        }
        isOver.withLock { $0 = true }
        for asker in askers { asker.join() }
        timer.invalidate()
        for loop in [first, second] {
            #expect(!loop.loop.contains(timer, in: .default))
            loop.end()
        }
    }
}
