import RunLoops
import RunLoopsTesting

try ManualRunLoop.with { manual in
    var seconds = 0
    let clock = RunLoop.Timer(.every(.seconds(1))) { _ in
        seconds += 1
        print("the clock shows \(seconds) s")
    }
    try manual.loop.addCommonMode(.tracking)
    manual.loop.add(clock, in: .common)

    var place = 0
    let scroll = RunLoop.Timer(.every(.milliseconds(800))) { _ in
        place += 10
        print("    scrolled to line \(place)")
    }
    manual.loop.add(scroll, in: .tracking)

    manual.advance(by: .seconds(2))
    print("the finger is down")
    manual.advance(by: .seconds(3), in: .tracking)
    print("the finger is up")
    manual.advance(by: .seconds(2))
}
