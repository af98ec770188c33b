// An hour of a clock that ticks once a minute: with a loop that asks again and again, and with a run loop.

import RunLoops
import RunLoopsTesting

let minute = Duration.seconds(60)

// Asks ten times a second whether it is time.
var looks = 0
var ticks = 0
var now = Duration.zero
while now < minute * 60 {
    looks += 1
    now += .milliseconds(100)  // a sleep between two looks, or the loop would keep a processor busy
    if now >= minute * (ticks + 1) { ticks += 1 }
}
print("while true: \(ticks) ticks, \(looks) sleeps")

// Says when it wants to be called, and sleeps until then.
ManualRunLoop.with { manual in
    var ticks = 0
    let clock = RunLoop.Timer(.every(minute)) { _ in ticks += 1 }
    RunLoop.current.add(clock, in: .default)
    manual.advance(by: minute * 60)
    print("run loop: \(ticks) ticks, \(manual.sleeps) sleeps")
}
