// One file for a Mac and for Linux: one import, and one condition.

import FoundationRunLoop

#if os(Linux)
let system = "Linux"
#else
let system = "a Mac"
#endif

let timer = Timer.scheduledTimer(withTimeInterval: 0.01, repeats: false) { _ in
    print("a timer on \(system)")
    CFRunLoopStop(CFRunLoopGetMain())
}
timer.tolerance = 0.002

RunLoop.main.perform(inModes: [.common]) { print("a closure of the common modes") }
CFRunLoopRun()
print("stopped")
