import Dispatch
import Glibc
import RunLoops
import RunLoopsConcurrency
import RunLoopsTestingMain
import Testing

/// The main loop under the test runner.
@Suite(.mainRunLoop, .timeLimit(.minutes(10))) struct MainLoopTests {
    @Test @MainActor func `The main actor is on the true main thread, before an await and after`() async throws {
        #expect(RunLoop.current === RunLoop.main)
        try await Task.sleep(for: .milliseconds(5))
        #expect(RunLoop.current === RunLoop.main)
        await Task.detached {}.value
        #expect(RunLoop.current === RunLoop.main)
    }

    @Test @MainActor func `A timer of the main loop fires`() async {
        await withCheckedContinuation { continuation in
            RunLoop.main.add(.mainActor(.after(.milliseconds(5))) { _ in continuation.resume() }, in: .default)
        }
        #expect(RunLoop.current === RunLoop.main)
    }

    @Test func `The main queue runs on the main thread`() async {
        let isMain = await withCheckedContinuation { continuation in
            DispatchQueue.main.async { continuation.resume(returning: RunLoop.current === RunLoop.main) }
        }
        #expect(isMain)
    }

    @Test func `The main loop's clock, events and executor work`() async throws {
        let clock = RunLoop.main.clock
        let start = clock.now
        try await clock.sleep(for: .milliseconds(5))
        #expect(start.duration(to: clock.now) >= .milliseconds(5))
        for await _ in RunLoop.main.ticks(every: .milliseconds(1)) { break }
        #expect(await Task(executorPreference: RunLoop.main.executor) { RunLoop.current === RunLoop.main }.value)
    }
}
