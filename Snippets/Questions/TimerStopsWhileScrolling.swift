// A clock stands still while the user drags a list, and two cures.

import RunLoops
import RunLoopsTesting

ManualRunLoop.with { manual in
    let loop = manual.loop
    try loop.addCommonMode(.tracking)  // an application of LoopUI does this when it starts

    var ticks = (stuck: 0, common: 0, both: 0)
    let stuck = RunLoop.Timer(.every(.seconds(1))) { _ in ticks.stuck += 1 }
    loop.add(stuck, in: .default)

    // Cure 1: the common modes.
    let everywhere = RunLoop.Timer(.every(.seconds(1))) { _ in ticks.common += 1 }
    loop.add(everywhere, in: .common)

    // Cure 2: each mode by its name. It works also for a mode that is not marked as common.
    let both = RunLoop.Timer(.every(.seconds(1))) { _ in ticks.both += 1 }
    for mode in [RunLoop.Mode.default, .tracking] { loop.add(both, in: mode) }

    for (what, mode) in [("at rest", RunLoop.Mode.default), ("dragging", .tracking), ("at rest", .default)] {
        ticks = (0, 0, 0)
        manual.advance(by: .seconds(10.5), in: mode)
        print("\(what): default \(ticks.stuck), common \(ticks.common), by name \(ticks.both)")
    }
}
