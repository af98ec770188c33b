import Glibc
import RunLoops
import RunLoopsDiagnostics

func loadPages() {
    usleep(1_000_000)
}

let watch = try RunLoop.HangWatch { report in print(report.text) }
try watch.add(.main)

let tick = RunLoop.Timer(.every(.milliseconds(100)), label: "tick") { _ in print("tick") }
RunLoop.main.add(tick, in: .default)

let load = RunLoop.Timer(.after(.milliseconds(350)), label: "load") { _ in loadPages() }
RunLoop.main.add(load, in: .default)
RunLoop.main.run(in: .default, for: .seconds(2))
