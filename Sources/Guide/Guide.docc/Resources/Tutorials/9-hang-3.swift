import Glibc
import RunLoops
import RunLoopsDiagnostics

func loadPages() {
    usleep(1_000_000)
}

let watch = try RunLoop.HangWatch { report in
    guard report.stage == .ended, report.cause != .starvation else { return }
    guard let callout = report.callout, callout.label == "load" else { return }
    print("The callout is \(callout.label).")
    print("The cause: \(report.cause).")
    let isInPages = report.stack.contains { $0.function?.contains("loadPages") == true }
    print("The stack has loadPages: \(isInPages).")
    RunLoop.main.perform { RunLoop.main.stop() }
}
try watch.add(.main)

let load = RunLoop.Timer(.after(.milliseconds(350), every: .seconds(3)), label: "load") { _ in loadPages() }
RunLoop.main.add(load, in: .default)
RunLoop.main.run()
