// A timer for a date. It keeps the date when the clock is set and when the machine sleeps.

import RunLoops

// snippet.CODE
let date = RunLoop.Instant.now(.realtime).advanced(by: .milliseconds(100))
let alarm = RunLoop.Timer(.at(date)) { _ in
    print("the wall clock says so")
    RunLoop.current.stop()
}
RunLoop.current.add(alarm, in: .common)
RunLoop.current.run()
// snippet.end
