// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport

/// What the threads of the stress test have asked for and what has come of it.
///
/// An entry and what it stands for are changed in one step, so that at any moment the two can be compared: if the
/// descriptor is silent, nothing may be overdue.
final class Ledger: @unchecked Sendable {
    private struct Timer {
        var latest: RunLoop.Instant
        var earliest: RunLoop.Instant
    }

    private let lock = Lock()
    // Guarded by the lock.
    private var timers: [Int: Timer] = [:]
    private var blocks: Set<Int> = []
    private var signals: Set<UInt64> = []
    private var writes: Set<UInt64> = []
    private var descriptorSources: Set<UInt64> = []
    private var finished = 0
    private var done = 0
    private var notes: [String] = []
    private var unasked = 0

    var callouts: Int { lock.withLock { done } }
    var faults: [String] { lock.withLock { notes } }
    var excuses: Int { lock.withLock { unasked } }
    var summary: String { lock.withLock { "(\(done) callouts, \(unasked) operations that may cost one)" } }

    private func fault(_ text: String) { if notes.count < 10 { notes.append(text) } }

    // MARK: The threads

    /// An operation after which the descriptor may be readable for nothing.
    func excuse() { lock.withLock { unasked += 1 } }

    func add(_ id: Int, _ timer: RunLoop.Timer, _ add: () -> Void) {
        lock.withLock {
            timers[id] = Self.entry(of: timer)
            add()
        }
    }

    /// Does nothing if it has fired or gone.
    func change(_ id: Int, _ timer: RunLoop.Timer, _ change: () -> Void) {
        lock.withLock {
            unasked += 1
            guard let old = timers[id] else { return }
            change()
            var new = Self.entry(of: timer)
            // Its callout may have begun already, and then keeps to the old date.
            if RunLoop.Instant.now(old.earliest.clock) >= old.earliest { new.earliest = min(new.earliest, old.earliest) }
            timers[id] = new
        }
    }

    func cancel(_ id: Int, _ timer: RunLoop.Timer) {
        lock.withLock {
            unasked += 1
            timer.invalidate()
            timers[id] = nil
        }
    }

    func post(_ id: Int, _ post: () -> Void) {
        lock.withLock {
            blocks.insert(id)
            // Its wake-up may come when another turn has run it.
            unasked += 1
            post()
        }
    }

    func signal(_ thread: UInt64, _ signal: () -> Void) {
        lock.withLock {
            signals.insert(thread)
            unasked += 1
            signal()
        }
    }

    func write(_ thread: UInt64, _ write: () -> Void) {
        lock.withLock {
            writes.insert(thread)
            write()
        }
    }

    func addDescriptorSource(_ thread: UInt64, _ add: () -> Void) {
        lock.withLock {
            descriptorSources.insert(thread)
            unasked += 1
            add()
        }
    }

    func removeDescriptorSource(_ thread: UInt64, _ remove: () -> Void) {
        lock.withLock {
            descriptorSources.remove(thread)
            unasked += 1
            remove()
        }
    }

    func threadIsDone() { lock.withLock { finished += 1 } }

    private static func entry(of timer: RunLoop.Timer) -> Timer {
        let date = timer.deadline
        return Timer(latest: date.advanced(by: timer.tolerance), earliest: date)
    }

    // MARK: The loop

    func fires(_ id: Int) {
        lock.withLock {
            done += 1
            guard let timer = timers.removeValue(forKey: id) else {
                // A timer that was made invalid after its callout had begun.
                return
            }
            if RunLoop.Instant.now(timer.earliest.clock) < timer.earliest { fault("timer \(id) was early") }
        }
    }

    func fired(twice id: Int) { lock.withLock { fault("timer \(id) fired twice") } }

    func runs(_ id: Int) {
        lock.withLock {
            done += 1
            if blocks.remove(id) == nil { fault("block \(id) ran twice") }
        }
    }

    func performs(_ thread: UInt64) {
        lock.withLock {
            done += 1
            signals.remove(thread)
        }
    }

    func reads(_ thread: UInt64, _ read: () -> Bool) {
        lock.withLock {
            done += 1
            if read() { writes.remove(thread) }
        }
    }

