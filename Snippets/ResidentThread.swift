// A thread that stays, with a name and a place among the others.

import RunLoops
import RunLoopsKit

// snippet.THREAD
let thread = try RunLoopThread(RunLoopThread.Attributes(name: "decoder", nice: 5, schedulingClass: .batch))
for number in 1...3 {
    thread.post { print("task \(number)") }
}
thread.stop(.draining)
print("taken after the stop: \(thread.post {})")
thread.join()
// snippet.end
