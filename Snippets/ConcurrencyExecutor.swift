// State that lives on a loop's thread: an actor with the loop's executor.

import RunLoops
import RunLoopsConcurrency

actor Meter: RunLoopActor {
    nonisolated let runLoopExecutor: RunLoop.Executor
    private(set) var readings: [Int] = []

    init(on loop: RunLoop) { runLoopExecutor = loop.executor }

    func add(_ reading: Int) { readings.append(reading) }
}

let loop = RunLoop.current
let meter = Meter(on: loop)
// A callout of the loop is on the actor's thread.
let timer = RunLoop.Timer(.after(.milliseconds(5))) { _ in meter.assumeIsolated { $0.add(1) } }
loop.add(timer, in: .default)
// A task comes there by itself.
let task = Task {
    await meter.add(2)
    try await Task.sleep(for: .milliseconds(20), clock: loop.clock)
    return await meter.readings
}
print("readings: \(try loop.run(until: task))")
