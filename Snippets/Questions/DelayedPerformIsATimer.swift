// A closure with a delay, beside a timer: the loop does not know them apart.

import RunLoops
import RunLoopsTesting

ManualRunLoop.with { manual in
    let loop = manual.loop
    let start = manual.now
    func seconds() -> Duration { start.duration(to: manual.now) }

    loop.performLocally(after: .seconds(2)) { print("    \(seconds()): the closure with a delay") }
    let timer = RunLoop.Timer(.after(.seconds(1)), label: "one second") { _ in print("    \(seconds()): the timer") }
    loop.add(timer, in: .default)
    let taken = loop.performLocally(after: .seconds(3)) { print("    never") }

    print("empty: \(loop.isEmpty(in: .default))")
    print("cancelled: \(loop.cancel(taken))")
    print("the first is due after \(start.duration(to: loop.nextTimerDeadline(in: .default)!))")
    manual.advance(by: .seconds(10))
    print("empty: \(loop.isEmpty(in: .default))")
}
