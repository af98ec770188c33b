// A bus every ten minutes, and a thread that is busy for twenty-five.

import RunLoops
import RunLoopsTesting

func minutes(_ number: Int) -> Duration { .seconds(60 * number) }

ManualRunLoop.with { manual in
    let start = manual.now
    func time() -> String { "10:\(start.duration(to: manual.now).components.seconds / 60)" }

    let bus = RunLoop.Timer(.every(minutes(10))) { _ in print("bus at \(time())") }
    manual.loop.add(bus, in: .default)
    manual.loop.performLocally(after: minutes(13)) {
        manual.advance(by: minutes(25), in: "busy")  // a callout that takes long: nothing else runs
        print("busy until \(time())")
    }
    manual.advance(by: minutes(55))
}

// What tolerance is for: ten timers that fire every second, each with a phase of its own.
for tolerance in [Duration.zero, .milliseconds(100)] {
    ManualRunLoop.with { manual in
        var fires = 0
        let timers = (0..<10).map { phase in
            RunLoop.Timer(
                .after(.milliseconds(1000 + 9 * phase), every: .seconds(1)), tolerance: tolerance
            ) { _ in fires += 1 }
        }
        for timer in timers { manual.loop.add(timer, in: .default) }
        manual.advance(by: .seconds(60.5))
        print("tolerance \(tolerance): \(fires) fires, \(manual.sleeps) sleeps")
    }
}
