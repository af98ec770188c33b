// Three loops that never sleep, each beside its cure, in virtual time; and a program that sleeps until SIGINT ends it.

import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsTesting

ManualRunLoop.with { manual in
    let loop = manual.loop
    func report(_ what: String) {
        print("\(what): sleeps \(manual.sleeps), polls \(manual.polls)")
    }

    // A mode without an item ends a run at once, and the while loop begins the next.
    var runs = 0
    var result = RunLoop.RunResult.timedOut
    while runs < 1000 {
        result = loop.run(in: .default, for: .seconds(1))
        runs += 1
    }
    print("1000 runs, each \(result)")
    report("an empty mode")

    // A flag that is looked at again and again, between runs that do not wait.
    var isDone = false
    loop.performLocally(after: .seconds(1)) { isDone = true }
    for _ in 0..<1000 where !isDone { loop.run(in: .default, for: .zero) }
    report("a flag between polls")

    // The cure: a run that waits, and a callout that ends it.
    loop.performLocally(after: .seconds(1)) { loop.stop() }
    loop.run(in: .default, until: nil)
    report("a run that waits")
}

ManualRunLoop.with { manual in
    let loop = manual.loop
    let descriptor: CInt = 7
    var calls = 0

    // The bytes stay in the descriptor, so that it is ready again in the next turn.
    let careless = RunLoop.DescriptorSource(descriptor) { _, _ in
        calls += 1
        if calls == 1000 { loop.stop() }
    }
    manual.setReady(descriptor, .readable)
    _ = try? loop.add(careless, in: .default)
    loop.run(in: .default, for: .seconds(1))
    print("a descriptor that is not read: calls \(calls), sleeps \(manual.sleeps)")
    careless.invalidate()

    // The cure: read in the closure. Here the manual kernel's descriptor is emptied.
    calls = 0
    let careful = RunLoop.DescriptorSource(descriptor) { _, _ in
        calls += 1
        manual.setReady(descriptor, [])
    }
    _ = try? loop.add(careful, in: .default)
    loop.run(in: .default, for: .seconds(1))
    print("a descriptor that is read: calls \(calls), sleeps \(manual.sleeps)")
}

// A program with nothing to do until somebody presses Ctrl-C: the source keeps the run going, and ends it.
let interrupt = try SignalSource(SIGINT) { _, _ in
    print("SIGINT: saved, and ended")
    RunLoop.current.stop()
}
try RunLoop.current.add(interrupt, in: .common)
// In place of somebody at the keyboard.
RunLoop.current.perform(after: .milliseconds(10)) { kill(getpid(), SIGINT) }
RunLoop.current.run()
