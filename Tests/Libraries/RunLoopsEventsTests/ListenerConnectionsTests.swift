// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsTestSupport
import Testing

/// A listener that knows its connections: their number, and when there are none.
@Suite(.ownThread, .leavesNothing) struct ListenerConnectionsTests {
    @Test func `A connection counts from its acceptance until its socket is released, also after the listener's end`()
        throws
    {
        try withLoop { loop in
            let scene = try Scene(loop)
            #expect(scene.listener.connectionCount == 0)
            scene.connect(3)
            loop.run { scene.accepted.value.count == 3 }
            #expect(scene.listener.connectionCount == 3)
            scene.accepted.value.removeLast()
            #expect(scene.listener.connectionCount == 2)
            scene.listener.invalidate()
            // The last one is released by another thread.
            let last = Locked(scene.accepted.value.popLast())
            TestThread { last.withLock { $0 = nil } }.join()
            #expect(scene.listener.connectionCount == 1)
            scene.accepted.value = []
            #expect(scene.listener.connectionCount == 0)
        }
    }

    @Test func `whenUnused calls its closure once, in a turn, when the last connection is closed`() throws {
        try withLoop { loop in
            let scene = try Scene(loop)
            scene.connect(2)
            loop.run { scene.accepted.value.count == 2 }
            let calls = Box(0)
            scene.listener.whenUnused { calls.value += 1 }
            _ = loop.runUntilIdle()
            scene.accepted.value.removeLast()
            _ = loop.runUntilIdle()
            #expect(calls.value == 0)
            scene.accepted.value.removeLast()
            #expect(calls.value == 0)
            _ = loop.runUntilIdle()
            #expect(calls.value == 1)
            // Once: later connections call it no more, and a second closure is called at once.
            scene.connect(1)
            loop.run { scene.accepted.value.count == 1 }
            scene.accepted.value = []
            _ = loop.runUntilIdle()
            #expect(calls.value == 1)
            scene.listener.whenUnused { calls.value += 10 }
            _ = loop.runUntilIdle()
            #expect(calls.value == 11)
            scene.listener.invalidate()
        }
    }

    @Test func `After the listener is invalidated, whenUnused waits for the present connections`() throws {
        try withLoop { loop in
            let scene = try Scene(loop)
            scene.connect(2)
            loop.run { scene.accepted.value.count == 2 }
            scene.listener.invalidate()
            let isUnused = Box(false)
            scene.listener.whenUnused { isUnused.value = true }
            _ = loop.runUntilIdle()
            #expect(!isUnused.value)
            let rest = Locked(scene.accepted.value)
            scene.accepted.value = []
            // Closed by another thread: the closure stays on this one.
            let closer = TestThread { rest.withLock { $0 = [] } }
            closer.join()
            _ = loop.runUntilIdle()
            #expect(isUnused.value)
        }
    }

    @Test func `whenUnused with a time waits for a time without a connection, by one timer`() throws {
        try withLoop { loop in
            let scene = try Scene(loop)
            let start = RunLoop.Instant.now
            let end = Box<RunLoop.Instant?>(nil)
            let time = Duration.milliseconds(60)
            let lastClosed = Box(start)
            scene.listener.whenUnused(for: time) {
                #expect(scene.listener.connectionCount == 0)
                end.value = .now
                scene.listener.invalidate()
            }
            // Connections that come and go meanwhile begin the time anew.
            for _ in 0..<4 {
                scene.connect(1)
                loop.run { !scene.accepted.value.isEmpty || end.value != nil }
                scene.accepted.value = []
                lastClosed.value = .now
            }
            #expect(loop.runPlenty() == .finished)
            let ended = try #require(end.value)
            // A machine that is busy may have let the time pass before the first connection.
            #expect(start.duration(to: ended) >= time)
            if ended > lastClosed.value { #expect(lastClosed.value.duration(to: ended) >= time - .milliseconds(1)) }
        }
    }
}

/// A listener that keeps the sockets of its connections, and clients.
private final class Scene {
    let loop: RunLoop
    let accepted = Box<[RunLoop.Socket]>([])
    let clients = Box<[RunLoop.Socket]>([])
    let listener: SocketListener
    private let directory = TemporaryDirectory()

    init(_ loop: RunLoop) throws {
        self.loop = loop
        listener = try SocketListener(on: .unix(directory.path("socket"))) { [accepted] _, event in
            guard case .accepted(let socket) = event else { fatalError("\(event)") }
            accepted.value.append(socket)
        }
        add(listener, to: loop)
    }

    deinit { listener.invalidate() }

    func connect(_ count: Int) {
        for _ in 0..<count {
            guard
                let connector = try? SocketConnector(
                    to: listener.address,
                    handler: { [clients] _, result in if let socket = try? result.get() { clients.value.append(socket) }
                    })
            else { return }
            add(connector, to: loop)
        }
    }
}
