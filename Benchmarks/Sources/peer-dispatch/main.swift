// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// libdispatch: a serial queue in the place of a loop. Queues borrow threads, and two of them may share one.

import BenchKit
import Dispatch
import Workloads

final class Queue: Peer, @unchecked Sendable {
    static let readsItself = false

    let queue: DispatchQueue

    init(cpu: Int32?) {
        if cpu != nil { bk_skip("its threads cannot be placed") }
        queue = DispatchQueue(label: "benchmark")
    }

    static func start() {
        let queue = DispatchQueue(label: "benchmark")
        let done = DispatchSemaphore(value: 0)
        let timer = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
        timer.schedule(deadline: .now() + .milliseconds(1), leeway: .nanoseconds(0))
        timer.setEventHandler { @Sendable in done.signal() }
        timer.activate()
        done.wait()
    }

    func enter(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

    func makeWake(_ body: some Callback) -> @Sendable () -> Void { { body() } }
    func send(_ wake: @escaping @Sendable () -> Void) { queue.async(execute: wake) }

    func post(_ body: some Callback) { queue.async { body() } }
    func postHere(isLast: Bool, _ body: some Callback) { queue.async { body() } }

    func makeAgain(_ body: some Callback) -> @Sendable () -> Void { { body() } }
    func ask(_ again: @escaping @Sendable () -> Void) { queue.async(execute: again) }

    func timer(in delay: Int64, _ body: some Callback) -> any DispatchSourceTimer {
        timer(.now() + .nanoseconds(Int(delay)), .never, 0, body)
    }
    func timer(at due: Int64, tolerance: Int64, _ body: some Callback) -> any DispatchSourceTimer {
        timer(DispatchTime(uptimeNanoseconds: UInt64(due)), .never, Int(tolerance), body)
    }
    func timer(every interval: Int64, _ body: some Callback) -> any DispatchSourceTimer {
        let interval = DispatchTimeInterval.nanoseconds(Int(interval))
        return timer(.now() + interval, interval, 0, body)
    }
    private func timer(
        _ date: DispatchTime, _ interval: DispatchTimeInterval, _ leeway: Int, _ body: some Callback
    ) -> any DispatchSourceTimer {
        // One-shots that are dispatched by asyncAfter cannot be taken back.
        let timer = DispatchSource.makeTimerSource(flags: leeway == 0 ? .strict : [], queue: queue)
        timer.schedule(deadline: date, repeating: interval, leeway: .nanoseconds(leeway))
        timer.setEventHandler { body() }
        timer.activate()
        return timer
    }
    func cancel(_ timer: any DispatchSourceTimer) { timer.cancel() }
    func restart(_ timer: any DispatchSourceTimer, in delay: Int64) {
        timer.schedule(deadline: .now() + .nanoseconds(Int(delay)), leeway: .nanoseconds(0))
    }

    func watch(_ descriptor: Int32, _ body: some Callback) -> any DispatchSourceRead {
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler { body() }
        source.activate()
        return source
    }
}

runWorkload(Queue.self)
