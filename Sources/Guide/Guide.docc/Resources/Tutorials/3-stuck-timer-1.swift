import RunLoops
import RunLoopsTesting

ManualRunLoop.with { manual in
    var seconds = 0
    let clock = RunLoop.Timer(.every(.seconds(1))) { _ in
        seconds += 1
        print("the clock shows \(seconds) s")
    }
    manual.loop.add(clock, in: .default)

    manual.advance(by: .seconds(3))
}
