import Glibc
import RunLoops
import RunLoopsDiagnostics
import RunLoopsKit

func loadPages() {
    usleep(1_000_000)
}

let watch = try RunLoop.HangWatch { report in
    guard report.stage == .ended, report.cause != .starvation else { return }
    guard let callout = report.callout, callout.label == "load" else { return }
    print("The callout is \(callout.label).")
}
try watch.add(.main)

let loader = try RunLoopThread(name: "loader")
let load = RunLoop.Timer(.after(.milliseconds(350)), label: "load") { _ in
    print("The main loop goes on.")
    loader.post {
        loadPages()
        RunLoop.main.perform {
            print("The pages are loaded.")
            RunLoop.main.stop()
        }
    }
}
RunLoop.main.add(load, in: .default)
RunLoop.main.run()
