// Three ways to give work to a sleeping loop.

import Dispatch
import Glibc
import RunLoops

// snippet.SIGNAL
// A source: made once, signalled often; signals that come before the source is performed count as one.
let arrived = RunLoop.Source.mainActor { _ in print("performed: something has arrived") }
RunLoop.main.add(arrived, in: .common)

DispatchQueue.global().async {
    arrived.signal()
    RunLoop.main.wakeUp()
}
// snippet.end

// snippet.PERFORM
// A block: made for one occasion, run once.
DispatchQueue.global().async {
    RunLoop.main.perform { print("performed: a block") }
}
// snippet.end

// snippet.DESCRIPTOR
// A descriptor: wakes the loop by itself, whatever makes it ready.
var ends: [CInt] = [-1, -1]
guard pipe(&ends) == 0 else { fatalError("no pipe: errno \(errno)") }
let (readEnd, writeEnd) = (ends[0], ends[1])
_ = fcntl(readEnd, F_SETFL, O_NONBLOCK)

let incoming = RunLoop.DescriptorSource.mainActor(readEnd) { _, _ in
    var bytes = [UInt8](repeating: 0, count: 64)
    print("performed: \(read(readEnd, &bytes, bytes.count)) bytes have come")
}
try RunLoop.main.add(incoming, in: .common)

DispatchQueue.global().async { _ = write(writeEnd, "abc", 3) }
// snippet.end

// snippet.hide
DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(300)) { RunLoop.main.stop() }
RunLoop.main.run()
