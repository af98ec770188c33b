// One thread waits for a timer, a pipe and another thread at once, and needs no lock.

import Dispatch
import Glibc
import RunLoops

var ends: [CInt] = [-1, -1]
guard pipe(&ends) == 0 else { fatalError("no pipe: errno \(errno)") }
let (readEnd, writeEnd) = (ends[0], ends[1])
let loop = RunLoop.current

// Only this thread changes it, whatever happens.
var log: [String] = []

// 1. Time.
let timer = RunLoop.Timer(.after(.milliseconds(10))) { _ in
    log.append("a timer")
    // 2. Another thread.
    DispatchQueue.global().async {
        let sum = (1...1000).reduce(0, +)
        RunLoop.performOnMainActor {
            log.append("a result of another thread: \(sum)")
            // 3. A descriptor.
            _ = write(writeEnd, "!", 1)
        }
    }
}
loop.add(timer, in: .default)

let incoming = RunLoop.DescriptorSource(readEnd) { _, _ in
    log.append("a descriptor")
    loop.stop()
}
try loop.add(incoming, in: .default)

loop.run()
print(log.joined(separator: "\n"))
