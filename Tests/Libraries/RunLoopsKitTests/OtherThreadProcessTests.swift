// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsKit
import RunLoopsTestSupport
import Testing

/// Objects of one thread that another thread uses, as code in language mode 5 can do without a word of the compiler.
@Suite(.timeLimit(.minutes(10))) struct OtherThreadProcessTests {
    @Test func `Calling a debouncer on another thread traps with a message that names the remedy`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Misuse.debouncer.play()
        }
        expectText(result, "was used by another thread than the one that made it: post the call")
    }

    @Test func `Calling a throttle on another thread traps with a message that names the remedy`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Misuse.throttle.play()
        }
        expectText(result, "was used by another thread than the one that made it: post the call")
    }

    @Test func `Feeding a watchdog on another thread traps with a message that names the remedy`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Misuse.watchdog.play()
        }
        expectText(result, "was used by another thread than the one that made it: post the call")
    }

    @Test func `Pausing a display link on another thread traps with a message that names the remedy`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Misuse.displayLink.play()
        }
        expectText(result, "was used by another thread than the one that made it: post the call")
    }

    @Test func `Adding to an idle queue on another thread traps with a message that names the remedy`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Misuse.idleQueue.play()
        }
        expectText(result, "was used by another thread than the one that made it: post the call")
    }

    @Test func `Posting to a notification queue on another thread traps with a message that names the remedy`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Misuse.notificationQueue.play()
        }
        expectText(result, "was used by another thread than the one that made it: post the call")
    }

    @Test func `Marking a transaction on another thread traps with a message that names the remedy`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Misuse.transaction.play()
        }
        expectText(result, "was used by another thread than the one that made it: post the call")
    }
}

private enum Misuse {
    case debouncer, throttle, watchdog, displayLink, idleQueue, notificationQueue, transaction

    /// Makes the object here, and uses it on another thread.
    func play() {
        nonisolated(unsafe) let use = make()
        TestThread.run { use() }
    }

    private func make() -> () -> Void {
        switch self {
        case .debouncer:
            let debouncer = RunLoop.Debouncer(after: .seconds(1)) {}
            return { debouncer.call() }
        case .throttle:
            let throttle = RunLoop.Throttle(every: .seconds(1)) {}
            throttle.call()
            return { throttle.call() }
        case .watchdog:
            let watchdog = RunLoop.WatchdogTimer(limit: .seconds(1)) {}
            return { watchdog.feed() }
        case .displayLink:
            let link = RunLoop.DisplayLink(framesPerSecond: 60) { _ in }
            return { link.isPaused = true }
        case .idleQueue:
            let queue = RunLoop.IdleQueue()
            return { queue.add {} }
        case .notificationQueue:
            let queue = RunLoop.NotificationQueue()
            return { queue.post(RunLoop.NotificationQueue.Notification("name")) }
        case .transaction:
            let transaction = RunLoop.Transaction()
            return { transaction.mark(transaction) {} }
        }
    }
}
