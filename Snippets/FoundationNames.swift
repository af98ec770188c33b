// Code for Apple's systems, with one import changed; and what Foundation on Linux does not have.

import FoundationRunLoop

let ticks = Timer.scheduledTimer(withTimeInterval: 0.01, repeats: true) { timer in
    print("tick, with a tolerance of \(timer.tolerance) s")
    timer.invalidate()
}
ticks.tolerance = 0.002

RunLoop.main.perform(inModes: [.common]) { print("a closure of the common modes") }
RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.05))
print("timers are left: \(RunLoop.main.limitDate(forMode: .default) != .distantFuture)")
