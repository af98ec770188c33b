// A thread gets its loop when it asks for it, and the loop ends with the thread.

import RunLoops
import RunLoopsKit

print("the same loop each time: \(RunLoop.current === RunLoop.current)")
print("the main thread's is the main loop: \(RunLoop.current === RunLoop.main)")

// This thread runs its loop, and ends when it is stopped.
let thread = try RunLoopThread(name: "worker")
let loop = thread.loop
thread.post {
    print("the worker has the main loop: \(RunLoop.current === RunLoop.main)")
    print("the worker has its own loop: \(RunLoop.current === loop)")
    let source = RunLoop.Source(cancel: { _, _ in print("the worker ends, and its loop with it") }) { _ in }
    RunLoop.current.add(source, in: .default)
}
thread.stop(.draining)
thread.join()

// Nobody will ever run this loop again: it takes nothing more.
let late = RunLoop.Timer.sendable(.after(.seconds(1))) { _ in print("never") }
print("a timer added afterwards is in the loop: \(loop.add(late, in: .default))")
