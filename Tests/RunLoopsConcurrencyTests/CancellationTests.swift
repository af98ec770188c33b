import RunLoops
import RunLoopsConcurrency
import RunLoopsTestSupport
import Testing

/// Everything that waits, started and cancelled at random: each ends, once, and nothing stays behind.
///
/// A continuation that is resumed twice traps; one that is lost leaves its task waiting, and the test with it.
@Suite(.timeLimit(.minutes(5))) struct CancellationTests {
    @Test func `Nothing stays registered of what is started and cancelled at random`() async {
        let count = isFull ? 100_000 : Sanitizer.isAny ? 2000 : 4000
        await LoopThread.with { loop in
            // An executor and its source stay; it is there before the first look.
            _ = loop.executor
            let before = labels(in: loop)
            let ends = (0..<8).map { _ in DescriptorPair.sockets() }
            var random = SeededRandom(6)
            var done = 0
            while done < count {
                await withTaskGroup(of: Void.self) { group in
                    for index in 0..<min(200, count - done) {
                        let seed = random.next()
                        group.addTask { await startAndCancel(on: loop, ends[index % ends.count], seed) }
                        done += 1
                    }
                }
            }
            // What the last ones have left to the loop's thread is done when this is.
            _ = try? await loop.result {}
            #expect(labels(in: loop) == before)
        }
    }

    /// The items of the loop, by the words that this package labels them with.
    private func labels(in loop: RunLoop) -> [String] {
        let text = loop.debugDescription
        return ["sleep", "ticks", "passed", "signals", "readiness", "trial", "steered run"].filter { text.contains($0) }
    }
}

/// One thing that waits, and perhaps a cancellation, a little later.
private func startAndCancel(on loop: RunLoop, _ ends: DescriptorPair, _ seed: UInt64) async {
    var random = SeededRandom(seed)
    let kind = random.next() % 7
    let duration = Duration.microseconds(Int64(random.next() % 300))
    let isEndless = random.next() % 2 == 0
    let prefers = random.next() % 2 == 0
    let task = Task(executorPreference: prefers ? loop.executor : nil) {
        await waitSomehow(kind, on: loop, ends, isEndless ? .seconds(3600) : duration)
    }
    for _ in 0..<(random.next() % 4) { await Task.yield() }
    // Not on the loop: while it runs in a mode of its own for another task, it wakes no common sleeper.
    if random.next() % 3 == 0 { try? await Task.sleep(for: .microseconds(Int64(random.next() % 100))) }
    if isEndless || random.next() % 2 == 0 { task.cancel() }
    await task.value
}

private func waitSomehow(_ kind: UInt64, on loop: RunLoop, _ ends: DescriptorPair, _ duration: Duration) async {
    switch kind {
    case 0: try? await loop.clock.sleep(for: duration, tolerance: .milliseconds(1))
    case 1: for await _ in loop.ticks(every: duration + .nanoseconds(1)) { break }
    case 2: _ = try? await loop.result { duration }
    case 3: try? await withTimeout(duration, clock: loop.clock) { try await Task.sleep(for: .microseconds(50)) }
    case 4:
        let (source, events) = loop.signals()
        if duration < .seconds(1) {
            source.signal()
            loop.wakeUp()
        }
        for await _ in events { break }
    case 5:
        // Never ready: ends by cancellation, or with the sequence.
        guard let events = try? loop.readiness(of: ends.first) else { return }
        if duration < .seconds(1) { events.cancel() }
        for await _ in events { break }
    default:
        let keeper = RunLoop.Source.sendable { _ in }
        loop.add(keeper, in: "run")
        _ = try? await loop.run(in: "run", for: duration)
        keeper.invalidate()
    }
}
