import Logging
import RunLoops
import RunLoopsServiceLifecycle
import RunLoopsTestingMain
import ServiceLifecycle
import ServiceLifecycleTestKit
import Synchronization
import Testing

/// What the closures of a service have noted.
private final class Notes: Sendable {
    private let lines = Mutex<[String]>([])

    func add(_ line: String) {
        let isMain = RunLoop.current === RunLoop.main
        lines.withLock { $0.append(isMain ? line : "NOT ON MAIN: \(line)") }
    }

    var all: [String] { lines.withLock { $0 } }
}

private struct Refusal: Error {}

/// On the main loop, which runs under the tests.
@Suite(.mainRunLoop, .timeLimit(.minutes(10))) struct RunLoopServiceTests {
    private func service(_ notes: Notes, ticked: @escaping @Sendable () -> Void = {}) -> RunLoopService {
        let timer = RunLoop.Timer.sendable(.every(.milliseconds(2))) { _ in ticked() }
        return RunLoopService(on: .main) { loop in
            notes.add("starts")
            loop.add(timer, in: .common)
        } stop: { _ in
            notes.add("stops")
            timer.invalidate()
        }
    }

    @Test func `A service runs until the group shuts down gracefully`() async throws {
        let notes = Notes()
        try await testGracefulShutdown { trigger in
            let service = service(notes) { trigger.triggerGracefulShutdown() }
            let group = ServiceGroup(services: [service], logger: Logger(label: "test"))
            try await group.run()
        }
        #expect(notes.all == ["starts", "stops"])
    }

    @Test func `A cancelled service stops as well`() async throws {
        let notes = Notes()
        let (ticks, continuation) = AsyncStream<Void>.makeStream()
        let service = service(notes) { continuation.yield() }
        let running = Task { try await service.run() }
        for await _ in ticks { break }
        running.cancel()
        try await running.value
        #expect(notes.all == ["starts", "stops"])
    }

    @Test func `A service that cannot start does not stop`() async {
        let notes = Notes()
        let service = RunLoopService(on: .main) { _ in
            throw Refusal()
        } stop: { _ in
            notes.add("stops")
        }
        await #expect(throws: Refusal.self) { try await service.run() }
        #expect(notes.all == [])
    }
}
