// Objects that live until the turn sleeps.

import RunLoops
import RunLoopsKit

// snippet.POOL
final class Buffer {
    let number: Int
    init(_ number: Int) { self.number = number }
    deinit { print("buffer \(number) is gone") }
}

let pool = RunLoop.ReleasePool()
let timer = RunLoop.Timer(.after(.milliseconds(10))) { _ in
    // Code that received either buffer may use it until the end of the turn.
    RunLoop.ReleasePool.hold(Buffer(1))
    RunLoop.ReleasePool.hold(Buffer(2))
    print("end of the callout")
}
RunLoop.current.add(timer, in: .default)
RunLoop.current.run(in: .default, for: .milliseconds(30))
print("held at most: \(RunLoop.ReleasePool.highWaterMark)")
// snippet.end
