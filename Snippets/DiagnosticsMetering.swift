// What a loop has done, counted and asked for, and its slow callouts.

import Glibc
import RunLoops
import RunLoopsDiagnostics

let loop = RunLoop.current
loop.add(RunLoop.Timer(.every(.milliseconds(5)), label: "tick") { _ in usleep(1_500) }, in: .default)

// snippet.METER
let metering = RunLoop.Metering()
metering.add(loop)
loop.run(in: .default, for: .milliseconds(50))

for reading in metering.readings() {
    let statistics = reading.statistics
    print("\(reading.loop): \(statistics.turns) turns, busy \(Int(statistics.busyShare * 100)) %")
    print("99 of 100 timers late by less than \(statistics.lateness.percentile(0.99)) ns, \(reading.pending) waiting")
}
// snippet.end

// snippet.WATCH
let watch = RunLoop.Watch(limits: [.timer: .milliseconds(1)], watchesRuns: false) { event in
    guard case .slowCallout(let callout) = event else { return }
    print("The \(callout.callee) “\(callout.label)”, made at \(callout.place ?? "?"), took \(callout.length)")
}
watch.add(loop)
loop.run(in: .default, for: .milliseconds(20))
// snippet.end
