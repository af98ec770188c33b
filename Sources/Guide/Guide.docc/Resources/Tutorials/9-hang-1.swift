import Glibc
import RunLoops

func loadPages() {
    usleep(1_000_000)
}

let tick = RunLoop.Timer(.every(.milliseconds(100)), label: "tick") { _ in print("tick") }
RunLoop.main.add(tick, in: .default)

let load = RunLoop.Timer(.after(.milliseconds(350)), label: "load") { _ in loadPages() }
RunLoop.main.add(load, in: .default)
RunLoop.main.run(in: .default, for: .seconds(2))
