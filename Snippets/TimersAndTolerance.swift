// Ten timers that fire ten times a second, served by a few wake-ups.

import RunLoops

let loop = RunLoop.current

// snippet.SCHEDULES
let once = RunLoop.Timer(.after(.seconds(2))) { _ in print("two seconds later") }
let often = RunLoop.Timer(.every(.milliseconds(100))) { _ in print("ten times a second") }
let asleepToo = RunLoop.Timer(.after(.seconds(3600), clock: .boottime)) { _ in print("an hour, suspended or not") }
let newYear = RunLoop.Instant(nanoseconds: 1_924_992_000 * 1_000_000_000, clock: .realtime)
let date = RunLoop.Timer(.at(newYear)) { _ in print("the wall clock says 2031") }
// snippet.end
// snippet.hide
for timer in [once, often, asleepToo, date] { timer.invalidate() }
// snippet.show

// snippet.DELAYED
let timeOut = loop.performLocally(after: .seconds(30)) { print("nobody has answered") }
let silence = RunLoop.Timer(.after(.seconds(30))) { _ in print("nothing for half a minute") }
loop.add(silence, in: .default)
// An answer has come: the value cancels the closure, and the timer begins anew and keeps its place.
loop.cancel(timeOut)
silence.restart(after: .seconds(30))
// snippet.end
// snippet.hide
silence.invalidate()
// snippet.show

// snippet.TOLERANCE
var fires = 0
var wakeUps = 0
for phase in 0..<10 {
    let timer = RunLoop.Timer(
        .after(.milliseconds(100 + 5 * phase), every: .milliseconds(100)), tolerance: .milliseconds(50)
    ) { _ in fires += 1 }
    loop.add(timer, in: .default)
}
loop.add(RunLoop.Observer(.afterWaiting) { _, _ in wakeUps += 1 }, in: .default)

loop.run(in: .default, for: .seconds(1))
print("\(fires) fires, \(wakeUps) wake-ups")
// snippet.end
