// Thumbnails that are made while there is nothing else to do.

import RunLoops
import RunLoopsKit

// snippet.IDLE
let queue = RunLoop.IdleQueue(limits: .init(count: 4, time: .milliseconds(4)))
var made: [Int] = []
for number in 1...10 { queue.add { made.append(number) } }
queue.add(priority: .high) { print("what the user looks at goes first") }
// A job that must be done before long, even if the user drags all the time.
queue.add(priority: .low, latestAfter: .seconds(1)) { print("saved") }
queue.progressHandler = { progress in
    print("\(progress.completed) of \(progress.total)")
    if progress.fraction == 1 { RunLoop.current.stop() }
}
RunLoop.current.run(in: .default, for: .seconds(5))
// snippet.end
