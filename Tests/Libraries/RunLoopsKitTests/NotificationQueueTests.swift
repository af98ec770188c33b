// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsKit
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// Telling now, as soon as possible, when idle; and once instead of many times.
@Suite(.ownThread) struct NotificationQueueTests {
    private final class Sender {}

    /// A queue whose notifications are written down, in a loop that does not finish.
    private func with(_ body: (ManualRunLoop, RunLoop.NotificationQueue, Box<[String]>) -> Void) {
        ManualRunLoop.with { manual in
            keepAlive(manual.loop)
            let queue = RunLoop.NotificationQueue()
            let lines = Box<[String]>([])
            queue.observe { lines.value.append("\($0.name.rawValue)\($0.payload.map { " \($0)" } ?? "")") }
            body(manual, queue, lines)
        }
    }

    @Test func `With style now, post delivers before it returns, and asSoonAsPossible delivers before whenIdle`() {
        with { manual, queue, lines in
            queue.post(.init("idle"), .whenIdle)
            queue.post(.init("soon"), .asSoonAsPossible)
            queue.post(.init("now"), .now)
            #expect(lines.value == ["now"])
            let source = RunLoop.Source { _ in lines.value.append("source") }
            manual.loop.add(source, in: .default)
            source.signal()
            manual.advance(by: .seconds(1))
            #expect(lines.value == ["now", "soon", "source", "idle"])
            #expect(queue.waitingCount == 0)
        }
    }

    @Test func `With style now, a notification is delivered only if the current mode is in its list of modes`() {
        with { manual, queue, lines in
            manual.loop.performLocally {
                queue.post(.init("other"), .now, in: [.tracking])
                queue.post(.init("default"), .now)
                queue.post(.init("common"), .now, in: [.tracking, .common])
                manual.loop.performLocally(in: "private") {
                    queue.post(.init("not common"), .now, in: [.common])
                    queue.post(.init("private"), .now, in: ["private"])
                }
                manual.advance(by: .zero, in: "private")
            }
            manual.advance(by: .seconds(1))
            #expect(lines.value == ["default", "private"])
            #expect(queue.waitingCount == 0)
            // A notification that was not delivered then is not delivered later.
            keepAlive(manual.loop, in: .tracking)
            manual.advance(by: .seconds(1), in: .tracking)
            #expect(lines.value.count == 2)
        }
    }

    @Test func `With style now, a notification is delivered whatever its modes while no run is in progress`() {
        with { _, queue, lines in
            queue.post(.init("a"), .now, in: [.tracking])
            #expect(lines.value == ["a"])
        }
    }

    @Test func `A post with style now replaces waiting notifications even if it is not delivered itself`() {
        with { manual, queue, lines in
            manual.loop.performLocally {
                queue.post(.init("a", payload: 1), .whenIdle)
                queue.post(.init("a", payload: 2), .now, in: [.tracking])
            }
            manual.advance(by: .seconds(1))
            #expect(lines.value.isEmpty)
            #expect(queue.waitingCount == 0)
        }
    }

    @Test func `Waiting notifications coalesce by name and sender`() {
        with { manual, queue, lines in
            let (one, two) = (Sender(), Sender())
            queue.post(.init("a", sender: one, payload: 1), .whenIdle)
            queue.post(.init("a", sender: two, payload: 2), .whenIdle)
            queue.post(.init("b", sender: one, payload: 3), .whenIdle)
            queue.post(.init("a", sender: one, payload: 4), .whenIdle)
            queue.post(.init("c", sender: two, payload: 5), .whenIdle, coalescing: [])
            queue.post(.init("c", sender: two, payload: 6), .asSoonAsPossible, coalescing: [])
            manual.advance(by: .seconds(1))
            #expect(lines.value == ["c 6", "a 2", "b 3", "a 4", "c 5"])
            lines.value = []
            queue.post(.init("a", sender: one, payload: 1), .whenIdle)
            queue.post(.init("b", sender: one, payload: 2), .asSoonAsPossible)
            queue.post(.init("c", sender: one, payload: 3), .now, coalescing: .sender)
            manual.advance(by: .seconds(1))
            #expect(lines.value == ["c 3"])
            lines.value = []
            queue.post(.init("a", sender: one, payload: 1), .whenIdle)
            queue.post(.init("a", sender: two, payload: 2), .whenIdle, coalescing: .name)
            manual.advance(by: .seconds(1))
            #expect(lines.value == ["a 2"])
        }
    }

    @Test(arguments: [RunLoop.NotificationQueue.Style.asSoonAsPossible, .whenIdle])
    func `A notification waits for a run in one of its modes`(
        style: RunLoop.NotificationQueue.Style
    ) {
        with { manual, queue, lines in
            keepAlive(manual.loop, in: .tracking)
            queue.post(.init("a"), style, in: [.tracking, "other"])
            manual.advance(by: .seconds(1))
            #expect(lines.value.isEmpty)
            manual.advance(by: .seconds(1), in: .tracking)
            #expect(lines.value == ["a"])
        }
    }

    @Test func `A whenIdle notification posted by an observer is delivered without another event`() {
        with { manual, queue, lines in
            let start = manual.now
            queue.observe("one") { [unowned queue] _ in queue.post(.init("two"), .whenIdle) }
            queue.observe("two") { _ in lines.value.append("at \(start.duration(to: manual.now))") }
            queue.post(.init("one"), .whenIdle)
            manual.loop.run(in: .default, for: .seconds(5))
            #expect(lines.value == ["one", "two", "at 0.0 seconds"])
            #expect(manual.sleeps == 1)
        }
    }

    @Test func `An observer is called for its name and sender until it is removed`() {
        with { _, queue, _ in
            let sender = Sender()
            let told = Box(0)
            let token = queue.observe("a", sender: sender) { _ in told.value += 1 }
            queue.post(.init("a"))
            queue.post(.init("b", sender: sender))
            #expect(told.value == 0)
            queue.post(.init("a", sender: sender))
            #expect(told.value == 1)
            queue.remove(token)
            queue.post(.init("a", sender: sender))
            #expect(told.value == 1)
        }
    }

    @Test func `An observer removed by an earlier observer is not called`() {
        with { _, queue, _ in
            let told = Box(0)
            let later = Box<RunLoop.NotificationQueue.Token?>(nil)
            queue.observe("a") { [unowned queue] _ in if let token = later.value { queue.remove(token) } }
            later.value = queue.observe("a") { _ in told.value += 1 }
            queue.post(.init("a"))
            #expect(told.value == 0)
        }
    }

    @Test func `A notification queue costs an idle loop no wake-up`() {
        with { manual, queue, _ in
            queue.post(.init("a"), .whenIdle)
            queue.post(.init("b"), .whenIdle, in: ["other"])
            manual.advance(by: .zero)
            manual.advance(by: .milliseconds(1))
            #expect(idleWakeUps(manual) == 0)
        }
    }
}
