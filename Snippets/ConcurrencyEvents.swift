// Events of a loop, as sequences that tasks read.

import Glibc
import RunLoops
import RunLoopsConcurrency

@main struct App {
    static func main() async throws {
        RunLoop.adoptMain()
        let loop = RunLoop.main

        var ticks = 0
        for await tick in loop.ticks(every: .milliseconds(10), tolerance: .milliseconds(2)) {
            ticks += 1
            print("tick \(ticks), due \(tick.duration(to: loop.clock.now) >= .zero ? "before now" : "later")")
            if ticks == 3 { break }
        }

        var ends: [CInt] = [0, 0]
        precondition(pipe(&ends) == 0)
        _ = write(ends[1], "!", 1)
        for await events in try loop.readiness(of: ends[0]) {
            print("the pipe is \(events)")
            break
        }
    }
}
