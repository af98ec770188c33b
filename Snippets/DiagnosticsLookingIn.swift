// A program that can be looked into: `runloop ps` in another terminal lists it while it runs.

import RunLoops
import RunLoopsDiagnostics

// snippet.START
do {
    try RunLoop.Inspector.start()
} catch {
    // No other process can look in; the program works all the same.
    print(error)
}
// snippet.end

let tick = RunLoop.Timer(.every(.milliseconds(100)), tolerance: .milliseconds(10), label: "tick") { _ in }
RunLoop.main.add(tick, in: .default)
RunLoop.main.run(in: .default, for: .seconds(1))
RunLoop.Inspector.stop()
