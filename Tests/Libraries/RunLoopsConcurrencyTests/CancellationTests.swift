// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsConcurrency
import RunLoopsPorts
import RunLoopsTestSupport
import Testing

/// Everything that waits, started and cancelled at random: each ends, once, and nothing stays behind.
///
/// A continuation that is resumed twice traps. A lost continuation leaves its task waiting, and the test with the task.
@Suite(.limited) struct CancellationTests {
    @Test func `Operations started and cancelled at random leave nothing registered`() async {
        let count = isFull ? 100_000 : Sanitizer.isAny ? 2000 : 4000
        await LoopThread.with { loop in
            // An executor and its source stay; it is there before the first look.
            _ = loop.executor
            let before = labels(in: loop)
            let ends = (0..<8).map { _ in DescriptorPair.sockets() }
            var random = SeededRandom(6)
            let others = Others(on: loop)
            var done = 0
            while done < count {
                await withTaskGroup(of: Void.self) { group in
                    for index in 0..<min(200, count - done) {
                        let seed = random.next()
                        group.addTask { await startAndCancel(on: loop, ends[index % ends.count], others, seed) }
                        done += 1
                    }
                }
            }
            // What the last ones have left to the loop's thread is done when this is.
            _ = try? await loop.result {}
            #expect(labels(in: loop) == before)
            others.end()
        }
    }

    /// The items of the loop, by the words that this package labels them with.
    private func labels(in loop: RunLoop) -> [String] {
        let text = loop.detailedDescription()
        let labels = [
            "sleep", "ticks", "activities", "performs", "readiness", "trial", "steered run", "answers", "request",
        ]
        return labels.filter { text.contains($0) }
    }
}

/// One thing that waits, and perhaps a cancellation, a little later.
private func startAndCancel(on loop: RunLoop, _ ends: DescriptorPair, _ others: Others, _ seed: UInt64) async {
    var random = SeededRandom(seed)
    let kind = random.next() % 8
    let duration = Duration.microseconds(Int64(random.next() % 300))
    let isEndless = random.next() % 2 == 0
    let prefers = random.next() % 2 == 0
    let task = Task(executorPreference: prefers ? loop.executor : nil) {
        await waitSomehow(kind, on: loop, ends, others, isEndless ? .seconds(3600) : duration)
    }
    for _ in 0..<(random.next() % 4) { await Task.yield() }
    // Not on the loop: while it runs in a mode of its own for another task, it wakes no common sleeper.
    if random.next() % 3 == 0 { try? await Task.sleep(for: .microseconds(Int64(random.next() % 100))) }
    if isEndless || random.next() % 2 == 0 { task.cancel() }
    await task.value
}

private func waitSomehow(
    _ kind: UInt64, on loop: RunLoop, _ ends: DescriptorPair, _ others: Others, _ duration: Duration
) async {
    switch kind {
    case 0: try? await loop.clock.sleep(for: duration, tolerance: .milliseconds(1))
    case 1: for await _ in loop.ticks(every: duration + .nanoseconds(1)) { break }
    case 2: _ = try? await loop.result { duration }
    case 3: try? await RunLoop.withTimeout(duration, clock: loop.clock) { try await Task.sleep(for: .microseconds(50)) }
    case 4:
        let (source, events) = loop.performs()
        if duration < .seconds(1) {
            source.signal()
            loop.wakeUp()
        }
        for await _ in events { break }
    case 5:
        // Never ready: ends by cancellation, or with the sequence.
        guard let events = try? loop.readiness(of: ends.first) else { return }
        if duration < .seconds(1) { events.invalidate() }
        for await _ in events { break }
    case 6:
        let sender = others.one(duration)
        let isShort = duration < .seconds(1)
        _ = try? await sender.request(RunLoop.MessagePort.Message(id: 1), on: loop, within: isShort ? duration : nil)
    default:
        let keeper = RunLoop.Source.sendable { _ in }
        loop.add(keeper, in: "run")
        _ = try? await loop.run(in: "run", for: duration)
        keeper.invalidate()
    }
}

/// Ports on a thread of their own: one answers, one does not and lets go, one keeps the right to answer, and one is
/// gone.
private struct Others {
    private let thread = LoopThread()
    private let kept = Locked<[RunLoop.MessagePort.Sender]>([])
    private let ports: [RunLoop.MessagePort]

    init(on loop: RunLoop) {
        let kept = kept
        ports = [
            .sendable { $0 }, .sendable { _ in nil },
            .sendable { message in
                kept.withLock { kept in
                    if let replyTo = message.replyTo { kept.append(replyTo) }
                    if kept.count > 16 { kept.removeFirst() }
                }
                return nil
            }, .sendable { $0 },
        ]
        // The first is where the answers are taken in, too.
        for (port, home) in zip(ports, [loop, thread.loop, thread.loop]) { _ = try? home.add(port, in: .common) }
        ports.last?.invalidate()
    }

    func one(_ duration: Duration) -> RunLoop.MessagePort.Sender {
        ports[Int(truncatingIfNeeded: duration.components.attoseconds / 1_000_000_000_000) % ports.count].sender
    }

    func end() {
        for port in ports { port.invalidate() }
        thread.end()
    }
}
