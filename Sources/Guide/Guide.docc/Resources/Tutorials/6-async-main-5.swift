import RunLoops
import RunLoopsConcurrency

@main struct Program {
    static func main() async throws {
        RunLoop.adoptMain()
        print("main begins, \(place())")
        var count = 0
        for await _ in RunLoop.main.ticks(every: .milliseconds(100)) {
            count += 1
            print("tick \(count), \(place())")
            if count == 3 { break }
        }
        print(await Task.detached { "a detached task, \(place())" }.value)
        print("main ends, \(place())")
    }
}

nonisolated func place() -> String {
    RunLoop.current === RunLoop.main ? "on the main thread" : "on another thread"
}
