// What is added to the common modes, before and after a mode is marked.

import RunLoops
import RunLoopsTesting

ManualRunLoop.with { manual in
    let loop = manual.loop
    let clock = RunLoop.Timer(.every(.seconds(1))) { _ in }
    loop.add(clock, in: .common)
    func report() {
        let marked = loop.commonModes.map(\.rawValue)
        print("marked: \(marked), clock in tracking: \(loop.contains(clock, in: .tracking))")
    }

    report()
    try loop.addCommonMode(.tracking)
    report()

    // Common is a mark and a list of items. There is nothing to run in.
    print("a run in common: \(loop.run(in: .common, until: nil))")
    print("a second in tracking: \(loop.run(in: .tracking, for: .seconds(1)))")

    loop.remove(clock, from: .common)
    report()
}
