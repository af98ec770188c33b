// Three helpers that everybody writes by hand.

import RunLoops
import RunLoopsKit

// snippet.TIMING
let search = RunLoop.Debouncer(after: .milliseconds(20)) { print("search, once the typing has paused") }
let redraw = RunLoop.Throttle(every: .milliseconds(20)) { print("redraw, at once and once an interval") }
let connection = RunLoop.WatchdogTimer(limit: .milliseconds(50)) { print("the other side is silent") }

connection.feed()
for _ in 0..<5 {
    search.call()
    redraw.call()
}
RunLoop.current.run(in: .default, for: .milliseconds(100))
// snippet.end
