// A loop with one item of each kind, printed from inside the timer's callout.

import RunLoops
import RunLoopsTesting

ManualRunLoop.with { manual in
    let loop = manual.loop
    try loop.addCommonMode(.tracking)

    loop.add(RunLoop.Source(label: "input") { _ in }, in: .default)
    loop.add(RunLoop.Observer(.beforeWaiting, order: 2_000_000, label: "commit") { _, _ in }, in: .common)
    let autosave = RunLoop.Timer(.every(.seconds(60)), tolerance: .seconds(6), label: "autosave") { _ in
        // The first line names the thread by its number, which differs from run to run.
        for line in loop.detailedDescription().split(separator: "\n").dropFirst() { print(line) }
    }
    loop.add(autosave, in: .default)
    manual.advance(by: .seconds(70))
}
