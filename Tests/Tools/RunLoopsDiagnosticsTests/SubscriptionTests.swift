// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

@testable import RunLoopsDiagnostics

/// Keeps the kinds of what it hears.
private final class Listener: LoopSubscriber {
    let begun = Locked<[RunLoop.Mode?]>([])
    let heard = Locked<[String]>([])

    func begin(in mode: RunLoop.Mode?, at time: Int64) { begun.withLock { $0.append(mode) } }

    func hear(_ event: LoopEvent, at time: Int64, depth: UInt16) {
        if case .calls(let callee, _) = event { heard.withLock { $0.append("\(callee) \(depth)") } }
    }
}

/// Calls a closure when it is released.
private final class Ending {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
    deinit { body() }
}

@Suite("A subscription", .ownThread)
struct SubscriptionTests {
    private func subscription(most: Int = .max, over: Locked<Int> = Locked(0)) -> Subscription<Listener> {
        Subscription(most: most, whenOver: { _ in over.withLock { $0 += 1 } }, make: { _, _ in Listener() })
    }

    @Test func `a subscription has one subscriber for a loop however often the loop is added`() {
        ManualRunLoop.with { manual in
            let subscription = subscription()
            #expect(subscription.add(manual.loop) && subscription.add(manual.loop))
            manual.loop.perform {}
            manual.loop.runTurn()
            #expect(subscription.present.map(\.subscriber.heard.copy) == [["block 1"]])
        }
    }

    @Test func `a subscription that was stopped adds no loop and leaves no tracer`() {
        ManualRunLoop.with { manual in
            let subscription = subscription()
            #expect(subscription.add(manual.loop))
            #expect(subscription.stop().count == 1 && subscription.stop().isEmpty)
            #expect(manual.loop.losesTracer())
            #expect(!subscription.add(manual.loop) && manual.loop.losesTracer())
        }
    }

    @Test func `an object that is released with the last subscriber may subscribe to the same stream`() throws {
        try ManualRunLoop.with { manual in
            let loop = manual.loop
            let stream = try #require(LoopStream.of(loop))
            let (last, again) = (Listener(), Listener())
            stream.add(last)
            stream.release([Ending { LoopStream.of(loop)?.add(again) }])
            stream.remove(last)
            loop.perform {}
            loop.runTurn()
            // Another stream would have ended this one in the middle of its event.
            #expect(loop.tracer === stream)
            #expect(last.heard.copy.isEmpty && again.heard.copy == ["block 1"])
        }
    }

    @Test func `a subscription does not add loops above its limit`() {
        let subscription = subscription(most: 1)
        ManualRunLoop.with { first in
            #expect(subscription.add(first.loop))
            ManualRunLoop.with { second in
                #expect(!subscription.add(second.loop) && second.loop.losesTracer())
            }
        }
    }

    @Test func `a subscription reports the subscriber of a loop whose thread has ended`() {
        let over = Locked(0)
        let subscription = subscription(over: over)
        TestThread.run { _ = subscription.add(.current) }
        #expect(subscription.present.isEmpty && over.copy == 1)
    }

    @Test func `a subscription that follows another has the other's loops, even later ones, until it is stopped`() {
        ManualRunLoop.with { first in
            let (leader, follower) = (subscription(), subscription())
            #expect(leader.add(first.loop))
            follower.follow(leader)
            #expect(leader.followerCount == 1 && follower.present.count == 1)
            #expect(follower.present[0].subscriber.begun.copy.isEmpty, "the loop has done nothing since")
            first.loop.perform {}
            first.loop.runTurn()
            #expect(follower.present[0].subscriber.heard.copy == ["block 1"])
            ManualRunLoop.with { second in
                #expect(leader.add(second.loop) && follower.present.count == 2)
            }
            _ = follower.stop()
            #expect(leader.followerCount == 0)
        }
    }

    @Test func `the subscriber of a loop added in the middle of a run begins with the mode of that run`() {
        ManualRunLoop.with { manual in
            let subscription = subscription()
            let loop = manual.loop
            loop.perform { _ = subscription.add(loop) }
            loop.runTurn()
            #expect(subscription.present[0].subscriber.begun.copy == [.default])
        }
    }
}
