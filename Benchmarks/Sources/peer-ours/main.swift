// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

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

    func enter(_ body: @escaping @Sendable () -> Void) { loop.perform(body) }

    func makeWake(_ body: some Callback) -> Wake {
        let source = RunLoop.Source { _ in body() }
        loop.add(source, in: .default)
        return Wake(source: source, loop: loop)
    }
    func send(_ wake: Wake) {
        wake.source.signal()
        wake.loop.wakeUp()
    }

    func post(_ body: some Callback) { loop.perform { body() } }
    func postHere(isLast: Bool, _ body: some Callback) { loop.perform { body() } }

    func makeAgain(_ body: some Callback) -> RunLoop.Source {
        let source = RunLoop.Source { _ in body() }
        loop.add(source, in: .default)
        return source
    }
    func ask(_ again: RunLoop.Source) { again.signal() }

    func timer(in delay: Int64, _ body: some Callback) -> RunLoop.Timer {
        let timer = RunLoop.Timer(.after(.nanoseconds(delay))) { _ in body() }
        loop.add(timer, in: .default)
        return timer
    }
    func timer(at due: Int64, tolerance: Int64, _ body: some Callback) -> RunLoop.Timer {
        let timer = RunLoop.Timer(
            .at(RunLoop.Instant(nanoseconds: due)), tolerance: .nanoseconds(tolerance)
        ) { _ in body() }
        loop.add(timer, in: .default)
        return timer
    }
    func timer(every interval: Int64, _ body: some Callback) -> RunLoop.Timer {
        let timer = RunLoop.Timer(.every(.nanoseconds(interval))) { _ in body() }
        loop.add(timer, in: .default)
        return timer
    }
    func cancel(_ timer: RunLoop.Timer) { timer.invalidate() }
    func restart(_ timer: RunLoop.Timer, in delay: Int64) { timer.restart(after: .nanoseconds(delay)) }

    func delay(_ delay: Int64, _ body: some Callback) -> RunLoop.DelayedPerform {
        loop.performLocally(after: .nanoseconds(delay)) { body() }
    }
    func cancel(delayed: RunLoop.DelayedPerform) { loop.cancel(delayed) }

    func watch(_ descriptor: Int32, _ body: some Callback) -> RunLoop.DescriptorSource {
        let source = RunLoop.DescriptorSource(descriptor) { _, _ in body() }
        do {
            try loop.add(source, in: .default)
        } catch {
            fatalError("\(error)")
        }
        return source
    }
}

runWorkload(Ours.self)
