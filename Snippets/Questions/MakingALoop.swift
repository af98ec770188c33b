// Three purposes for which people want to make a loop, and how to get each without one.

import RunLoops
import RunLoopsKit
import RunLoopsTesting

// 1. A wait in which nothing else runs: a mode.
let loop = RunLoop.current
let onlyThis: RunLoop.Mode = "org.example.only-this"
let clock = RunLoop.Timer(.after(.zero)) { _ in print("1. never, while the wait lasts") }
loop.add(clock, in: .default)
let answer = RunLoop.Timer(.after(.milliseconds(10))) { _ in print("1. the answer") }
loop.add(answer, in: onlyThis)
print("1. \(loop.run(in: onlyThis, until: nil))")
clock.invalidate()

// 2. Work beside the main thread's: a thread, which has a loop.
let thread = try RunLoopThread(name: "second")
thread.post { print("2. another loop: \(RunLoop.current !== RunLoop.main)") }
thread.stop(.draining)
thread.join()

// 3. A loop that a test drives: a loop in virtual time takes the place of the thread's own for a while.
ManualRunLoop.with { manual in
    let tomorrow = RunLoop.Timer(.after(.seconds(24 * 3600))) { _ in print("3. a day later") }
    RunLoop.current.add(tomorrow, in: .default)
    manual.advance(by: .seconds(24 * 3600))
}
