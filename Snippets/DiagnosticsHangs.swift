// A loop that is watched for hangs, and a timer that makes one.

import Glibc
import RunLoops
import RunLoopsDiagnostics

// snippet.WATCH
let watch = try RunLoop.HangWatch { report in print(report.text) }
try watch.add(.main)
// snippet.end

// snippet.OPTIONS
var options = RunLoop.HangWatch.Options()
options.limit = .milliseconds(100)
options.directory = "/var/tmp"
let strict = try RunLoop.HangWatch(options: options) { report in
    switch report.cause {
    case .starvation: print("the machine has too much to do")
    case .congestion: print("too many callouts like", report.callout?.label ?? "?")
    case .tasksInRing: print(report.tasks)
    case .computing, .waiting:
        print(report.callout?.label ?? "the loop itself", "in", report.stack.first?.function ?? "?")
    }
}
try strict.add(.main)
// snippet.end

// snippet.SLOW
let slow = RunLoop.Watch(limits: [.timer: .milliseconds(50), .observer: .milliseconds(5)], pause: .seconds(1)) {
    event in
    if case .slowCallout(let callout) = event { print(callout) }
}
slow.add(.main)
// snippet.end

RunLoop.main.add(RunLoop.Timer(.after(.milliseconds(10)), label: "nap") { _ in usleep(400_000) }, in: .default)
RunLoop.main.add(RunLoop.Timer(.after(.milliseconds(600)), label: "end") { _ in RunLoop.main.stop() }, in: .default)
RunLoop.main.run()
