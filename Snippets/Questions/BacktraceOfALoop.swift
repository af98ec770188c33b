// Each kind of callout looks for its own frame in its backtrace.

import RunLoops
import Runtime

/// The function of the loop that called this callout.
func calloutFrame() -> String {
    guard let frames = try? Backtrace.capture().symbolicated()?.frames else { return "no backtrace" }
    for frame in frames {
        guard let name = frame.symbol?.name, let begin = name.firstRange(of: "RUNLOOP_IS_") else { continue }
        return String(name[begin.lowerBound...].prefix { $0.isUppercase || $0 == "_" })
    }
    return "no frame of a loop"
}

let loop = RunLoop.current
loop.add(RunLoop.Observer(.entry, repeats: false) { _, _ in print("observer: \(calloutFrame())") }, in: .default)
loop.performLocally { print("block:    \(calloutFrame())") }
let source = RunLoop.Source { _ in print("source:   \(calloutFrame())") }
loop.add(source, in: .default)
source.signal()
loop.runTurn()

loop.add(RunLoop.Timer(.after(.zero)) { _ in print("timer:    \(calloutFrame())") }, in: .default)
loop.runTurn()
