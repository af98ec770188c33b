// Three clocks, asked where they are called, and what they do when the thread was busy.

import Dispatch
import RunLoops
import RunLoopsKit
import RunLoopsTesting

func place() -> String {
    let loop = RunLoop.current
    let thread = loop === RunLoop.main ? "main thread" : "a thread of the queue"
    return "\(thread), \(loop.currentMode.map { "in \($0)" } ?? "no run")"
}

let timer = RunLoop.Timer(.after(.milliseconds(1))) { _ in
    print("timer: \(place())")
    RunLoop.current.stop()
}
RunLoop.main.add(timer, in: .default)
RunLoop.main.run()

let onMain = DispatchSource.makeTimerSource(queue: .main)
onMain.schedule(deadline: .now())
onMain.setEventHandler {
    print("dispatch timer, main queue: \(place())")
    RunLoop.main.stop()
}
onMain.activate()
RunLoop.main.run(in: .default, until: nil)

let done = DispatchSemaphore(value: 0)
let elsewhere = DispatchSource.makeTimerSource(queue: .global())
elsewhere.schedule(deadline: .now())
elsewhere.setEventHandler { @Sendable in
    print("dispatch timer, other queue: \(place())")
    done.signal()
}
elsewhere.activate()
done.wait()

ManualRunLoop.with { manual in
    var fires = 0
    let timer = RunLoop.Timer(.every(.milliseconds(100))) { _ in fires += 1 }
    manual.loop.add(timer, in: .default)
    let link = RunLoop.DisplayLink(framesPerSecond: 10) { _ in }
    manual.advance(by: .milliseconds(1550), in: "busy")
    manual.advance(by: .milliseconds(500))
    print("after a busy time: timer \(fires) fires, display link \(link.delivered) frames and \(link.skipped) skipped")
}
