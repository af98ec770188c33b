// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import FoundationRunLoop
import RunLoops
import RunLoopsTestSupport
import Testing

import class FoundationRunLoop.MessagePort
import class FoundationRunLoop.NotificationQueue
import class FoundationRunLoop.Port
import class FoundationRunLoop.RunLoop
import class FoundationRunLoop.Timer

/// Traps that name the remedy, where Foundation is silent, crashes or waits for ever.
@Suite(.ownThread) struct MisuseTests {
    // Swift Testing before 6.3 takes no value into an exit test.
    #if compiler(>=6.3)
    @Test func `Running a loop on another thread traps`() async {
        for member in 0..<4 {
            let result = await #expect(
                processExitsWith: .failure, observing: [\.standardErrorContent]
            ) { [member = member as Int] in
                nonisolated(unsafe) let main = RunLoop.main
                TestThread.run {
                    switch member {
                    case 0: main.run(mode: .default, before: .distantPast)
                    case 1: main.run(until: .distantPast)
                    case 2: _ = main.limitDate(forMode: .default)
                    default: main.acceptInput(forMode: .default, before: .distantPast)
                    }
                }
            }
            expectText(result, "A run loop can only be run by its own thread")
        }
    }

    @Test func `An interval or a date that is not a number traps`() async {
        for member in 0..<4 {
            let result = await #expect(
                processExitsWith: .failure, observing: [\.standardErrorContent]
            ) { [member = member as Int] in
                switch member {
                case 0: _ = Timer(timeInterval: .nan, repeats: true) { _ in }
                case 1: _ = Timer(fire: Date(timeIntervalSince1970: .nan), interval: 1, repeats: true) { _ in }
                case 2: Timer(timeInterval: 1, repeats: false) { _ in }.tolerance = .nan
                default: Timer(timeInterval: 1, repeats: false) { _ in }.fireDate = Date(timeIntervalSince1970: .nan)
                }
            }
            expectText(result, "A time interval was not a number")
        }
    }
    #endif

    @Test func `Enqueueing on another thread's notification queue traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            nonisolated(unsafe) let queue = NotificationQueue(notificationCenter: .default)
            TestThread.run {
                queue.enqueue(Notification(name: Notification.Name("a")), postingStyle: .asap)
            }
        }
        expectText(result, "use NotificationQueue.default there")
    }

    @Test func `perform(waitUntilDone:) on the loop of an ended thread traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            nonisolated(unsafe) let loop = TestThread.run { Kept(loop: RunLoop.current) }.loop
            TestThread.run { loop.perform(waitUntilDone: true) {} }
        }
        expectText(result, "waited in vain")
    }

    private struct Kept: @unchecked Sendable { let loop: RunLoop }

    @Test func `Port.send traps, and invalidate() traps in a subclass that does not override it`() async {
        let made = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Port().send(before: .distantFuture, components: nil, from: nil, reserved: 0)
        }
        expectText(made, "use MessagePort()")
        let used = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            final class Half: Port {}
            Half().invalidate()
        }
        expectText(used, "Half is a Port that does not override invalidate()")
    }

    @Test func `Adding a message port to a second loop traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            nonisolated(unsafe) let port = MessagePort()
            RunLoop.main.add(port, forMode: .default)
            TestThread.run { RunLoop.current.add(port, forMode: .default) }
        }
        expectText(result, "Make a port for each loop")
    }
}
