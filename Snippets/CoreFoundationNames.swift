// A program of Apple's systems, with another import: a source that another thread signals, and a timer.

import CoreFoundationRunLoop

final class Inbox {
    var count = 0
}

let inbox = Inbox()
var context = CFRunLoopSourceContext()
context.info = Unmanaged.passUnretained(inbox).toOpaque()
context.perform = { info in
    Unmanaged<Inbox>.fromOpaque(info!).takeUnretainedValue().count += 1
    print("performed")
}
let source = CFRunLoopSourceCreate(kCFAllocatorDefault, 0, &context)
let loop = CFRunLoopGetCurrent()
CFRunLoopAddSource(loop, source, .commonModes)

let date = CFAbsoluteTimeGetCurrent() + 0.01
let timer = CFRunLoopTimerCreateWithHandler(kCFAllocatorDefault, date, 0.01, 0, 0) { timer in
    print("tick")
    CFRunLoopSourceSignal(source)
    if inbox.count == 2 { CFRunLoopStop(CFRunLoopGetCurrent()) }
}
CFRunLoopTimerSetTolerance(timer, 0.005)
CFRunLoopAddTimer(loop, timer, .defaultMode)

CFRunLoopRun()
print(inbox.count)
