import RunLoops
import RunLoopsConcurrency

@main struct Program {
    static func main() async throws {
        RunLoop.adoptMain()
        print("main begins")
        var count = 0
        for await _ in RunLoop.main.ticks(every: .milliseconds(100)) {
            count += 1
            print("tick \(count)")
            if count == 3 { break }
        }
        print("main ends")
    }
}
