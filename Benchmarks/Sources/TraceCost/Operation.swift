// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import RunLoops
internal import Synchronization
internal import Workloads

/// What is done again and again, on threads of its own.
public enum Operation: String, CaseIterable, Sendable {
    /// A turn in which a signalled source is performed, which signals itself again.
    case turn
    /// A wake-up by the loop's own thread, and its turn.
    case wakeup
    /// A signal and a wake-up of a loop that sleeps, by another loop's thread.
    case cross
    /// A block posted with a wake-up, and its turn.
    case block
    /// A fire of a timer that is always due.
    case timer

    /// Does it `count` times, and returns the nanoseconds that each took of the processor's time, and of the clock's.
    ///
    /// - Parameter prepare: Called with each loop, on its thread, before it runs.
    public func measure(_ count: Int, prepare: @escaping @Sendable (RunLoop) -> Void) -> (
        processor: Double, clock: Double
    ) {
        let meter = Meter(count)
        switch self {
        case .cross: pingPong(meter, prepare)
        case .turn, .wakeup, .block, .timer:
            startThread {
                prepare(RunLoop.current)
                add(to: RunLoop.current, meter)
                meter.run()
            }.join()
        }
        return meter.result
    }

    private func add(to loop: RunLoop, _ meter: Meter) {
        switch self {
        case .turn:
            let source = RunLoop.Source { source in if meter.next() { source.signal() } }
            loop.add(source, in: .default)
            source.signal()
        case .wakeup:
            keepAlive(loop)
            loop.add(
                RunLoop.Observer(.beforeTimers) { [unowned loop] _, _ in if meter.next() { loop.wakeUp() } },
                in: .default)
        case .block:
            keepAlive(loop)
            let poster = Poster(loop, meter)
            poster.post()
        case .timer:
            loop.add(RunLoop.Timer(.every(.nanoseconds(1))) { _ in _ = meter.next() }, in: .default)
        case .cross: break
        }
    }

    private func keepAlive(_ loop: RunLoop) { loop.add(RunLoop.Source { _ in }, in: .default) }

    /// Two loops that wake each other in turn.
    private func pingPong(_ meter: Meter, _ prepare: @escaping @Sendable (RunLoop) -> Void) {
        let (ping, pong) = (Side(), Side())
        let ready = Gate()
        let answering = startThread {
            prepare(RunLoop.current)
            pong.listen { ping.call() }
            ready.open()
            let before = Meter.processorTime
            RunLoop.current.run()
            meter.addProcessorTime(Meter.processorTime - before)
        }
        ready.wait()
        startThread {
            prepare(RunLoop.current)
            ping.listen {
                if meter.next() { pong.call() } else { pong.stop() }
            }
            pong.call()
            meter.run()
        }.join()
        answering.join()
    }
}

/// A block that posts itself. One thread's own.
private final class Poster: @unchecked Sendable {
    private unowned let loop: RunLoop
    private let meter: Meter

    init(_ loop: RunLoop, _ meter: Meter) { (self.loop, self.meter) = (loop, meter) }

    func post() { loop.perform { [self] in if meter.next() { post() } } }
}

/// One of two loops. Written before the other thread starts or calls.
private final class Side: @unchecked Sendable {
    private var loop: RunLoop?
    private var source: RunLoop.Source?

    func listen(_ heard: @escaping () -> Void) {
        let source = RunLoop.Source { _ in heard() }
        RunLoop.current.add(source, in: .default)
        self.source = source
        loop = RunLoop.current
    }

    func call() {
        source?.signal()
        loop?.wakeUp()
    }

    func stop() { loop?.stop() }
}

/// Counts operations, and takes the time of all after the first few. Belongs to one thread, except for what is atomic.
final class Meter: @unchecked Sendable {
    private let count: Int
    private var left: Int
    private var clockBefore: Int64 = 0
    private var clock: Int64 = 0
    private var processorBefore: Int64 = 0
    private let processor = Atomic<Int64>(0)

    init(_ count: Int) {
        self.count = count
        left = count + count / 10
    }

    /// Whether there should be another operation.
    func next() -> Bool {
        if left == count {
            clockBefore = Self.time(CLOCK_MONOTONIC)
            processorBefore = Self.processorTime
        }
        left -= 1
        if left > 0 { return true }
        clock = Self.time(CLOCK_MONOTONIC) - clockBefore
        addProcessorTime(Self.processorTime - processorBefore)
        RunLoop.current.stop()
        return false
    }

    func run() { RunLoop.current.run() }

    func addProcessorTime(_ time: Int64) { processor.add(time, ordering: .relaxed) }

    var result: (processor: Double, clock: Double) {
        (Double(processor.load(ordering: .relaxed)) / Double(count), Double(clock) / Double(count))
    }

    /// Of the calling thread.
    static var processorTime: Int64 { time(CLOCK_THREAD_CPUTIME_ID) }

    private static func time(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
