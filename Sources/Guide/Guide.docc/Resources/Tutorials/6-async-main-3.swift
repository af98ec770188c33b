import RunLoops
import RunLoopsConcurrency

@main struct Program {
    static func main() async throws {
        RunLoop.adoptMain()
        print("main begins")
        await withCheckedContinuation { continuation in
            let timer = RunLoop.Timer.mainActor(.after(.milliseconds(100))) { _ in
                print("the timer fires")
                continuation.resume()
            }
            RunLoop.main.add(timer, in: .common)
        }
        print("main ends")
    }
}