    /// If the descriptor is silent, nothing may be overdue.
    ///
    /// An instant that has just passed may still be on its way through the kernel: the descriptor must become readable
    /// for it while no thread does anything, because all wait for the lock.
    func check(_ host: Host) {
        lock.withLock {
            let now = RunLoop.ClockID.allCases.map { RunLoop.Instant.now($0) }
            if host.isReady { return }
            if !blocks.isEmpty { fault("silent with \(blocks.count) blocks") }
            if !signals.isEmpty { fault("silent with a signal") }
            if !writes.isDisjoint(with: descriptorSources) { fault("silent with something to read") }
            for (id, timer) in timers where timer.latest < now[Int(timer.latest.clock.rawValue)] {
                if !host.isReadable(within: plenty) { fault("silent with timer \(id) overdue") }
            }
        }
    }

    /// Whether all threads have come to their end and all is done.
    func isDone(_ threads: Int) -> Bool {
        lock.withLock { finished == threads && timers.isEmpty && blocks.isEmpty && signals.isEmpty && writes.isEmpty }
    }
}

/// One of the threads.
struct Worker {
    let loop: RunLoop
    let ledger: Ledger
    let seed: UInt64
    let operations: Int

    func work() {
        var random = SeededRandom(seed)
        var timers: [(id: Int, timer: RunLoop.Timer)] = []
        let source = RunLoop.Source.sendable { [ledger, seed] _ in ledger.performs(seed) }
        loop.add(source, in: .default)
        let pipe = DescriptorPair.pipe()
        let descriptorSource = makeDescriptorSource(pipe)
        ledger.addDescriptorSource(seed) { _ = try? loop.add(descriptorSource, in: .default) }
        for number in 0..<operations {
            let id = number * 3 + Int(seed)
            switch Int.random(in: 0..<16, using: &random) {
            case 0..<5: timers.append((id, addTimer(id, &random)))
            case 5, 6:
                guard let (id, timer) = timers.randomElement(using: &random) else { continue }
                let date = RunLoop.Instant.now(timer.deadline.clock).advanced(by: Self.delay(&random))
                ledger.change(id, timer) { timer.deadline = date }
            case 7:
                guard let (id, timer) = timers.randomElement(using: &random) else { continue }
                ledger.change(id, timer) { timer.tolerance = Self.tolerance(&random) }
            case 8:
                guard let (id, timer) = timers.popLast() else { continue }
                ledger.cancel(id, timer)
            case 9, 10: ledger.post(id) { loop.perform { [ledger] in ledger.runs(id) } }
            case 11:
                ledger.post(id) {
                    loop.perform(wake: false) { [ledger] in ledger.runs(id) }
                    loop.wakeUp()
                }
            case 12:
                ledger.signal(seed) {
                    source.signal()
                    loop.wakeUp()
                }
            case 13, 14: ledger.write(seed) { pipe.send("!") }
            default:
                ledger.removeDescriptorSource(seed) { loop.remove(descriptorSource, from: .default) }
                ledger.addDescriptorSource(seed) { _ = try? loop.add(descriptorSource, in: .default) }
            }
            if timers.count > 64 { timers.removeFirst(32) }
            if random.oneIn(3) { usleep(UInt32.random(in: 0..<80, using: &random)) }
        }
        ledger.threadIsDone()
        // What ends the wait of a host that has done everything else.
        ledger.post(-Int(seed)) { loop.perform { [ledger] in ledger.runs(-Int(seed)) } }
    }

    /// The source keeps the pipe for as long as the loop keeps the source.
    private func makeDescriptorSource(_ pipe: DescriptorPair) -> RunLoop.DescriptorSource {
        .sendable(pipe.first) { [ledger, seed] _, _ in
            ledger.reads(seed) { !readText(pipe.first).isEmpty }
        }
    }

    private func addTimer(_ id: Int, _ random: inout SeededRandom) -> RunLoop.Timer {
        let base = RunLoop.ClockID.allCases[random.oneIn(4) ? 1 : 0]
        let fires = Locked(0)
        let timer = RunLoop.Timer.sendable(
            .after(Self.delay(&random), clock: base), tolerance: Self.tolerance(&random)
        ) { [ledger] _ in
            fires.increment()
            if fires.count > 1 { ledger.fired(twice: id) }
            ledger.fires(id)
        }
        ledger.add(id, timer) { loop.add(timer, in: .default) }
        return timer
    }

    private static func delay(_ random: inout SeededRandom) -> Duration {
        .nanoseconds(random.oneIn(4) ? 0 : Int64.random(in: 0..<3_000_000, using: &random))
    }

    private static func tolerance(_ random: inout SeededRandom) -> Duration {
        random.oneIn(2) ? .zero : .nanoseconds(Int64.random(in: 0..<1_000_000, using: &random))
    }
}
