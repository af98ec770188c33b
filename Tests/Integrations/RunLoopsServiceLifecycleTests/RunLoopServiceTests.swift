// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if ServiceLifecycle
import Logging
import RunLoops
import RunLoopsKit
import RunLoopsServiceLifecycle
import ServiceLifecycle
import ServiceLifecycleTestKit
import Synchronization
import RunLoopsTestSupport
import Testing

/// What the closures of a service have noted.
private final class Notes: Sendable {
    private let loop: RunLoop
    private let lines = Mutex<[String]>([])

    init(on loop: RunLoop) { self.loop = loop }

    func add(_ line: String) {
        let isThere = RunLoop.current === loop
        lines.withLock { $0.append(isThere ? line : "ON ANOTHER THREAD: \(line)") }
    }

    var all: [String] { lines.withLock { $0 } }
}

private struct Refusal: Error {}

@Suite(.limited) final class RunLoopServiceTests {
    private let thread: RunLoopThread
    private var loop: RunLoop { thread.loop }

    init() throws { thread = try RunLoopThread(name: "service") }

    deinit {
        thread.stop()
        thread.join()
    }

    private func service(_ notes: Notes, ticked: @escaping @Sendable () -> Void = {}) -> RunLoopService {
        let timer = RunLoop.Timer.sendable(.every(.milliseconds(2))) { _ in ticked() }
        return RunLoopService(on: loop) { loop in
            notes.add("starts")
            loop.add(timer, in: .common)
        } stop: { _ in
            notes.add("stops")
            timer.invalidate()
        }
    }

    @Test func `A service runs until the group shuts down gracefully`() async throws {
        let notes = Notes(on: loop)
        try await testGracefulShutdown { trigger in
            let service = service(notes) { trigger.triggerGracefulShutdown() }
            let group = ServiceGroup(services: [service], logger: Logger(label: "test"))
            try await group.run()
        }
        #expect(notes.all == ["starts", "stops"])
    }

    @Test func `A cancelled service stops`() async throws {
        let notes = Notes(on: loop)
        let (ticks, continuation) = AsyncStream<Void>.makeStream()
        let service = service(notes) { continuation.yield() }
        let running = Task { try await service.run() }
        for await _ in ticks { break }
        running.cancel()
        try await running.value
        #expect(notes.all == ["starts", "stops"])
    }

    @Test func `A service that fails to start is not stopped`() async {
        let notes = Notes(on: loop)
        let service = RunLoopService(on: loop) { _ in
            throw Refusal()
        } stop: { _ in
            notes.add("stops")
        }
        await #expect(throws: Refusal.self) { try await service.run() }
        #expect(notes.all == [])
    }
}
#endif
