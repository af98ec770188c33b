// A closure of the main queue and a task of the main actor: the main loop runs both, in its common modes.

import Dispatch
import RunLoops

let loop = RunLoop.main
func report(_ what: String) { print("    \(what), in \(loop.currentMode?.rawValue ?? "no mode")") }

let points = RunLoop.Observer([.beforeSources, .exit]) { _, activity in print(activity) }
for mode in ["private", RunLoop.Mode.default] { loop.add(points, in: mode) }
let timer = RunLoop.Timer(.after(.milliseconds(10))) { _ in
    print("    the timer")
    loop.stop()
}
loop.add(timer, in: "private")

DispatchQueue.main.async {
    report("the closure of the queue")
    Task { @MainActor in
        report("the task")
        loop.stop()
    }
}
print("private mode: \(loop.run(in: "private", until: nil))")
print("default mode: \(loop.run(in: .default, until: nil))")
