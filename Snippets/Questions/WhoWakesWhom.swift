// Two sources on one loop: a thread signals the first, the kernel knows of the second.

import Dispatch
import Glibc
import RunLoops

let loop = RunLoop.main
var ends: [CInt] = [-1, -1]
guard pipe(&ends) == 0 else { fatalError("no pipe: errno \(errno)") }
let (readEnd, writeEnd) = (ends[0], ends[1])

/// Runs a closure on another thread as soon as the loop sleeps.
func whenAsleep(_ body: @escaping @Sendable () -> Void) {
    DispatchQueue.global().async {
        while !loop.isWaiting { usleep(1000) }
        body()
    }
}

// Version 1: the kernel watches a descriptor.
let incoming = RunLoop.DescriptorSource.mainActor(readEnd) { _, _ in
    var byte: UInt8 = 0
    print("    the descriptor source read \(read(readEnd, &byte, 1)) byte")
    loop.stop()
}
// Version 0: a mark in memory, which only a turn finds.
let inbox = RunLoop.Source.mainActor { _ in
    print("    the signalled source is performed")
    whenAsleep { _ = write(writeEnd, "x", 1) }  // the byte alone wakes the loop
}
let points = RunLoop.Observer.mainActor([.beforeSources, .beforeWaiting, .afterWaiting]) { _, point in print(point) }

try loop.add(incoming, in: .default)
loop.add(inbox, in: .default)
loop.add(points, in: .default)
whenAsleep {
    inbox.signal()
    loop.wakeUp()  // without it the loop would sleep on
}
loop.run()
