// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport
import Synchronization

/// One round of random calls: all that any thread may call, from eight threads, on items that three loops share.
///
/// Three of the threads are the loops' own. What they do in between is random too: runs, polls, and calls in callouts.
final class RandomRace: Sendable {
    /// A closure that was asked for, and what has become of it.
    private final class Request: Sendable {
        let ran = Atomic<Int>(0)
        let cancelled = Atomic<Int>(0)
        /// Whether the closure must not run before the end of its loop, or must run.
        let isFar: Bool
        var isOver: Bool { ran.load(ordering: .relaxed) + cancelled.load(ordering: .relaxed) > 0 }
        init(isFar: Bool) { self.isFar = isFar }
    }

    private struct Waiting {
        let request: Request
        let loop: Int
        let name: RunLoop.DelayedPerform
    }

    private static let modes: [RunLoop.Mode] = [.default, "other", "marked", .common]
    private static let loopCount = 3
    private static let callerCount = 5

    private let seed: UInt64
    private let calls: Int
    private let loops = Locked<[RunLoop]>([])
    private let items = (0..<12).map { _ in Locked<RunLoop.Item?>(nil) }
    private let requests = Locked<[Request]>([])
    private let waiting = Locked<[Waiting]>([])
    private let pipe = DescriptorPair.pipe()
    private let isOver = Atomic<Bool>(false)
    /// Threads of loops that make no more calls.
    private let arrived = Atomic<Int>(0)
    /// Closures of items that have not been released.
    private let alive = Atomic<Int>(0)
    private let faults = Locked<[String]>()

    init(seed: UInt64, calls: Int) {
        (self.seed, self.calls) = (seed, calls)
        pipe.send()
    }

    /// Returns what was wrong.
    func run() -> [String] {
        let ready = Permit()
        let threads = (0..<Self.loopCount).map { number in
            TestThread { [self] in
                loops.withLock { $0.append(RunLoop.current) }
                ready.signal()
                turn(number)
            }
        }
        for _ in threads { ready.wait() }
        let callers = (0..<Self.callerCount).map { number in
            TestThread { [self] in
                var random = SeededRandom(seed &* 31 &+ UInt64(number))
                for _ in 0..<calls { call(&random) }
            }
        }
        for caller in callers { caller.join() }
        finish()
        for thread in threads { thread.join() }
        judge()
        return faults.lines
    }

    // MARK: The threads of the loops

    private func turn(_ number: Int) {
        var random = SeededRandom(seed &* 37 &+ UInt64(number))
        let loop = RunLoop.current
        while !isOver.load(ordering: .acquiring) {
            let mode = Self.modes[Int.random(in: 0..<3, using: &random)]
            switch Int.random(in: 0..<8, using: &random) {
            case 0: loop.runTurn(in: mode)
            case 1: loop.run(in: mode, for: .microseconds(300), returnsAfterSource: true)
            case 2: call(&random)
            default: loop.run(in: mode, for: .microseconds(Int.random(in: 0...500, using: &random)))
            }
        }
        // From here on nobody asks for anything, and what was asked for in any mode has its turn.
        arrived.add(1, ordering: .acquiringAndReleasing)
        waitUntil { arrived.load(ordering: .acquiring) == Self.loopCount }
        let limit = SystemCalls.now(.monotonic) + 300_000_000_000
        while !isSettled, SystemCalls.now(.monotonic) < limit {
            for mode in Self.modes.dropLast() { loop.run(in: mode, for: .microseconds(100)) }
        }
    }

    private var isSettled: Bool {
        requests.withLock { $0.allSatisfy { $0.isFar || $0.isOver } }
    }

    private func finish() {
        dropItems()
        isOver.store(true, ordering: .releasing)
        for loop in loops.copy { loop.stop() }
    }

    private func dropItems() {
        for item in items {
            item.withLock {
                $0?.invalidate()
                $0 = nil
            }
        }
    }

    private func judge() {
        // A loop's thread may have brought one at the last moment.
        dropItems()
        waiting.withLock { $0 = [] }
        loops.withLock { $0 = [] }
        for request in requests.copy {
            let (ran, cancelled) = (request.ran.load(ordering: .relaxed), request.cancelled.load(ordering: .relaxed))
            if ran + cancelled > 1 { faults.note("a closure ran \(ran) times and was cancelled \(cancelled) times") }
            if request.isFar, ran > 0 { faults.note("a closure ran before its time") }
            if !request.isFar, ran + cancelled == 0 { faults.note("a closure has neither run nor been cancelled") }
        }
        let left = alive.load(ordering: .acquiring)
        if left != 0 { faults.note("\(left) closures were not released") }
    }

    // MARK: Calls

    private func call(_ random: inout SeededRandom) {
        let loops = loops.copy
        let number = Int.random(in: 0..<loops.count, using: &random)
        let loop = loops[number]
        let mode = Self.modes[Int.random(in: 0..<Self.modes.count, using: &random)]
        switch Int.random(in: 0..<24, using: &random) {
        case 0..<9: callItem(loop, mode, &random)
        case 9..<12: ask(number, loop, mode, &random)
        case 12..<15: cancel(&random)
        case 15: post(loop, mode)
        case 16: loop.wakeUp()
        case 17: loop.stop()
        case 18: loop.currentRun.map { loop.stop($0) }
        case 19: _ = (loop.currentMode, loop.modes, loop.commonModes, loop.isWaiting)
        case 20: if mode != .common { _ = loop.nextTimerDeadline(in: mode) }
        case 21: if random.oneIn(20) { _ = loop.debugDescription }
        case 22: loop.markCommon("marked")
        default: replaceItem(&random)
        }
    }

