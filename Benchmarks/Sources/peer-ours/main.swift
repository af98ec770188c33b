// RunLoops, by its public API as a user would write it.

import BenchKit
import RunLoops
import Workloads

final class Ours: Peer {
    struct Wake: Sendable {
        let source: RunLoop.Source
        let loop: RunLoop
    }

    static let readsItself = false

    let loop: RunLoop

    init(cpu: Int32?) {
        let ready = Gate()
        let found = Confined<RunLoop?>(nil)
        startThread {
            if let cpu { bk_pin_thread(cpu) }
            let loop = RunLoop.current
            found.value = loop
            // Keeps the mode from being empty, which would end the run.
            loop.add(RunLoop.Source { _ in }, in: .default)
            ready.open()
            loop.run()
        }
        ready.wait()
        loop = found.value!
    }

    static func start() {
        let loop = RunLoop.current
        loop.add(RunLoop.Timer(.after(.milliseconds(1))) { _ in loop.stop() }, in: .default)
        loop.run()
    }

    func enter(_ body: @escaping @Sendable () -> Void) { loop.perform(wake: true, body) }

    func makeWake(_ body: @escaping @Sendable () -> Void) -> Wake {
        let source = RunLoop.Source { _ in body() }
        loop.add(source, in: .default)
        return Wake(source: source, loop: loop)
    }
    func send(_ wake: Wake) {
        wake.source.signal()
        wake.loop.wakeUp()
    }

    func post(_ body: @escaping @Sendable () -> Void) { loop.perform(wake: true, body) }
    func postHere(isLast: Bool, _ body: @escaping @Sendable () -> Void) { loop.perform(wake: isLast, body) }

    /// The pipe that is never written makes the loop ask the kernel each turn; without a descriptor in the mode there
    /// would be nothing to ask.
    func makeAgain(_ body: @escaping @Sendable () -> Void) -> RunLoop.Source {
        var ends: (Int32, Int32) = (0, 0)
        withUnsafeMutableBytes(of: &ends) { bk_make_pipe($0.baseAddress!.assumingMemoryBound(to: Int32.self)) }
        _ = watch(ends.0) {}
        let source = RunLoop.Source { _ in body() }
        loop.add(source, in: .default)
        return source
    }
    func ask(_ again: RunLoop.Source) { again.signal() }

    func timer(in delay: Int64, _ body: @escaping @Sendable () -> Void) -> RunLoop.Timer {
        let timer = RunLoop.Timer(.after(.nanoseconds(delay))) { _ in body() }
        loop.add(timer, in: .default)
        return timer
    }
    func timer(at due: Int64, tolerance: Int64, _ body: @escaping @Sendable () -> Void) -> RunLoop.Timer {
        let timer = RunLoop.Timer(
            .at(RunLoop.Instant(nanoseconds: due)), tolerance: .nanoseconds(tolerance)
        ) { _ in body() }
        loop.add(timer, in: .default)
        return timer
    }
    func timer(every interval: Int64, _ body: @escaping @Sendable () -> Void) -> RunLoop.Timer {
        let timer = RunLoop.Timer(.every(.nanoseconds(interval))) { _ in body() }
        loop.add(timer, in: .default)
        return timer
    }
    func cancel(_ timer: RunLoop.Timer) { timer.invalidate() }

    func watch(_ descriptor: Int32, _ body: @escaping @Sendable () -> Void) -> RunLoop.PortSource {
        let source = RunLoop.PortSource(descriptor: descriptor) { _, _ in body() }
        do {
            try loop.add(source, in: .default)
        } catch {
            fatalError("\(error)")
        }
        return source
    }
}

runWorkload(Ours.self)
