// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import FoundationRunLoop
import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

import class FoundationRunLoop.NotificationQueue
import class FoundationRunLoop.RunLoop

@Suite(.ownThread) struct NotificationQueueTests {
    private let lines = Locked<[String]>()

    /// A queue whose notifications are written down, in a loop that does not finish.
    private func with(_ body: (ManualRunLoop, NotificationQueue) -> Void) {
        ManualRunLoop.with { manual in
            manual.loop.add(RunLoops.RunLoop.Source { _ in }, in: .default)
            manual.loop.add(RunLoops.RunLoop.Source { _ in }, in: .tracking)
            let (center, lines) = (NotificationCenter(), lines)
            let observer = center.addObserver(forName: nil, object: nil, queue: nil) { lines.note($0.name.rawValue) }
            body(manual, NotificationQueue(notificationCenter: center))
            center.removeObserver(observer)
        }
    }

    private func note(_ name: String, _ sender: Any? = nil) -> Notification {
        Notification(name: Notification.Name(name), object: sender)
    }

    @Test func `Style now delivers at once, asap before other sources and whenIdle before the loop sleeps`() {
        with { manual, queue in
            queue.enqueue(note("idle"), postingStyle: .whenIdle)
            queue.enqueue(note("soon"), postingStyle: .asap)
            queue.enqueue(note("now"), postingStyle: .now)
            #expect(lines.lines == ["now"])
            let source = RunLoops.RunLoop.Source { _ in lines.note("source") }
            manual.loop.add(source, in: .default)
            source.signal()
            manual.advance(by: .seconds(1))
            #expect(lines.lines == ["now", "soon", "source", "idle"])
        }
    }

    @Test func `Of equal notifications only the last is posted unless the coalesce mask is none`() {
        with { manual, queue in
            for name in ["a", "b", "a"] { queue.enqueue(note(name), postingStyle: .asap) }
            manual.advance(by: .zero)
            #expect(lines.lines == ["b", "a"])
            for name in ["a", "b", "a"] {
                queue.enqueue(note(name), postingStyle: .asap, coalesceMask: .none, forModes: nil)
            }
            manual.advance(by: .zero)
            #expect(lines.lines == ["b", "a", "a", "b", "a"])
        }
    }

    @Test func `The coalesce mask decides whether notifications match by name, sender or both`() {
        final class Sender {}
        with { manual, queue in
            let (one, two) = (Sender(), Sender())
            func waiting(_ mask: NotificationQueue.NotificationCoalescing) -> [String] {
                for (name, sender) in [("a", one), ("b", one), ("a", two)] {
                    queue.enqueue(note(name, sender), postingStyle: .whenIdle, coalesceMask: .none, forModes: nil)
                }
                queue.dequeueNotifications(matching: note("a", one), coalesceMask: mask)
                let before = lines.lines.count
                manual.advance(by: .seconds(1))
                return Array(lines.lines.dropFirst(before))
            }
            #expect(waiting([]) == ["a", "b", "a"])
            #expect(waiting(.onName) == ["b"])
            #expect(waiting(.onSender) == ["a"])
            #expect(waiting([.onName, .onSender]) == ["b", "a"])
            // No sender is a sender like another, and a value is compared as a value.
            queue.enqueue(note("c"), postingStyle: .asap)
            queue.enqueue(note("c", "text"), postingStyle: .asap)
            queue.enqueue(note("c", "te" + "xt"), postingStyle: .asap)
            queue.enqueue(note("c"), postingStyle: .asap)
            let before = lines.lines.count
            manual.advance(by: .zero)
            #expect(lines.lines.count == before + 2)
        }
    }

    @Test func `A notification waits for its modes, but style now drops it in another mode`() {
        with { manual, queue in
            queue.enqueue(note("soon"), postingStyle: .asap, coalesceMask: [], forModes: [.tracking])
            queue.enqueue(note("idle"), postingStyle: .whenIdle, coalesceMask: [], forModes: [.tracking])
            queue.enqueue(note("never"), postingStyle: .asap, coalesceMask: [], forModes: [])
            manual.loop.performLocally {
                queue.enqueue(note("dropped"), postingStyle: .now, coalesceMask: [], forModes: [.tracking])
                queue.enqueue(note("now"), postingStyle: .now)
            }
            manual.advance(by: .seconds(1))
            #expect(lines.lines == ["now"])
            manual.advance(by: .seconds(1), in: .tracking)
            #expect(lines.lines == ["now", "soon", "idle"])
            manual.loop.markCommon(.tracking)
            queue.enqueue(note("common"), postingStyle: .whenIdle, coalesceMask: [], forModes: [.common])
            manual.advance(by: .seconds(1), in: .tracking)
            #expect(lines.lines.last == "common")
        }
    }

    @Test func `A whenIdle notification enqueued just before the sleep is delivered in the next turn`() {
        with { manual, queue in
            queue.enqueue(note("first"), postingStyle: .whenIdle)
            let late = RunLoops.RunLoop.Observer(.beforeWaiting, order: .max, repeats: false) { [self] _, _ in
                queue.enqueue(note("late"), postingStyle: .whenIdle)
            }
            manual.loop.add(late, in: .default)
            let start = manual.now
            manual.loop.performLocally(after: .seconds(1)) { manual.loop.stop() }
            manual.loop.run(in: .default, for: .seconds(10))
            #expect(lines.lines == ["first", "late"])
            #expect(start.duration(to: manual.now) == .seconds(1))
        }
    }

    @Test func `NotificationQueue.default is one object for each thread`() {
        let isOne = TestThread.run { NotificationQueue.default === NotificationQueue.default }
        #expect(isOne)
        let witness = Witness()
        TestThread.run { witness.watch(NotificationQueue.default) }
        #expect(witness.isGone)
    }

    // MARK: Memory

    @Test func `A queue is kept until its last pending notification is delivered`() {
        ManualRunLoop.with { manual in
            let (center, witness, lines) = (NotificationCenter(), Witness(), lines)
            let observer = center.addObserver(forName: nil, object: nil, queue: nil) { lines.note($0.name.rawValue) }
            do {
                let queue = NotificationQueue(notificationCenter: center)
                witness.watch(queue)
                queue.enqueue(note("soon"), postingStyle: .asap)
                queue.enqueue(note("idle"), postingStyle: .whenIdle)
            }
            manual.loop.add(RunLoops.RunLoop.Source { _ in }, in: .default)
            manual.advance(by: .seconds(1))
            #expect(lines.lines == ["soon", "idle"])
            #expect(witness.isGone)
            center.removeObserver(observer)
        }
    }

    @Test func `A queue and its pending notifications are released when the thread ends`() {
        let (queue, sender) = (Witness(), Witness())
        TestThread.run {
            let made = NotificationQueue(notificationCenter: NotificationCenter())
            queue.watch(made)
            let token = sender.makeToken()
            let notification = Notification(name: Notification.Name("a"), object: token)
            made.enqueue(notification, postingStyle: .asap)
            made.enqueue(notification, postingStyle: .whenIdle, coalesceMask: [], forModes: [.default, .tracking])
        }
        #expect(queue.isGone && sender.isGone)
    }
}
