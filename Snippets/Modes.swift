// A timer of the default mode stands still while the loop runs in tracking; a timer of the common modes goes on.

import RunLoops

let loop = RunLoop.current
try loop.addCommonMode(.tracking)

var ticks = (ofDefault: 0, ofCommon: 0)
let onlyDefault = RunLoop.Timer(.every(.milliseconds(10))) { _ in ticks.ofDefault += 1 }
let everywhere = RunLoop.Timer(.every(.milliseconds(10))) { _ in ticks.ofCommon += 1 }
loop.add(onlyDefault, in: .default)
loop.add(everywhere, in: .common)

for mode in [RunLoop.Mode.default, .tracking, .default] {
    ticks = (0, 0)
    loop.run(in: mode, for: .milliseconds(102))  // a little more than ten ticks
    print("\(mode): default timer \(ticks.ofDefault), common timer \(ticks.ofCommon)")
}