    private func callItem(_ loop: RunLoop, _ mode: RunLoop.Mode, _ random: inout SeededRandom) {
        guard let item = items[Int.random(in: 0..<items.count, using: &random)].copy else {
            return replaceItem(&random)
        }
        switch Int.random(in: 0..<8, using: &random) {
        case 0: _ = loop.contains(item, in: mode)
        case 1, 2: loop.remove(item, from: mode)
        case 3, 4, 5: add(item, to: loop, mode)
        case 6: if random.oneIn(4) { item.invalidate() } else { _ = (item.isValid, item.description, item.label) }
        default: change(item, &random)
        }
    }

    private func add(_ item: RunLoop.Item, to loop: RunLoop, _ mode: RunLoop.Mode) {
        switch item {
        case let source as RunLoop.Source:
            loop.add(source, in: mode)
            source.signal()
        case let timer as RunLoop.Timer: loop.addUnlessElsewhere(timer, in: mode)
        case let observer as RunLoop.Observer: loop.addUnlessElsewhere(observer, in: mode)
        case let source as RunLoop.DescriptorSource:
            do { try loop.add(source, in: mode) } catch { faults.note("\(error)") }
        default: break
        }
    }

    private func change(_ item: RunLoop.Item, _ random: inout SeededRandom) {
        switch item {
        case let source as RunLoop.Source:
            source.signal()
            _ = source.isSignalled
        case let timer as RunLoop.Timer:
            switch Int.random(in: 0..<4, using: &random) {
            case 0: timer.restart(after: .microseconds(Int.random(in: 0...300, using: &random)))
            case 1: timer.deadline = timer.deadline.advanced(by: .microseconds(100))
            case 2: timer.tolerance = .microseconds(Int.random(in: 0...50, using: &random))
            default: _ = (timer.interval, timer.repeats, timer.tolerance)
            }
        case let source as RunLoop.DescriptorSource: source.events = source.events.isEmpty ? .readable : []
        default: break
        }
    }

    private func replaceItem(_ random: inout SeededRandom) {
        let made = makeItem(&random)
        let old = items[Int.random(in: 0..<items.count, using: &random)].withLock { item in
            defer { item = made }
            return item
        }
        // Some are left to the loops that have them.
        if random.oneIn(2) { old?.invalidate() }
    }

    private func makeItem(_ random: inout SeededRandom) -> RunLoop.Item {
        alive.add(1, ordering: .relaxed)
        let token = Token { [self] in alive.subtract(1, ordering: .releasing) }
        // In callouts of the loops, too, one call is made now and then.
        let seed = random.next()
        let count = Locked<Int>()
        let called: @Sendable () -> Void = { [unowned self] in
            var random = SeededRandom(seed &+ UInt64(count.incremented()))
            if random.oneIn(4), !isOver.load(ordering: .acquiring) { call(&random) }
            withExtendedLifetime(token) {}
        }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return RunLoop.Source.sendable(order: Int.random(in: 0..<3, using: &random)) { _ in called() }
        case 1:
            let interval = random.oneIn(3) ? nil : Duration.microseconds(Int.random(in: 50...2000, using: &random))
            let clock = RunLoop.ClockID.allCases[Int.random(in: 0..<3, using: &random)]
            return RunLoop.Timer.sendable(
                .after(.microseconds(Int.random(in: 0...500, using: &random)), every: interval, clock: clock)
            ) { _ in called() }
        case 2: return RunLoop.Observer.sendable(.all, repeats: !random.oneIn(3)) { _, _ in called() }
        default: return RunLoop.DescriptorSource.sendable(pipe.first, repeats: random.oneIn(8)) { _, _ in called() }
        }
    }

    // MARK: Closures

    /// Asks for a closure after a delay.
    private func ask(_ number: Int, _ loop: RunLoop, _ mode: RunLoop.Mode, _ random: inout SeededRandom) {
        let isFar = random.oneIn(3)
        let request = Request(isFar: isFar)
        requests.withLock { $0.append(request) }
        let delay = isFar ? Duration.seconds(86_400) : .microseconds(Int.random(in: 0...100, using: &random))
        let name = loop.perform(after: delay, in: mode) { request.ran.add(1, ordering: .relaxed) }
        waiting.withLock { $0.append(Waiting(request: request, loop: number, name: name)) }
    }

    private func cancel(_ random: inout SeededRandom) {
        let index = random.next()
        let one = waiting.withLock { waiting -> Waiting? in
            if waiting.isEmpty { return nil }
            // Several threads may have the same: it stays on the list, now and then.
            let index = Int(index % UInt64(waiting.count))
            return index % 4 == 0 ? waiting[index] : waiting.remove(at: index)
        }
        guard let one else { return }
        if loops.copy[one.loop].cancel(one.name) { one.request.cancelled.add(1, ordering: .relaxed) }
    }

    private func post(_ loop: RunLoop, _ mode: RunLoop.Mode) {
        let request = Request(isFar: false)
        requests.withLock { $0.append(request) }
        loop.perform(in: mode) { request.ran.add(1, ordering: .relaxed) }
    }
}
