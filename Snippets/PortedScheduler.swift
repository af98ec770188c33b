// A scheduler on a loop: work now, later, or again and again, each of which can be cancelled.

import FoundationRunLoop

struct Scheduler {
    private let loop: RunLoop
    private let modes: [RunLoop.Mode]

    init(_ loop: RunLoop, modes: [RunLoop.Mode] = [.common]) {
        self.loop = loop
        self.modes = modes
    }

    func schedule(_ work: @escaping @Sendable () -> Void) { loop.perform(inModes: modes, block: work) }

    func schedule(
        after delay: TimeInterval, every interval: TimeInterval? = nil, tolerance: TimeInterval = 0,
        _ work: @escaping @Sendable () -> Void
    ) -> Timer {
        let timer = Timer(fire: Date(timeIntervalSinceNow: delay), interval: interval ?? 0, repeats: interval != nil) {
            _ in work()
        }
        timer.tolerance = tolerance
        for mode in modes { loop.add(timer, forMode: mode) }
        return timer
    }
}

let scheduler = Scheduler(.main)
let early = scheduler.schedule(after: 0.01, tolerance: 0.002) { print("early") }
let never = scheduler.schedule(after: 0.015) { print("never") }
let late = scheduler.schedule(after: 0.02) { print("late") }
let again = scheduler.schedule(after: 0.03, every: 0.01) {
    print("again")
    CFRunLoopStop(CFRunLoopGetMain())
}
scheduler.schedule { print("now") }
never.invalidate()

// Returns when somebody stops the loop.
CFRunLoopRun()
again.invalidate()
